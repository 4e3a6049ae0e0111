package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// workspaceCommand is a command of CONTRIBUTING.md that uses the clone from a module beside it.
var workspaceCommand = regexp.MustCompile("`(go (?:work|run) [^`]+)`")

// A module beside the clone, with the workspace that CONTRIBUTING.md tells of, takes all that it uses of this project
// from the clone: nothing is asked of a proxy, which has no release with the same code.
func TestContributing(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		t.Skip("builds the commands")
	}
	introduction, _, _ := strings.Cut(string(text), "\n## ")
	dir := t.TempDir()
	if err := os.Symlink(repository(t), filepath.Join(dir, "aqltag")); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(dir, "notes")
	for name, content := range map[string]string{
		"go.mod": "module example.com/notes\n\ngo 1.26.0\n",
		"notes.go": "package notes\n\nimport \"context\"\n\n// Note is a text.\ntype Note struct{ Text string }\n\n" +
			"// GetNote reads a note.\n//\n//aql:op category=READ\n" +
			"func GetNote(ctx context.Context, noteID string) (*Note, error) { return &Note{noteID}, nil }\n",
		"notes_test.go": "package notes\n\nimport (\n\t\"testing\"\n\n\t\"github.com/aqltag/aqltag/conform\"\n" +
			"\taql \"github.com/aqltag/aqltag/runtime\"\n" +
			"\t\"github.com/aqltag/aqltag/runtime/aqltest\"\n\t\"github.com/aqltag/aqltag/runtime/store/sqlite\"\n)\n\n" +
			"func TestNotes(t *testing.T) {\n\t_ = sqlite.Drivers()\n\tadapter, err := aql.New(NewRegistry(), aql.Options{})\n" +
			"\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\taqltest.Conform(t, adapter, conform.Options{})\n}\n",
	} {
		if err := os.MkdirAll(module, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(module, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found := workspaceCommand.FindAllStringSubmatch(strings.Join(strings.Fields(introduction), " "), -1)
	if len(found) < 6 {
		t.Fatalf("CONTRIBUTING.md has the commands %q", found)
	}
	commands := make([]string, 0, len(found)+1)
	for _, c := range found {
		commands = append(commands, c[1])
	}
	for _, command := range append(commands, "go vet .") {
		c := exec.Command("go", strings.Fields(command)[1:]...)
		c.Dir = module
		c.Env = append(os.Environ(), "PWD="+module, "GOWORK=", "GOFLAGS=", "GOSUMDB=off",
			"GOPRIVATE=github.com/aqltag", "GOVCS=github.com/aqltag:off")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}
