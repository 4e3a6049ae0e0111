package conform_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/conform"
)

// The command has the exit codes of REQ-CL-08, the report formats of REQ-CL-09, and writes the bundle.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "aql-tag")
	build := exec.Command("go", "build", "-o", tool, "github.com/aqltag/aqltag/cmd/aql-tag")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t)
	todo := []string{"--", binary(t), "-db", ":memory:"}
	bundle, page := filepath.Join(dir, "bundle.json"), filepath.Join(dir, "report.md")
	for _, tt := range []struct {
		name string
		args []string
		env  string
		want int
		says string
	}{
		{name: "a command", args: todo, want: 0, says: "Conformance level: 2."},
		{name: "the other mode is started", args: append([]string{"-v", "-run", "modes/both"}, todo...), want: 0,
			says: "pass       modes/both"},
		{name: "a URL", args: []string{"-url", url}, want: 0, says: "todo 1.0.0: MCP-AQL 1.0.0-draft, mode semantic"},
		{name: "a URL and its other mode",
			args: []string{"-url", url, "-other-url", serve(t, "-mode", "single"), "-v", "-run", "modes/both"}, want: 0,
			says: "pass       modes/both"},
		{name: "level 1", args: append([]string{"-level", "1"}, todo...), want: 0, says: "Conformance level: 1."},
		{name: "some checks", args: append([]string{"-run", "^batch/"}, todo...), want: 0, says: "8 checks: 8 passed"},
		{name: "no check", args: append([]string{"-run", "^nothing"}, todo...), want: 3, says: "no check"},
		{name: "a bundle", args: append([]string{"-allow-destructive", "-bundle", bundle}, todo...), want: 0},
		{name: "a bundle with holes", args: append([]string{"-bundle", bundle + "2"}, todo...), want: 3,
			says: "delete_todo is destructive"},
		{name: "a page", args: append([]string{"-format", "markdown", "-o", page}, todo...), want: 0},
		{name: "a server that breaks a rule", args: []string{"--", self}, env: "says little", want: 1,
			says: "fail       introspect/protocol"},
		{name: "no server", args: []string{"--", self}, env: "exits", want: 3, says: "ended the connection"},
		{name: "a report nobody can write",
			args: append([]string{"-run", "^batch/", "-o", filepath.Join(dir, "nowhere", "x")}, todo...), want: 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), tool, append([]string{"conform"}, tt.args...)...)
			command.Env = append(os.Environ(), hostileEnv+"="+tt.env)
			out, _ := command.CombinedOutput()
			if got := command.ProcessState.ExitCode(); got != tt.want || !strings.Contains(string(out), tt.says) {
				t.Errorf("exit code %d, want %d and %q\n%s", got, tt.want, tt.says, out)
			}
		})
	}
	if text, err := os.ReadFile(bundle); err != nil {
		t.Error(err)
	} else {
		checkBundle(t, text)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.HasPrefix(string(text), "# MCP-AQL conformance of todo 1.0.0\n") {
		t.Errorf("%v\n%.300s", err, text)
	}
	out, err := exec.Command(tool, append([]string{"conform", "-json"}, todo...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var report conform.Report
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	if report.SpecVersion != "1.0.0-draft" || report.Summary.Passed == 0 || len(report.Categories) != 6 {
		t.Errorf("%v\n%.300s", err, out)
	}
}
