package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/connect"
)

// The flags, the files and the exit codes of "aql-tag connect", with -name so that no server is asked. Servers that are
// asked are in test/conform.
func TestConnect(t *testing.T) {
	const (
		named = "-name notes -- ./notes"
		entry = `"command": "DIR/notes"`
	)
	for _, tt := range []struct {
		name, args string
		before     string // the file mcp.json
		want       int
		says       string
		after      string // a part of mcp.json; empty: it is as it was
	}{
		{name: "help", args: "-h", want: exitOK, says: "Usage: aql-tag connect"},
		{name: "the list", want: exitOK, says: "Claude Desktop"},
		{name: "print", args: "cursor " + named, want: exitOK, says: entry},
		{name: "flags behind the client", args: "cursor -name notes -project -- ./notes", want: exitOK,
			says: "This belongs in DIR/.cursor/mcp.json; with -w it is added there."},
		{name: "no file", args: "jetbrains " + named, want: exitOK, says: "Paste it in Settings"},
		{name: "a variable", args: "codex -env A=b=c " + named, want: exitOK, says: "[mcp_servers.notes.env]\nA = \"b=c\""},
		{name: "a URL", args: "windsurf -name notes -url https://example.com/mcp", want: exitOK,
			says: `"serverUrl": "https://example.com/mcp"`},
		{name: "a file that is there", args: "cursor -name notes -- ./notes mcp.json", before: "{}", want: exitOK,
			says: "warning: argument mcp.json"},

		{name: "write", args: "cursor -w -file mcp.json " + named, before: `{"a":1}`, want: exitOK, says: "Added the server",
			after: entry},
		{name: "write a new file", args: "cursor -w -file new/mcp.json " + named, want: exitOK, says: "Added the server"},
		{name: "write twice", args: "cursor -w -file mcp.json " + named,
			before: `{"mcpServers":{"notes":{"command":"DIR/notes"}}}`, want: exitOK, says: "already"},
		{name: "another server", args: "cursor -w -file mcp.json " + named,
			before: `{"mcpServers":{"notes":{"command":"x"}}}`, want: exitConfiguration, says: "-replace replaces it"},
		{name: "replace", args: "cursor -w -replace -file mcp.json " + named,
			before: `{"mcpServers":{"notes":{"command":"x"}}}`, want: exitOK, after: entry},
		{name: "a broken file", args: "cursor -w -file mcp.json " + named, before: "{", want: exitConfiguration,
			says: "is not changed: line 1"},
		{name: "write where there is no file", args: "jetbrains -w " + named, want: exitUsage, says: "without -w"},
		{name: "write into a folder", args: "cursor -w -file . " + named, want: exitIO},

		{name: "a client that is misspelt", args: "cursro " + named, want: exitUsage, says: "did you mean cursor?"},
		{name: "no client", args: named, want: exitUsage, says: "say which client"},
		{name: "no command", args: "cursor -name notes", want: exitUsage, says: "say what to connect"},
		{name: "both", args: "cursor -url http://x " + named, want: exitUsage, says: "contradict"},
		{name: "a command that is not there", args: "cursor -name notes -- ./nowhere", want: exitIO,
			says: "finding the command"},
		{name: "a token without a URL", args: "cursor -bearer-file x " + named, want: exitUsage, says: "goes with -url"},
		{name: "no URL", args: "cursor -name notes -url example.com/mcp", want: exitUsage, says: "not the URL"},
		{name: "a client without URLs", args: "claude-desktop -name notes -url http://x/mcp", want: exitUsage,
			says: "takes servers at URLs in its settings"},
		{name: "a name with blanks", args: "cursor -name a/b -- ./notes", want: exitUsage, says: "-name has letters"},
		{name: "no variable", args: "cursor -env =a " + named, want: exitUsage, says: "is not NAME=VALUE"},
		{name: "a variable without a value", args: "cursor -env A " + named, want: exitUsage, says: "-env is NAME=VALUE"},
		{name: "no server", args: "cursor -- ./notes", want: exitIO, says: "with -name the server is not asked"},

		{name: "a bundle", args: "-format mcpb -version 1.0.0 -author me -description d -env T -env A=b " + named,
			want: exitOK, says: `"T": "${user_config.t}",`},
		{name: "a bundle without an author", args: "-format mcpb -version 1.0.0 -description d " + named, want: exitUsage,
			says: "-author"},
		{name: "a bundle without a description", args: "-format mcpb -version 1.0.0 -author me " + named, want: exitUsage,
			says: "-description"},
		{name: "a bundle without a version", args: "-format mcpb -version v1 -author me -description d " + named,
			want: exitUsage, says: "semantic version"},
		{name: "a bundle of a URL", want: exitUsage, says: "a bundle holds a command",
			args: "-format mcpb -name notes -version 1.0.0 -author me -description d -url http://x/mcp"},
		{name: "an entry of the registry", want: exitOK, says: `"type": "streamable-http"`,
			args: "-format registry -name io.github.me/notes -version 1.0.0 -description d -url https://example.com/mcp"},
		{name: "an entry with a bundle", want: exitOK, before: "abc",
			says: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
			args: "-format registry -name io.github.me/notes -version 1.0.0 -description d -bundle mcp.json " +
				"-bundle-url https://example.com/notes.mcpb -- ./notes"},
		{name: "an entry with an image", want: exitOK, says: `"value": "-x"`,
			args: "-format registry -name io.github.me/notes -version 1.0.0 -description d " +
				"-image ghcr.io/me/notes:1.0.0 -- ./notes -x"},
		{name: "an entry without a package", want: exitUsage, says: "-bundle FILE -bundle-url URL",
			args: "-format registry -name io.github.me/notes -version 1.0.0 -description d -- ./notes"},
		{name: "an entry without a namespace", want: exitUsage, says: "io.github.you/notes",
			args: "-format registry -version 1.0.0 -description d " + named},
		{name: "an entry that says too much", want: exitUsage, says: "101 characters",
			args: "-format registry -name io.github.me/notes -version 1.0.0 -url https://example.com/mcp -description " +
				strings.Repeat("d", 101)},
		{name: "a format that is not there", args: "-format toml " + named, want: exitUsage, says: "mcpb or registry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			in := func(text string) string { return strings.ReplaceAll(text, "DIR", dir) }
			files := map[string]string{"notes": "#!/bin/sh\nexit 1\n"}
			if tt.before != "" {
				files["mcp.json"] = in(tt.before)
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			env := &environment{dir: dir, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
			got := run(t.Context(), env, append([]string{"connect"}, strings.Fields(tt.args)...))
			if out := stdout.String() + stderr.String(); got != tt.want || !strings.Contains(out, in(tt.says)) {
				t.Errorf("exit code %d, want %d and %q\n%s", got, tt.want, in(tt.says), out)
			}
			after, err := os.ReadFile(filepath.Join(dir, "mcp.json"))
			if err != nil && tt.before != "" {
				t.Fatal(err)
			}
			if tt.after == "" && string(after) != files["mcp.json"] || !strings.Contains(string(after), in(tt.after)) {
				t.Errorf("mcp.json is now\n%s", after)
			}
		})
	}
}

// A configuration that is a symbolic link stays one, and a file keeps its mode.
func TestConnectKeepsLinksAndModes(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfile.json"), filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(target, []byte("{}\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	env := &environment{dir: dir, stdout: &stdout, stderr: &stderr}
	args := []string{"connect", "cursor", "-w", "-name", "notes", "-file", "mcp.json", "-url", "http://127.0.0.1/mcp"}
	if code := run(t.Context(), env, args); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, &stderr)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, %v", info.Mode(), err)
	}
	if info, err = os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is now %v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(target); err != nil || !strings.Contains(string(text), "notes") {
		t.Errorf("the file has %s, %v", text, err)
	}
}

