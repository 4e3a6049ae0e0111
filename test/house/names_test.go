package house_test

import (
	"go/types"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// selector finds Go names in code spans, such as aql.Options.Limits.
var selector = regexp.MustCompile(`\b([a-z]+)((?:\.[A-Z]\w*)+)`)

// A Go name of ours that a page mentions exists: pages are read where nothing compiles them.
func TestNamesOnPagesExist(t *testing.T) {
	configuration := &packages.Config{
		Context: t.Context(), Dir: repository(t),
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedExportFile,
	}
	loaded, err := packages.Load(configuration, module+"/runtime/...", module+"/runtime/aqltest",
		module+"/runtime/store/...", module+"/conform")
	if err != nil {
		t.Fatal(err)
	}
	unnamed := regexp.MustCompile(`/(internal|bench|test)/`) // what pages do not name
	ours := map[string]*types.Package{}
	for _, p := range loaded {
		if p.Types != nil && !unnamed.MatchString(p.PkgPath) {
			ours[p.Types.Name()] = p.Types
		}
	}
	mentioned := 0
	for file, text := range pages(t) {
		if file == "CHANGELOG.md" || file == "docs/diagnostics.md" || file == "docs/requirements.md" {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			for _, match := range selector.FindAllStringSubmatch(line, -1) {
				home, known := ours[match[1]]
				if !known {
					continue
				}
				mentioned++
				if !exists(home, strings.Split(match[2], ".")[1:]) {
					t.Errorf("%s:%d: there is no %s", file, i+1, match[0])
				}
			}
		}
	}
	if mentioned < 50 {
		t.Errorf("only %d names were found", mentioned)
	}
}

// exists reports whether a package has a name, and the fields and methods after it.
func exists(home *types.Package, names []string) bool {
	object := home.Scope().Lookup(names[0])
	for _, name := range names[1:] {
		if object == nil {
			return false
		}
		object, _, _ = types.LookupFieldOrMethod(object.Type(), true, home, name)
	}
	return object != nil
}
