package propose

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/atomicfile"
	"github.com/aqltag/aqltag/model"
)

// site is where a function is declared in its file.
type site struct {
	name, receiver string
	line           int // of the name
}

func siteOf(decl *ast.FuncDecl, at model.Position) site {
	return site{name: decl.Name.Name, receiver: declaredReceiver(decl), line: at.Line}
}

// Write writes the directives of the candidates that choose accepts (nil: all) above their functions, and returns the
// files that it changed, sorted. Files of Locked candidates are not changed. Only whole comment lines are added, with
// the indentation and line ends of the function. A file keeps its mode and is never seen half-written. A file that
// changed since it was read, or that may not be written, is an error, and then no file is changed.
func (p Proposals) Write(choose func(Candidate) bool) ([]string, error) {
	edits := make(map[string][]Candidate)
	for _, pkg := range p.Packages {
		for _, c := range pkg.Candidates {
			if c.Locked == "" && (choose == nil || choose(c)) {
				edits[c.Position.File] = append(edits[c.Position.File], c)
			}
		}
	}
	files := slices.Sorted(maps.Keys(edits))
	changed := make(map[string][]byte)
	var faults []error
	for _, file := range files {
		content, err := p.edited(file, edits[file])
		if err != nil {
			faults = append(faults, err)
		}
		changed[file] = content
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	for i, file := range files {
		if err := replaceFile(file, changed[file]); err != nil {
			return files[:i], fmt.Errorf("writing directives: %w", err)
		}
	}
	return files, nil
}

// edited returns the new content of a file.
func (p Proposals) edited(file string, candidates []Candidate) ([]byte, error) {
	disk, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("writing directives: %w", err)
	}
	if !bytes.Equal(disk, p.sources[file]) {
		return nil, fmt.Errorf("writing directives: %s changed while it was read; run the command again", file)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("writing directives: %w", err)
	}
	if info.Mode().Perm()&0o200 == 0 {
		return nil, fmt.Errorf("writing directives: %s is read-only", file)
	}
	var insertions []insertion
	source := parseEditable(disk)
	for _, c := range candidates {
		at, err := source.insertion(c.site, c.Directives)
		if err != nil {
			return nil, fmt.Errorf("writing directives to %s: %s: %w", file, c.Function, err)
		}
		insertions = append(insertions, at)
	}
	content := apply(disk, insertions)
	if err := confirm(content, candidates); err != nil {
		return nil, fmt.Errorf("writing directives to %s: %w", file, err)
	}
	return content, nil
}

// editable is a file that directives can be written into.
type editable struct {
	source []byte
	fset   *token.FileSet
	file   *ast.File
}

func parseEditable(source []byte) *editable {
	e := &editable{source: source, fset: token.NewFileSet()}
	e.file, _ = parser.ParseFile(e.fset, "", source, parser.ParseComments|parser.SkipObjectResolution)
	return e
}

// insertion is text to insert in front of a line.
type insertion struct {
	offset int
	text   string
}

// apply inserts all of list.
func apply(source []byte, list []insertion) []byte {
	slices.SortStableFunc(list, func(a, b insertion) int { return cmp.Compare(a.offset, b.offset) })
	var out bytes.Buffer
	last := 0
	for _, in := range list {
		out.Write(source[last:in.offset])
		out.WriteString(in.text)
		last = in.offset
	}
	out.Write(source[last:])
	return out.Bytes()
}

// insertion returns comment lines to insert above a function: at the end of its doc comment, separated from its text as
// gofmt has it.
func (e *editable) insertion(at site, lines []string) (insertion, error) {
	decl := e.find(at)
	if decl == nil {
		return insertion{}, errors.New("its declaration is not where it was read")
	}
	above := ""
	if decl.Doc != nil {
		above = decl.Doc.List[len(decl.Doc.List)-1].Text
	}
	offset := e.fset.PositionFor(decl.Pos(), false).Offset
	start := bytes.LastIndexByte(e.source[:offset], '\n') + 1
	indent := string(e.source[start:offset])
	if strings.Trim(indent, " \t") != "" || start == 0 {
		return insertion{}, errors.New("something stands in front of it on its line; put it on a line of its own")
	}
	end := "\n"
	if start >= 2 && e.source[start-2] == '\r' {
		end = "\r\n"
	}
	var b strings.Builder
	if strings.HasPrefix(above, "//") && !isDirectiveComment(above) {
		b.WriteString(indent + "//" + end)
	}
	for _, line := range lines {
		b.WriteString(indent + line + end)
	}
	return insertion{offset: start, text: b.String()}, nil
}

// find returns the declaration of a function.
func (e *editable) find(at site) *ast.FuncDecl {
	if e.file == nil {
		return nil
	}
	for _, decl := range e.file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if ok && fn.Name.Name == at.name && (at.line == 0 || e.line(fn.Name.Pos()) == at.line) &&
			declaredReceiver(fn) == at.receiver {
			return fn
		}
	}
	return nil
}

// declaredReceiver returns the name of the type in a method's declaration.
func declaredReceiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	expr := fn.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

func (e *editable) line(pos token.Pos) int { return e.fset.PositionFor(pos, false).Line }

// directiveComment matches what go/ast takes for a directive and not for text.
var directiveComment = regexp.MustCompile(`^//(line |extern |export |[a-z0-9]+:[a-z0-9])`)

func isDirectiveComment(text string) bool { return directiveComment.MatchString(text) }

// confirm returns an error if the edited file does not declare every candidate with its directives.
func confirm(content []byte, candidates []Candidate) error {
	e := parseEditable(content)
	for _, c := range candidates {
		at := c.site
		at.line = 0
		decl := e.find(at)
		for _, line := range c.Directives {
			if decl == nil || decl.Doc == nil ||
				!slices.ContainsFunc(decl.Doc.List, func(comment *ast.Comment) bool { return comment.Text == line }) {
				return fmt.Errorf("%s would not have its directives; write them by hand", c.Function)
			}
		}
	}
	return nil
}

// replaceFile gives a file new content and keeps its mode. A symbolic link stays one.
func replaceFile(path string, content []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, content, info.Mode().Perm())
}
