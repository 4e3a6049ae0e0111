package todo_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
)

// The Go code in docs/testing.md is one test file of this package: it compiles, and its tests pass.
func TestDocumentedTests(t *testing.T) {
	repository, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(repository, "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		code.WriteString(block[1] + "\n")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "documented_test.go")
	if err := os.WriteFile(source, []byte(code.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	// The tests that are here already are left out: they would declare some names twice.
	replaced := map[string]string{filepath.Join(here, "documented_test.go"): source}
	tests, err := filepath.Glob(filepath.Join(here, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tests {
		replaced[file] = ""
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "test", "-overlay", filepath.Join(dir, "overlay.json"), "-v",
		"-count=1", ".")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go test: %v\n%s", err, out)
	}
	if passed, declared := strings.Count(string(out), "--- PASS: TestDoc"),
		strings.Count(code.String(), "\nfunc TestDoc"); passed != declared || declared == 0 {
		t.Errorf("%d of %d documented tests passed:\n%s", passed, declared, out)
	}
}
