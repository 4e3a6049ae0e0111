package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// REQ-GE-02: the exit codes of design §4, which scripts rely on.
func TestExitCodes(t *testing.T) {
	const operation = "package app\n\n// GetRequest reads.\ntype GetRequest struct {\n" +
		"\t_ struct{} `aql:\"category=READ\"`\n}\n\n" +
		"// Get reads.\n//\n//aql:example {}\nfunc Get(req GetRequest) (string, error) { return \"\", nil }\n"
	cache := t.TempDir()
	for _, tt := range []struct {
		name, source string
		args         []string
		want         int
		prepare      func(t *testing.T, dir string)
	}{
		{name: "written", source: operation, want: exitOK},
		{name: "nothing to write", source: "package app\n", want: exitOK},
		{name: "a mistake in a tag", source: strings.Replace(operation, "category", "catagory", 1), want: exitSource},
		{
			name: "a mistake in a tag, checked", source: strings.Replace(operation, "category", "catagory", 1),
			args: []string{"check"}, want: exitSource,
		},
		{name: "a syntax error", source: operation + "func {", want: exitSource},
		{name: "an unknown flag", source: operation, args: []string{"-x"}, want: exitUsage},
		{name: "a flag behind the packages", source: operation, args: []string{"check", ".", "-x"}, want: exitUsage},
		{name: "the subcommand operator of adapters", source: operation, args: []string{"operator", "list"}, want: exitUsage},
		{name: "no such package", source: operation, args: []string{"./nowhere"}, want: exitUsage},
		{name: "out of date", source: operation, args: []string{"check"}, want: exitStale},
		{name: "a folder in the file's place", source: operation, want: exitIO, prepare: folderInPlace},
		{
			name: "a policy", source: operation, args: []string{"policy", "check", "-policy", "policy.yaml"}, want: exitOK,
			prepare: policyFile("deny"),
		},
		{
			name: "a call that is denied", source: operation,
			args: []string{"policy", "explain", "-policy", "policy.yaml", "get"}, want: exitOK, prepare: policyFile("deny"),
		},
		{
			name: "a mistake in a policy", source: operation, args: []string{"policy", "check", "-policy", "policy.yaml"},
			want: exitSource, prepare: policyFile("dney"),
		},
		{
			name: "a policy for a mistake in a tag", source: strings.Replace(operation, "category", "catagory", 1),
			args: []string{"policy", "check", "-policy", "policy.yaml"}, want: exitSource, prepare: policyFile("deny"),
		},
		{
			name: "no policy file", source: operation, args: []string{"policy", "check", "-policy", "policy.yaml"}, want: exitIO,
		},
		{name: "no policy", source: operation, args: []string{"policy", "check"}, want: exitUsage},
		{name: "a policy, and nothing to do", source: operation, args: []string{"policy"}, want: exitUsage},
		{
			name: "no such operation", source: operation, args: []string{"policy", "explain", "-policy", "policy.yaml", "got"},
			want: exitUsage, prepare: policyFile("deny"),
		},
		{
			name: "an export", source: operation, args: []string{"export", "-format", "jsonschema", "-o", "schemas"},
			want: exitOK,
		},
		{
			name: "an export that is out of date", source: operation,
			args: []string{"export", "-format", "jsonschema", "-o", "schemas", "-check"}, want: exitStale,
		},
		{
			name: "an export of a mistake in a tag", source: strings.Replace(operation, "category", "catagory", 1),
			args: []string{"export", "-format", "llms"}, want: exitSource,
		},
		{name: "an export without a format", source: operation, args: []string{"export"}, want: exitUsage},
		{name: "an export of nothing", source: "package app\n", args: []string{"export", "-format", "llms"}, want: exitUsage},
		{
			name: "an export under a name that is reserved", source: strings.ReplaceAll(operation, "Get", "Introspect"),
			args: []string{"export", "-format", "introspection", "-o", "x"}, want: exitSource,
		},
		{
			name: "an export onto a folder", source: operation, args: []string{"export", "-format", "llms", "-o", "."},
			want: exitIO,
		},
		{
			name: "an export below a file", source: operation, args: []string{"export", "-format", "llms", "-o", "app.go/x"},
			want: exitIO,
		},
		{name: "help", source: operation, args: []string{"-h"}, want: exitOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("GOWORK", "off")
			for name, text := range map[string]string{"go.mod": "module example.com/app\n\ngo 1.26.0\n", "app.go": tt.source} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if tt.prepare != nil {
				tt.prepare(t, dir)
			}
			var stdout, stderr bytes.Buffer
			got := run(context.Background(), &environment{dir: dir, stdout: &stdout, stderr: &stderr, cache: cache}, tt.args)
			if got != tt.want {
				t.Errorf("exit code %d, want %d\n%s%s", got, tt.want, &stdout, &stderr)
			}
			entries, err := filepath.Glob(filepath.Join(dir, ".aql_gen*"))
			if err != nil || len(entries) > 0 {
				t.Errorf("temporary files are left: %v, %v", entries, err)
			}
		})
	}
}

// folderInPlace makes a folder with the name of the generated file.
func folderInPlace(t *testing.T, dir string) {
	if err := os.Mkdir(filepath.Join(dir, "aql_gen.go"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// policyFile writes a policy that does the same about every call.
func policyFile(effect string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte("version: 1\ndefault: "+effect+"\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
}
