package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/aqltag/aqltag/internal/atomicfile"
)

// A file is made or replaced as a whole, with its mode, and nothing else is left beside it.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.go")
	for _, tt := range []struct {
		content string
		mode    fs.FileMode
	}{{"first", 0o644}, {"second, and longer", 0o600}, {"", 0o755}} {
		if err := atomicfile.Write(name, []byte(tt.content), tt.mode); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != tt.content {
			t.Errorf("got %q, %v, want %q", got, err, tt.content)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != tt.mode {
			t.Errorf("got mode %v, %v, want %v", info.Mode(), err, tt.mode)
		}
	}
	onlyFile(t, dir)
}

// Where the file cannot be replaced, it stays as it was.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(name, "inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(name, []byte("content"), 0o644); err == nil {
		t.Error("a folder was replaced by a file")
	}
	onlyFile(t, dir)
	if err := atomicfile.Write(filepath.Join(dir, "missing", "file"), nil, 0o644); err == nil {
		t.Error("a file was written into a folder that does not exist")
	}
}

func onlyFile(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want one entry", entries, err)
	}
}
