package outfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/outfile"
)

// A file is written, left alone or removed, so that afterwards it is what it should be.
func TestWrite(t *testing.T) {
	some, none, empty := []byte("some\n"), []byte(nil), []byte{}
	tests := map[string]struct {
		disk, content []byte
		verb          string
	}{
		"missing":         {none, some, "wrote"},
		"other content":   {[]byte("other\n"), some, "wrote"},
		"as it should be": {some, some, ""},
		"left over":       {some, none, "removed"},
		"never there":     {none, none, ""},
		"empty":           {empty, none, "removed"},
		"to be empty":     {none, empty, "wrote"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "folder", "file")
			if tt.disk != nil {
				if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, tt.disk, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			f, err := outfile.New(path, tt.content)
			if err != nil {
				t.Fatal(err)
			}
			if f.Stale() != (tt.verb != "") {
				t.Errorf("stale: %t", f.Stale())
			}
			verb, err := f.Write()
			if err != nil || verb != tt.verb {
				t.Errorf("got %q, %v, want %q", verb, err, tt.verb)
			}
			if again, err := outfile.New(path, tt.content); err != nil || again.Stale() {
				t.Errorf("still stale, or %v", err)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	f := outfile.File{Content: []byte("a\nc\n"), Disk: []byte("a\nb\n")}
	if got := f.Diff("x.go"); !strings.HasPrefix(got, "--- a/x.go\n+++ b/x.go\n") || !strings.Contains(got, "-b\n+c\n") {
		t.Errorf("got\n%s", got)
	}
}

// What is no file cannot be compared.
func TestFolder(t *testing.T) {
	if _, err := outfile.New(t.TempDir(), nil); err == nil {
		t.Error("a folder was read")
	}
}
