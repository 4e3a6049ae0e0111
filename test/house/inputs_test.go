package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
)

// repository returns the root folder, and makes the result of the test depend on all that is in it.
func repository(t *testing.T) string {
	t.Helper()
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// undeclared are packages with tests whose inputs are not declared, and why.
var undeclared = map[string]string{
	"internal/scan": "go mod download in a module that the test makes",
	"runtime/observe/otel/telemetry": "the alerts of the deployments, in a module that shall not need this one: " +
		"make ci reuses no results",
}

// The go command reuses the result of a test while the files that it knows of are the same. It knows nothing of what a
// program reads that a test starts, nor of files outside the test's module. Tests with such inputs declare them.
func TestInputsAreDeclared(t *testing.T) {
	root := repository(t)
	inputs := map[string][]string{} // by package: what go test does not know of
	declared := map[string]bool{}
	modules := []string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); file != root &&
				(name == "testdata" || name == "node_modules" || name == "bin" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		folder := path.Dir(filepath.ToSlash(relative))
		if entry.Name() == "go.mod" {
			modules = append(modules, folder)
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			declared[folder] = declared[folder] || spec.Path.Value == strconv.Quote(module+"/internal/scratch")
		}
		for _, input := range inputsOf(parsed) {
			inputs[folder] = append(inputs[folder], relative+": "+input)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	needed := 0
	for folder, found := range inputs {
		home := moduleOf(modules, folder)
		found = slices.DeleteFunc(found, func(input string) bool {
			_, name, _ := strings.Cut(input, ": ")
			at := path.Join(folder, name)
			return strings.HasPrefix(name, "..") && (inside(home, at) || !inside(".", at))
		})
		switch {
		case len(found) == 0:
			continue
		case undeclared[folder] != "":
			delete(undeclared, folder)
		case !declared[folder]:
			t.Errorf("go test does not see these inputs; find them through scratch.Root:\n\t%s", strings.Join(found, "\n\t"))
		default:
			needed++
		}
	}
	if needed < 5 {
		t.Errorf("only %d packages declare inputs: the test does not see them", needed)
	}
	for folder, reason := range undeclared {
		t.Errorf("%s needs no exception any more (%s)", folder, reason)
	}
}

// inputsOf returns the go commands that a file runs, as "go", and the paths that it names with a "..".
func inputsOf(file *ast.File) []string {
	var inputs []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			selector, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			var words []string
			for _, argument := range n.Args {
				if text, ok := literal(argument); ok {
					words = append(words, text)
				}
			}
			switch name := selector.Sel.Name; {
			case name == "Join" && len(words) > 0 && words[0] == "..":
				inputs = append(inputs, path.Join(words...))
				return false
			case strings.HasPrefix(name, "Command") && slices.Contains(words, "go"):
				inputs = append(inputs, "go")
			}
		case *ast.BasicLit:
			if text, ok := literal(n); ok && strings.HasPrefix(text, "../..") && !strings.Contains(text, "\n") &&
				text != "../..." {
				inputs = append(inputs, text)
			}
		}
		return true
	})
	return inputs
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// moduleOf returns the folder of the module that a folder belongs to.
func moduleOf(modules []string, folder string) string {
	home := "."
	for _, m := range modules {
		if inside(m, folder) && len(m) > len(home) {
			home = m
		}
	}
	return home
}

// inside reports whether a path is a folder or in it.
func inside(folder, name string) bool {
	if folder == "." {
		return !strings.HasPrefix(name, "..")
	}
	return name == folder || strings.HasPrefix(name, folder+"/")
}
