package propose_test

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scantest"
)

// Where the lines go: below the doc comment, as gofmt has it, and nowhere else.
func TestWriteTouchesNothingElse(t *testing.T) {
	const op = "//aql:op category=READ,danger=safe\n"
	for _, tt := range []struct{ name, before, want string }{
		{"no comment", "func GetA() (int, error) { return 0, nil }\n", op + "func GetA() (int, error) { return 0, nil }\n"},
		{
			"a doc comment", "// GetA reads.\nfunc GetA() (int, error) { return 0, nil }\n",
			"// GetA reads.\n//\n" + op + "func GetA() (int, error) { return 0, nil }\n",
		},
		{
			"directives below the doc comment",
			"// GetA reads.\n//\n//go:noinline\nfunc GetA() (int, error) { return 0, nil }\n",
			"// GetA reads.\n//\n//go:noinline\n" + op + "func GetA() (int, error) { return 0, nil }\n",
		},
		{
			"only directives", "//go:noinline\nfunc GetA() (int, error) { return 0, nil }\n",
			"//go:noinline\n" + op + "func GetA() (int, error) { return 0, nil }\n",
		},
		{"an example is there already", "// GetA reads.\n//\n//aql:example {}\nfunc GetA() (int, error) { return 0, nil }\n",
			"// GetA reads.\n//\n//aql:example {}\n" + op + "func GetA() (int, error) { return 0, nil }\n"},
		{
			"a comment apart", "// About it.\n\nfunc GetA() (int, error) { return 0, nil }\n",
			"// About it.\n\n" + op + "func GetA() (int, error) { return 0, nil }\n",
		},
		{
			"a comment behind the line above", "var x = 1 // one\nfunc GetA() (int, error) { return 0, nil }\n",
			"var x = 1 // one\n" + op + "func GetA() (int, error) { return 0, nil }\n",
		},
		{
			"a block comment", "/*\nGetA reads.\n*/\nfunc GetA() (int, error) { return 0, nil }\n",
			"/*\nGetA reads.\n*/\n" + op + "func GetA() (int, error) { return 0, nil }\n",
		},
		{"not formatted", "   func   GetA( )(int,error){return 0,nil}\n",
			"   " + op + "   func   GetA( )(int,error){return 0,nil}\n"},
		{"no line end", "func GetA() (int, error) { return 0, nil }", op + "func GetA() (int, error) { return 0, nil }"},
		{"line ends of Windows", "// GetA reads.\r\nfunc GetA() (int, error) {\r\n\treturn 0, nil\r\n}\r\n",
			"// GetA reads.\r\n//\r\n" + strings.Replace(op, "\n", "\r\n", 1) +
				"func GetA() (int, error) {\r\n\treturn 0, nil\r\n}\r\n"},
		{"line directives", "//line other.go:1\n\n// GetA reads.\nfunc GetA() (int, error) { return 0, nil }\n",
			"//line other.go:1\n\n// GetA reads.\n//\n" + op + "func GetA() (int, error) { return 0, nil }\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const head = "package app\r\n\n"
			dir := scantest.Write(t, "")
			file := filepath.Join(dir, "app.go")
			if err := os.WriteFile(file, []byte(head+tt.before), 0o600); err != nil {
				t.Fatal(err)
			}
			written, err := proposals(t, dir).Write(nil)
			if diff := cmp.Diff([]string{file}, written); err != nil || diff != "" {
				t.Fatalf("written: %v, %s", err, diff)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(head+tt.want, string(got)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			if formatted, err := format.Source([]byte(tt.before)); err == nil && bytes.Equal(formatted, []byte(tt.before)) &&
				!strings.Contains(tt.before, "\r") {
				if again, err := format.Source([]byte(tt.want)); err != nil || string(again) != tt.want {
					t.Errorf("it was formatted and is not any more: %v\n%s", err, again)
				}
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode: %v, %v", info.Mode(), err)
			}
			accord(t, dir)
			again, _ := os.ReadFile(file)
			if !bytes.Equal(got, again) {
				t.Errorf("a second run changed it:\n%s", again)
			}
		})
	}
}

// A symbolic link stays one, and the file it names is changed.
func TestWriteFollowsLinks(t *testing.T) {
	dir := scantest.Write(t, "-- real.txt --\npackage app\n\nfunc GetA() (int, error) { return 0, nil }\n")
	if err := os.Symlink("real.txt", filepath.Join(dir, "app.go")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := proposals(t, dir).Write(nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(dir, "app.go"))
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "real.txt")); !strings.Contains(string(got), "//aql:op") {
		t.Errorf("not written:\n%s", got)
	}
}

// When one file is not what was read any more, or may not be written, none is touched.
func TestWriteRefusesAsAWhole(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		spoil      func(file string) error
	}{
		{"changed", "changed while it was read", func(file string) error {
			return os.WriteFile(file, []byte("package app\n\n// New.\nfunc GetB() (int, error) { return 0, nil }\n"), 0o644)
		}},
		{"gone", "b.go", os.Remove},
		{"read-only", "read-only", func(file string) error { return os.Chmod(file, 0o444) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := scantest.Write(t,
				"-- a.go --\npackage app\n\nfunc GetA() (int, error) { return 0, nil }\n-- b.go --\npackage app\n\n"+
					"func GetB() (int, error) { return 0, nil }\n")
			p := proposals(t, dir)
			if err := tt.spoil(filepath.Join(dir, "b.go")); err != nil {
				t.Fatal(err)
			}
			written, err := p.Write(nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(written) > 0 {
				t.Errorf("written %v, error %v, want %q", written, err, tt.want)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, "a.go")); strings.Contains(string(got), "aql") {
				t.Errorf("a.go was changed:\n%s", got)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".aql*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// What must not, or cannot, be edited is proposed and says so.
func TestLockedCandidates(t *testing.T) {
	dir := scantest.Write(t, `
-- go.mod --
module example.com/app

go 1.26

require example.com/other v0.0.0

replace example.com/other => ./other
-- other/go.mod --
module example.com/other

go 1.26
-- other/other.go --
package other

// GetThing reads.
func GetThing(id string) (string, error) { return id, nil }
-- db/queries.go --
// Code generated by sqlc. DO NOT EDIT.

package db

import "context"

type Queries struct{}

// GetAuthor reads.
func (q *Queries) GetAuthor(ctx context.Context, id int64) (string, error) { return "", nil }
-- odd/odd.go --
package odd; func GetThing(id string) (string, error) { return id, nil }
`)
	got := make(map[string]string)
	for _, pkg := range proposals(t, dir, "./db", "./odd").Packages {
		for _, c := range pkg.Candidates {
			got[c.Operation] = c.Locked
		}
	}
	want := map[string]string{
		"get_author": "its file is generated and would lose the directive; write a thin tagged layer that calls it",
		"get_thing":  "something stands in front of it on its line; put it on a line of its own",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("locked (-want +got):\n%s", diff)
	}
	accord(t, dir, "./db", "./odd")
	other := proposals(t, dir, "fmt").Packages[0]
	for _, c := range other.Candidates {
		if !strings.Contains(c.Locked, "another module") {
			t.Errorf("%s of the standard library is not locked: %q", c.Function, c.Locked)
		}
	}
}
