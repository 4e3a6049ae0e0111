package scan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan"
)

// What a package sees of a query that does not import package aql is what that package declares: the fields that
// travel, with their types, tags and comments.
func TestDeclaredQueryIsThatOfTheRuntime(t *testing.T) {
	for file, declared := range map[string]string{
		"../../runtime/query.go":                     scan.RuntimeSource,
		"../../runtime/internal/collection/query.go": scan.CollectionSource,
	} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := travelling(t, declared)
		if len(got) == 0 {
			t.Errorf("%s: nothing is declared", file)
		}
		want := travelling(t, string(source))
		for name := range want {
			if _, ok := got[name]; !ok {
				delete(want, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-runtime +declared):\n%s", file, diff)
		}
	}
}

// travelling lists the fields with JSON names of the structs of a file.
func travelling(t *testing.T, source string) map[string][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	structs := make(map[string][]string)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if st, ok := spec.Type.(*ast.StructType); ok {
			structs[spec.Name.Name] = []string{}
			for _, f := range st.Fields.List {
				tag := ""
				if f.Tag != nil {
					tag = f.Tag.Value
				}
				if tag == "`json:\"-\"`" || tag == "" && f.Names[0].Name != "body" {
					continue
				}
				line := []string{f.Names[0].Name, types.ExprString(f.Type), tag, f.Comment.Text()}
				if tag == "" {
					line = line[:2]
				}
				structs[spec.Name.Name] = append(structs[spec.Name.Name], strings.Join(line, " "))
			}
		}
		return false
	})
	return structs
}
