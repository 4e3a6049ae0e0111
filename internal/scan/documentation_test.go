package scan_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

const documentation = "../../docs/diagnostics.md"

// A mistake is one ### section of the documentation, below the ## section of its code. Blocks follow in this order:
//
//	```go bad     what draws the diagnostic
//	```text       what is said about it, exactly
//	```go good    what draws none
//
// The code of a block is a file of package app without package clause and imports, or only the fields of a request, or
// only the directives of a handler. A block that begins with a package clause is a whole file; one that begins with
// "-- name --" is a txtar archive of files.
type mistake struct {
	code, title         string
	bad, good, message  string
	messageAt, messages int  // the line of the message's first line, and how many lines it has
	lint                bool // only aql-tag lint says so: the words stand above the blocks
}

// readDocumentation finds the mistakes. lines are those of the whole file.
func readDocumentation(t *testing.T) (lines []string, mistakes []*mistake) {
	t.Helper()
	data, err := os.ReadFile(documentation)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(string(data), "\n")
	code := ""
	var current *mistake
	for i := 0; i < len(lines); i++ {
		if name, ok := strings.CutPrefix(lines[i], "## "); ok {
			code, current = strings.Trim(name, "`"), nil
		}
		if title, ok := strings.CutPrefix(lines[i], "### "); ok {
			current = &mistake{code: code, title: title}
			mistakes = append(mistakes, current)
		}
		if current != nil && current.bad == "" && strings.Contains(lines[i], "Only `aql-tag lint`") {
			current.lint = true
		}
		kind, fenced := strings.CutPrefix(lines[i], "```")
		if !fenced {
			continue
		}
		start := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		if i == len(lines) {
			t.Fatalf("%s:%d: the block is not closed", documentation, start)
		}
		body := strings.Join(append(slices.Clone(lines[start:i]), ""), "\n")
		switch {
		case current == nil:
		case kind == "go bad" && current.bad == "":
			current.bad = body
		case kind == "text" && current.bad != "" && current.messageAt == 0:
			current.message, current.messageAt, current.messages = body, start, i-start
		case kind == "go good" && current.messageAt != 0 && current.good == "":
			current.good = body
		default:
			t.Errorf("%s:%d: a block %q is out of place here", documentation, start, kind)
		}
	}
	for _, m := range mistakes {
		if m.good == "" {
			t.Errorf("%s: section %q lacks a block: bad, text and good belong there", documentation, m.title)
		}
	}
	return lines, mistakes
}

// importable lists what the files of the examples may mention without an import.
var importable = map[string]string{
	"aql": "github.com/aqltag/aqltag/runtime", "context": "context", "fmt": "fmt", "http": "net/http", "time": "time",
	"unsafe": "unsafe",
}

var (
	declaration    = regexp.MustCompile(`(?m)^(type|func|var|const) `)
	onlyDirectives = regexp.MustCompile(`^// ?aql`)
)

// What stands around fields and directives. The first line of a block is the second of its file.
const (
	beforeFields     = "type GetNoteRequest struct {"
	fieldsTag        = " _ struct{} `aql:\"category=READ\"`"
	afterFields      = "}\n\n// GetNote reads a note.\nfunc GetNote(GetNoteRequest) error { return nil }\n"
	beforeDirectives = "type DeleteNoteRequest struct { _ struct{} `aql:\"category=DELETE\"`; " +
		"ID string `json:\"id\" aql:\"required,maxlen=20\"`; Force bool `json:\"force\"` }"
	afterDirectives = "// DeleteNote removes a note.\nfunc DeleteNote(DeleteNoteRequest) error { return nil }\n"
)

// sourceOf makes the files of a block. added is the number of lines that stand before the block in its file.
func sourceOf(block string) (files []txtar.File, added int) {
	switch {
	case strings.HasPrefix(block, "-- "):
		return txtar.Parse([]byte(block)).Files, 0
	case strings.HasPrefix(block, "package "):
		return []txtar.File{{Name: "app.go", Data: []byte(block)}}, 0
	}
	first := "package app"
	for _, name := range slices.Sorted(maps.Keys(importable)) {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(block) {
			first += fmt.Sprintf("; import %s %q", name, importable[name])
		}
	}
	switch {
	case onlyDirectives.MatchString(block):
		first, block = first+"; "+beforeDirectives, block+afterDirectives
	case !declaration.MatchString(block):
		first += "; " + beforeFields
		if !strings.HasPrefix(block, "_ ") {
			first += fieldsTag
		}
		block += afterFields
	}
	return []txtar.File{{Name: "app.go", Data: []byte(first + "\n" + block)}}, 1
}