// A link to a file that is not there is left alone.
func TestConnectLeavesDanglingLinks(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "mcp.json")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	env := &environment{dir: dir, stdout: &stdout, stderr: &stderr}
	args := []string{"connect", "cursor", "-w", "-name", "notes", "-file", "mcp.json", "-url", "http://127.0.0.1/mcp"}
	if code := run(t.Context(), env, args); code != exitIO ||
		!strings.Contains(stderr.String(), "is a link to a file that does not exist") {
		t.Errorf("exit code %d\n%s", code, &stderr)
	}
	if to, err := os.Readlink(link); err != nil || to != filepath.Join(dir, "nowhere") {
		t.Errorf("the link is now to %q, %v", to, err)
	}
}

// What -replace drops can be found again: in a file beside the client's, with its mode, that replaces no other one.
func TestConnectKeepsWhatItReplaces(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mcp.json")
	const old = `{"mcpServers":{"notes":{"command":"x","env":{"KEY":"s3cret"}}}}`
	for _, kept := range []string{"mcp.json.bak", "mcp.json.bak2"} {
		if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		env := &environment{dir: dir, stdout: &stdout, stderr: &stderr}
		args := []string{"connect", "cursor", "-w", "-replace", "-name", "notes", "-file", "mcp.json", "-url", "http://x/mcp"}
		if code := run(t.Context(), env, args); code != exitOK {
			t.Fatalf("exit code %d\n%s", code, &stderr)
		}
		name := filepath.Join(dir, kept)
		text, err := os.ReadFile(name)
		if err != nil || string(text) != old {
			t.Errorf("%s has %s, %v", kept, text, err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", kept, info, err)
		}
		out := stdout.String() + stderr.String()
		if !strings.Contains(out, "Dropped the other entry notes; "+name+" is the file as it was.") ||
			strings.Contains(out, "s3cret") {
			t.Errorf("said %s", out)
		}
	}
}

// The page about clients has each client that connect knows.
func TestConnectPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range connect.Clients() {
		if !strings.Contains(string(page), "\n| `"+c.Name+"` |") {
			t.Errorf("docs/clients.md has no row for %s", c.Name)
		}
	}
}
