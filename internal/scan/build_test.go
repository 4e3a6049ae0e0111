package scan_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/internal/scratch"
)

// A12: the go command builds what is generated for random packages, and go vet finds nothing in it.
func TestRandomPackagesBuildAndVet(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many packages: make slow runs it")
	}
	const enough = 60
	dir := t.TempDir()
	if err := scratch.Write(dir, "example.com"); err != nil {
		t.Fatal(err)
	}
	write := func(folder, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("other", "other.go", other)
	w := newWorkshop(t)
	for seed, made := uint64(1_000_000), 0; made < enough; seed++ {
		text := program(randomBytes(seed))
		if v, code := w.generate(t, text); v == generated {
			folder := "app" + strconv.Itoa(made)
			write(folder, "app.go", text)
			write(folder, emit.FileName, string(code))
			made++
		}
	}
	run := func(args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir, command.Env = dir, scratch.Env()
		output, err := command.CombinedOutput()
		return string(output), err
	}
	if output, err := run("build", "./..."); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	output, err := run("vet", "./...") // which finds much in the random declarations
	if err != nil && !strings.Contains(output, "app.go:") {
		t.Errorf("%v\n%s", err, output)
	}
	for line := range strings.Lines(output) {
		if strings.Contains(line, emit.FileName+":") {
			t.Error(line)
		}
	}
}
