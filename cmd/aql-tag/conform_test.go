package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with the flags is said before anything is started (REQ-CL-08: 3). What runs is tested in tests/conform.
func TestConformFlags(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want int
		says string
	}{
		{"-h", exitOK, "Usage: aql-tag conform"},
		{"-list", exitOK, "introspect/protocol"},
		{"", exitUsage, "say what to probe"},
		{"-x", exitUsage, "flag provided but not defined"},
		{"-url http://127.0.0.1:1 -- true", exitUsage, "contradict"},
		{"-bearer-file token -- true", exitUsage, "go with -url"},
		{"-other-url http://127.0.0.1:1 -- true", exitUsage, "go with -url"},
		{"-format yaml -- true", exitUsage, "text, json or markdown"},
		{"-level 3 -- true", exitUsage, "-level is 1 or 2"},
		{"-timeout 0s -- true", exitUsage, "more than nothing"},
		{"-run ( -- true", exitUsage, "-run:"},
		{"-- ./no-such-command", exitUsage, "starting ./no-such-command"},
		{"-url http://127.0.0.1:1/mcp -bearer-file token", exitUsage, "cannot be reached"},
		{"-url http://127.0.0.1:1/mcp -bearer-file nowhere", exitUsage, "reading the bearer token"},
		// C4: a token goes to the origin that it is meant for.
		{"-url http://h/mcp -other-url http://h:81/mcp -bearer-file token", exitUsage, "another origin"},
		{"-url https://h/mcp -other-url http://h/mcp -bearer-file token", exitUsage, "another origin"},
		{"-url http://127.0.0.1:1/mcp -other-url http://127.0.0.1:1/one -bearer-file token", exitUsage, "cannot be reached"},
		{"-url http://127.0.0.1:1/ -other-url http://127.0.0.1:2/ -bearer-file token -other-bearer-file token", exitUsage,
			"cannot be reached"},
		{"-url http://127.0.0.1:1/ -other-bearer-file token", exitUsage, "goes with -other-url"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			env := &environment{dir: dir, stdout: &stdout, stderr: &stderr}
			got := run(t.Context(), env, append([]string{"conform"}, strings.Fields(tt.args)...))
			if out := stdout.String() + stderr.String(); got != tt.want || !strings.Contains(out, tt.says) {
				t.Errorf("exit code %d, want %d and %q\n%s", got, tt.want, tt.says, out)
			}
		})
	}
}
