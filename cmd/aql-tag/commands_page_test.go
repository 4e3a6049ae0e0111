package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/commands.md")

// docs/commands.md says what the help of each command says.
func TestCommandsPage(t *testing.T) {
	const file, begin, end = "../../docs/commands.md", "<!-- commands -->\n", "<!-- end of commands -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(text), begin)
	documented, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no place for commands", file)
	}
	var want strings.Builder
	for _, c := range commands() {
		if c.name == "help" || c.name == "version" {
			continue // they have nothing to say of themselves
		}
		var help, stderr strings.Builder
		env := &environment{dir: t.TempDir(), stdin: strings.NewReader(""), stdout: &help, stderr: &stderr}
		if code := run(t.Context(), env, []string{c.name, "-h"}); code != exitOK {
			t.Fatalf("aql-tag %s -h exits with %d: %s", c.name, code, &stderr)
		}
		fmt.Fprintf(&want, "\n## aql-tag %s\n%s", c.name, pageOf(help.String()))
	}
	want.WriteString("\n")
	if *update {
		err := os.WriteFile(file, []byte(before+begin+want.String()+end+after), 0o644)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), documented); diff != "" {
		t.Errorf("%s; go test ./cmd/aql-tag -run CommandsPage -update rewrites it (-help +documented):\n%s", file, diff)
	}
}

var (
	flagLine = regexp.MustCompile(`^  (-\S+(?: \S+)?) {2,}(.+)$`)
	// special are the characters of prose that Markdown would take for its own.
	special = strings.NewReplacer("<", "\\<", "*", "\\*", "|", "\\|")
)

// pageOf writes the help of a command as Markdown: what is indented is a block of text, and flags are a table.
func pageOf(help string) string {
	var page strings.Builder
	inFlags, inBlock := false, false
	block := func(is bool) {
		switch {
		case is && !inBlock:
			page.WriteString("\n```text\n")
		case !is && inBlock:
			page.WriteString("```\n")
		}
		inBlock = is
	}
	afterBlank := true
	for line := range strings.Lines(strings.TrimPrefix(help, "Usage: ")) {
		line = strings.TrimRight(line, "\n")
		isUsage := strings.HasPrefix(strings.TrimSpace(line), "aql-tag ") && page.Len() == 0 || inBlock && line != ""
		indented := strings.HasPrefix(line, "  ")
		switch match := flagLine.FindStringSubmatch(line); {
		case line == "Flags:":
			block(false)
			inFlags = true
			page.WriteString("\n| flag | meaning |\n|---|---|\n")
		case line == "":
			block(false)
			afterBlank = true
			continue
		case inFlags && match != nil:
			fmt.Fprintf(&page, "| `%s` | %s |\n", match[1], special.Replace(match[2]))
		case indented || isUsage:
			block(true)
			page.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "     "), "  ") + "\n")
		default:
			block(false)
			if afterBlank {
				page.WriteString("\n")
			}
			page.WriteString(special.Replace(line) + "\n")
		}
		afterBlank = false
	}
	block(false)
	return page.String()
}