// Every mistake that the documentation shows is answered with the message that stands there, and is none in the form
// that stands below (issue: diagnostics people thank you for). All examples are packages of one module.
func TestDocumentedMistakes(t *testing.T) {
	lines, mistakes := readDocumentation(t)
	var module txtar.Archive
	place := func(i int, kind string) string { return fmt.Sprintf("m%03d/%s", i, kind) }
	const root = "example.com/app/" // of packages in examples; each example is a folder of it
	for i, m := range mistakes {
		for kind, block := range map[string]string{"bad": m.bad, "good": m.good} {
			files, _ := sourceOf(block)
			for _, file := range files {
				data := bytes.ReplaceAll(file.Data, []byte(root), []byte(root+place(i, kind)+"/"))
				module.Files = append(module.Files, txtar.File{Name: place(i, kind) + "/" + file.Name, Data: data})
			}
		}
	}
	dir := scantest.Write(t, string(txtar.Format(&module)))
	result := scantest.Load(t, dir, "./...")
	linted, err := scan.Load(t.Context(), scan.Options{
		Dir: dir, Patterns: []string{"./..."}, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}, Lint: true,
	})
	if err != nil {
		t.Fatal(err)
	}

	said := func(i int, kind, block string) (text string, codes map[string]bool) {
		_, added := sourceOf(block)
		home := filepath.Join(dir, filepath.FromSlash(place(i, kind)))
		inside := func(file string) bool { return strings.HasPrefix(file, home+string(filepath.Separator)) }
		var out bytes.Buffer
		codes = map[string]bool{}
		diagnostics := result.Diagnostics
		if mistakes[i].lint {
			diagnostics = linted.Diagnostics
		}
		for _, d := range diagnostics {
			// The operations of other examples may have the same names.
			stranger := slices.ContainsFunc(d.Related, func(r diag.Related) bool { return !inside(r.Position.File) })
			if !inside(d.Position.File) || stranger {
				continue
			}
			codes[d.Code] = true
			if err := d.Write(&out, home, false); err != nil {
				t.Fatal(err)
			}
		}
		text = strings.ReplaceAll(out.String(), root+place(i, kind)+"/", root)
		return placePattern.ReplaceAllStringFunc(text, func(text string) string {
			parts := strings.Split(text, ":")
			line, err := strconv.Atoi(parts[1])
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%s:%d:", parts[0], line-added)
		}), codes
	}
	for i, m := range slices.Backward(mistakes) { // so that rewriting a message moves none that is still to be rewritten
		t.Run(m.title, func(t *testing.T) {
			got, codes := said(i, "bad", m.bad)
			if *update {
				lines = slices.Replace(lines, m.messageAt, m.messageAt+m.messages,
					strings.Split(strings.TrimSuffix(got, "\n"), "\n")...)
			} else if diff := cmp.Diff(m.message, got); diff != "" {
				t.Errorf("the message (-documented +said):\n%s", diff)
			}
			if len(codes) != 1 || !codes[m.code] {
				t.Errorf("the section is about %s, the diagnostics have %v", m.code, slices.Sorted(maps.Keys(codes)))
			}
			if text, _ := said(i, "good", m.good); text != "" {
				t.Errorf("the good example is not good:\n%s", text)
			}
		})
	}
	if *update {
		if err := os.WriteFile(documentation, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var placePattern = regexp.MustCompile(`(?m)^\t?[a-z_/]+\.go:\d+:`)

// unreachable lists messages without an example because no source draws them: another check comes first.
var unreachable = map[string]string{
	"the %s has the character %U":               "a page cannot show the characters: TestHiddenCharacters",
	"the struct tag is not a string":            "Go's parser refuses such a tag",
	"%s needs a JSON number, not %q":            "the grammar of tags refuses such a value",
	"%s needs a whole number from 0, not %q":    "the grammar of tags refuses such a value",
	"timeout needs a positive duration, not %q": "the grammar of tags refuses such a value",
	"example is not valid JSON: %v":             "the grammar of directives refuses such a text",
	"example must be an object with parameters": "the grammar of directives refuses such a text",
	"the type is not known":                     "the type checker always says more",
	"aql.Patch needs one type argument":         "the type checker always says more",
	"aql.Query needs one type argument":         "the type checker always says more",
	"%s: %s brings in fields of other modules": "it points into another module, of which the examples have none: " +
		"TestForeignMistakes",
	"agents see neither %s nor %s": "it points into another module, of which the examples have none: " +
		"TestForeignTies",
	"agents see %s, since": "it points into another module, of which the examples have none: " +
		"TestQueryFields",
	"default is not valid JSON: %v":         "what is no JSON is told apart by type before",
	"aql.Optional needs one type argument":  "the type checker always says more",
	"its receiver has no named type":        "the type checker always says more",
	"%s cannot be named":                    "what the author's code can spell, generated code can",
	"package %s could not be loaded":        "the examples are loaded whole: TestAdoptedPackageFails",
	"it takes the stream %s":                "the examples have no other modules: TestEnvelopes",
	"its input embeds a pointer to %s":      "the examples have no other modules: TestDiagnostics",
	"%s reads the HTTP request itself":      "the examples have no other modules: TestDiagnostics",
	"its request and its result are in env": "the examples have no other modules: TestEnvelopes",
	"a message of protocol buffers is read": "the examples have no other modules: TestMessagesThatCannotBeCarried",
	"%s is a message of the opaque API":     "the examples have no other modules: TestMessagesThatCannotBeCarried",
	"%s is a message, which has no comp":    "the examples have no other modules",
	"requests cannot select %s, since":      "the examples have no other modules: TestMessagesThatCannotBeCarried",
	"value of %s: %s cannot be named":       "what the author's code can spell, generated code can",
	"%s is a message with extensions":       "the examples have no other modules: TestMessagesThatCannotBeCarried",
	"groups cannot be carried":              "the examples have no other modules: TestMessagesThatCannotBeCarried",
	"the message has another field":         "the examples have no other modules: TestMessagesThatCannotBeCarried",
	"the names of the values of %s":         "the examples have no other modules: TestMessagesThatCannotBeCarried",
	"format":                                "a key rather than a message",
}

// Every code, and every message in the source of the scanner and the tag parser, is documented, but for messages that
// announce what is not supported yet.
func TestEveryDiagnosticIsDocumented(t *testing.T) {
	_, mistakes := readDocumentation(t)
	documented := map[string]bool{}
	var messages strings.Builder
	for _, m := range mistakes {
		documented[m.code] = true
		messages.WriteString(m.message)
	}
	literals := literalsIn(t, ".", "*", "../diag", "../../tagparse")
	for _, found := range literals {
		if strings.HasPrefix(found.text, "SCHEMA_") && !documented[found.text] {
			t.Errorf("%s: %s has no section in %s", found.at, found.text, documentation)
		}
	}
	for start := range unreachable {
		if !slices.ContainsFunc(literals, func(l literal) bool { return strings.HasPrefix(l.text, start) }) {
			t.Errorf("no source has the unreachable message %q any more", start)
		}
	}
	for _, found := range literals {
		if !found.message || strings.Contains(found.text, "not supported yet") || isUnreachable(found.text) {
			continue
		}
		var pattern strings.Builder
		for i, part := range verb.Split(found.text, -1) {
			if i > 0 {
				pattern.WriteString(".+")
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		if !regexp.MustCompile(pattern.String()).MatchString(messages.String()) {
			t.Errorf("%s: no example in %s draws the message %q", found.at, documentation, found.text)
		}
	}
}

var verb = regexp.MustCompile(`%[a-z]`)

func isUnreachable(text string) bool {
	for start := range unreachable {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// literal is a string in the source.
type literal struct {
	at      token.Position
	text    string
	message bool // it is what a diagnostic says, or the format of that
}

// messageArguments lists, for functions that report, which of their arguments is the message.
var messageArguments = map[string]int{"fail": 2, "problem": 3, "add": 2, "wrong": 0, "remark": 2, "reportConflict": 3}

// literalsIn finds the strings in the packages in dirs, which may be patterns.
func literalsIn(t *testing.T, dirs ...string) []literal {
	t.Helper()
	var found []literal
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			messages := map[ast.Expr]bool{}
			mark := func(expr ast.Expr) {
				if call, ok := expr.(*ast.CallExpr); ok && len(call.Args) > 0 && calledName(call) == "Sprintf" {
					expr = call.Args[0]
				}
				messages[expr] = true
			}
			ast.Inspect(file, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.KeyValueExpr:
					if key, ok := node.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "message") {
						mark(node.Value)
					}
				case *ast.CallExpr:
					if i, ok := messageArguments[calledName(node)]; ok && i < len(node.Args) {
						mark(node.Args[i])
					}
				case ast.Expr:
					if text, ok := stringOf(node); ok {
						found = append(found, literal{at: fset.Position(node.Pos()), text: text, message: messages[node]})
						return false
					}
				}
				return true
			})
		}
	}
	return found
}

// stringOf is the value of a string literal, or of several that are joined by +.
func stringOf(expr ast.Expr) (string, bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil && expr.Kind == token.STRING
	case *ast.BinaryExpr:
		left, leftOK := stringOf(expr.X)
		right, rightOK := stringOf(expr.Y)
		return left + right, leftOK && rightOK && expr.Op == token.ADD
	}
	return "", false
}

func calledName(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}
