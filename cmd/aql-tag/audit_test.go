package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// Scripts rely on the exit codes: 3 for bad flags, 4 for what cannot be read, 6 for what is broken.
func TestAuditExitCodes(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef"
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	chain := func(name, key string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		f, err := audit.OpenFile(t.Context(), path, audit.FileOptions{Key: []byte(key)})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Write(t.Context(), make([]audit.Record, 3)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	whole := chain("whole", "")
	chain("keyed", key)
	write("key", key+"\n")
	write("short", "short")
	write("empty", "")
	write("torn", whole[:len(whole)-1])
	write("changed", strings.Replace(whole, `"danger_level":0`, `"danger_level":1`, 1))
	for _, tt := range []struct {
		args  string
		stdin string
		want  int
	}{
		{"-h", "", exitOK},
		{"verify -h", "", exitOK},
		{"verify whole", "", exitOK},
		{"verify whole empty", "", exitOK},
		{"verify -key key keyed", "", exitOK},
		{"verify - -at-least 3", whole, exitOK},
		{"", "", exitUsage},
		{"check whole", "", exitUsage},
		{"verify", "", exitUsage},
		{"verify -x whole", "", exitUsage},
		{"verify -head 12 whole", "", exitUsage},
		{"verify -at-least 1 whole empty", "", exitUsage},
		{"verify nowhere", "", exitIO},
		{"verify .", "", exitIO},
		{"verify -key nowhere whole", "", exitIO},
		{"verify -key short whole", "", exitIO},
		{"verify torn", "", exitStale},
		{"verify changed", "", exitStale},
		{"verify keyed", "", exitStale},
		{"verify -key key whole", "", exitStale},
		{"verify -at-least 4 whole", "", exitStale},
		{"verify nowhere changed nowhere", "", exitStale},
		{"verify -", whole[1:], exitStale},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			env := &environment{dir: dir, stdin: strings.NewReader(tt.stdin), stdout: &stdout, stderr: &stderr}
			if got := run(t.Context(), env, append([]string{"audit"}, strings.Fields(tt.args)...)); got != tt.want {
				t.Errorf("exit code %d, want %d\n%s%s", got, tt.want, &stdout, &stderr)
			}
			if tt.want != exitOK && stderr.Len() == 0 {
				t.Error("nothing is said")
			}
		})
	}
}
