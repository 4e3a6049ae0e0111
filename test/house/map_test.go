package house_test

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table of folders in CONTRIBUTING.md")

// The table of folders in CONTRIBUTING.md has every folder of the released modules, with the first sentence of its
// package comment and the folders that it may import.
func TestMapOfTheCode(t *testing.T) {
	const header = "| folder | what it does | may import, of ours |\n|---|---|---|\n"
	file := filepath.Join(repository(t), "CONTRIBUTING.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), header)
	end := strings.Index("\n"+rest, "\n\n")
	if !ok || end < 0 {
		t.Fatal("CONTRIBUTING.md has no table of folders")
	}
	var want strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(allowed)) {
		imports := "nothing"
		if granted := slices.Sorted(slices.Values(allowed[folder])); len(granted) > 0 {
			imports = strings.Join(granted, ", ")
		}
		fmt.Fprintf(&want, "| `%s/` | %s | %s |\n", folder, purpose(t, folder), imports)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+header+want.String()+rest[end:]), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(rest[:end], want.String()); diff != "" {
		t.Errorf("go -C test test ./house -run MapOfTheCode -update rewrites the table (-documented +in the code):\n%s", diff)
	}
}

// purpose returns the first sentence of a package comment, without the name of the package.
func purpose(t *testing.T, folder string) string {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join(repository(t), folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Doc == nil {
			continue
		}
		sentence := new(doc.Package).Synopsis(parsed.Doc.Text())
		base := filepath.Base(folder)
		for _, opening := range []string{"Package " + parsed.Name.Name + " ", "Command " + base + " ", base + " ", "is "} {
			sentence = strings.TrimPrefix(sentence, opening)
		}
		return strings.ReplaceAll(strings.TrimSuffix(sentence, "."), "|", `\|`)
	}
	t.Errorf("%s has no package comment", folder)
	return ""
}
