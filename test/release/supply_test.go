package release_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/test/proxy"
)

// The command and an adapter that uses the runtime alone are the same bytes from whatever folder they are built, as are
// installed releases: -trimpath leaves folders out, CGO is off, and no version control is asked. The second folder has
// a build cache of its own, so that everything is compiled again.
func TestBuildsAreReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles everything again: minutes")
	}
	repository, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{"aql-tag": "./cmd/aql-tag", "adapter": "./runtime/internal/reproduced"}
	const adapter = "package main\n\nimport (\n\t\"github.com/aqltag/aqltag/runtime/internal/notes\"\n" +
		"\t\"github.com/aqltag/aqltag/runtime/serve\"\n)\n\n" +
		"func main() { serve.Main(notes.NewRegistry(&notes.Service{}), serve.Options{Name: \"notes\"}) }\n"
	built := make(map[string][]string)
	for i, folder := range []string{"a", "another/folder with a longer name"} {
		copied := filepath.Join(t.TempDir(), folder)
		for _, name := range []string{
			"aqlvet", "cmd", "conform", "emit", "internal", "model", "runtime", "tagparse",
		} {
			if err := os.CopyFS(filepath.Join(copied, name), os.DirFS(filepath.Join(repository, name))); err != nil {
				t.Fatal(err)
			}
		}
		files := map[string]string{
			"go.work": "go 1.26.0\n\nuse (\n\t.\n\t./runtime\n)\n\n" +
				"replace " + required(t, repository) + " => ./runtime\n",
			"runtime/internal/reproduced/main.go": adapter,
		}
		for _, name := range []string{"go.mod", "go.sum", "go.work.sum"} {
			text, err := os.ReadFile(filepath.Join(repository, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
		for name, text := range files {
			path := filepath.Join(copied, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		env := append(os.Environ(), "CGO_ENABLED=0", "GOWORK="+filepath.Join(copied, "go.work"), "GOFLAGS=")
		if i > 0 {
			env = append(env, "GOCACHE="+t.TempDir())
		}
		for name, source := range programs {
			output := filepath.Join(t.TempDir(), name)
			command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", output, source)
			command.Dir, command.Env = copied, env
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("building %s: %v\n%s", name, err, out)
			}
			content, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(content), copied) {
				t.Errorf("%s names the folder that it was built in", name)
			}
			built[name] = append(built[name], string(content))
		}
	}
	for name, contents := range built {
		if len(contents) != len(built["aql-tag"]) || contents[0] != contents[1] {
			t.Errorf("%s has other bytes from another folder", name)
		}
	}
}

// required is the runtime with the version that the root module requires.
func required(t *testing.T, repository string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if r.Mod.Path == "github.com/aqltag/aqltag/runtime" {
			return r.Mod.Path + " " + r.Mod.Version
		}
	}
	t.Fatal("the root module does not require the runtime")
	return ""
}

// What govulncheck finds fails, in every module that is released, and so does what it cannot judge. A database out of
// reach does not, and a note says so.
func TestVulnerabilities(t *testing.T) {
	repository, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		script string
		fails  bool
		says   string
	}{
		"nothing is found": {
			"echo 'No vulnerabilities found.'", false, "== vuln " + strings.Join(proxy.Released, "\n== vuln ") + "\n",
		},
		"something is found":        {"echo 'Vulnerability #1: GO-2026-0001'; exit 3", true, "GO-2026-0001"},
		"the database is not there": {"echo 'govulncheck: fetching vulnerabilities: no host' >&2; exit 1", false, "NOTE: "},
		"code that does not load":   {"echo 'govulncheck: loading packages: x' >&2; exit 1", true, "loading packages"},
		"something is found, then no database": {
			`case "$PWD" in */runtime) exit 3;; *) echo 'govulncheck: fetching vulnerabilities: x'; exit 1;; esac`,
			true, "NOTE: ",
		},
		"it is not there": {"exit 127", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			fake := filepath.Join(t.TempDir(), "govulncheck")
			if err := os.WriteFile(fake, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), filepath.Join(repository, ".ci", "vuln"))
			command.Env = append(os.Environ(), "GOVULNCHECK="+fake)
			out, err := command.CombinedOutput()
			if (err != nil) != tt.fails || !strings.Contains(string(out), tt.says) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
