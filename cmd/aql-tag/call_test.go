package main

import (
	"bytes"
	"strings"
	"testing"
)

// What is wrong with the flags is said before anything is started. What runs is tested in test/conform.
func TestCallFlags(t *testing.T) {
	for _, tt := range []struct {
		args string
		want int
		says string
	}{
		{"-h", exitOK, "Usage: aql-tag call"},
		{"", exitUsage, "say what to call"},
		{"-x", exitUsage, "flag provided but not defined"},
		{"-bearer-file token -- true", exitUsage, "goes with -url"},
		{"-timeout 0s -- true", exitUsage, "more than nothing"},
		{"-- go run . list_notes", exitUsage, "second '--'"},
		{"-- ./no-such-command list_notes", exitIO, "starting ./no-such-command"},
		{"-url http://127.0.0.1:1/mcp list_notes", exitIO, "cannot be reached"},
		{"-url http://127.0.0.1:1/mcp -bearer-file nowhere", exitIO, "reading the bearer token"},
		{"-url http://127.0.0.1:1/mcp add_note {\"a\"}", exitUsage, "not JSON"},
		{"-url http://127.0.0.1:1/mcp add_note @nowhere", exitIO, "no such file"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			env := &environment{dir: t.TempDir(), stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
			got := run(t.Context(), env, append([]string{"call"}, strings.Fields(tt.args)...))
			if out := stdout.String() + stderr.String(); got != tt.want || !strings.Contains(out, tt.says) {
				t.Errorf("exit code %d, want %d and %q\n%s", got, tt.want, tt.says, out)
			}
		})
	}
}
