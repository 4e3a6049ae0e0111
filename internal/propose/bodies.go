package propose

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/naming"
)

// Bodies are the functions of a package with their bodies, as evidence of what they do. Bodies are not type-checked.
type Bodies struct {
	pkg       *types.Package
	functions map[string]*frame // "Get" and "Store.Get"

	behind map[string]map[string]bool // verbs that end a name, by receiver and first word: those of ImageList, ImageTag
}

// NewBodies indexes the functions of a package. files are those of the package, parsed with bodies.
func NewBodies(pkg *types.Package, files []*ast.File) *Bodies {
	b := &Bodies{pkg: pkg, functions: make(map[string]*frame), behind: make(map[string]map[string]bool)}
	for _, file := range files {
		imports := make(map[string]string)
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			name := path[strings.LastIndexByte(path, '/')+1:]
			for _, imported := range pkg.Imports() {
				if imported.Path() == path {
					name = imported.Name()
				}
			}
			if spec.Name != nil {
				name = spec.Name.Name
			}
			imports[name] = path
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				key := fn.Name.Name
				if fn.Recv != nil {
					key = declaredReceiver(fn) + "." + key
				}
				b.functions[key] = newFrame(b, fn, imports)
				b.noteOrder(fn)
			}
		}
	}
	return b
}

// noteOrder notes the verb that ends the name of a function.
func (b *Bodies) noteOrder(fn *ast.FuncDecl) {
	list := strings.Split(naming.SnakeCase(fn.Name.Name), "_")
	last := lastWord(list)
	if _, verb := knownWords().verbs[last]; verb && len(list) > 1 && fn.Name.IsExported() {
		at := declaredReceiver(fn) + "." + list[0]
		if b.behind[at] == nil {
			b.behind[at] = make(map[string]bool)
		}
		b.behind[at][last] = true
	}
}

// isNoun reports whether the methods of a type have several verbs behind a word, which is their object then.
func (b *Bodies) isNoun(receiver, word string) bool {
	return b != nil && len(b.behind[receiver+"."+word]) >= 3
}

// origin is what a local name of a function stands for.
type origin int

const (
	elsewhere origin = iota // a value that others may see
	receiver
	parameter
	fresh   // only ever a value that the function made
	literal // a function literal
	rows    // of a SELECT statement
)

// frame is a function with the names that it declares.
type frame struct {
	*Bodies
	decl    *ast.FuncDecl
	imports map[string]string // path by name
	locals  map[string]origin
	once    map[string]ast.Expr // what a name has for its value wherever it is used; nil: that is not known
	pointer bool                // the receiver is a pointer
}

func newFrame(b *Bodies, fn *ast.FuncDecl, imports map[string]string) *frame {
	f := &frame{Bodies: b, decl: fn, imports: imports, locals: make(map[string]origin)}
	f.once = f.assignedOnce()
	if fn.Recv != nil {
		f.declare(fn.Recv, receiver)
		_, f.pointer = fn.Recv.List[0].Type.(*ast.StarExpr)
	}
	f.declare(fn.Type.Params, parameter)
	f.declare(fn.Type.Results, elsewhere)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			f.declare(n.Params, elsewhere)
			f.declare(n.Results, elsewhere)
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok {
					f.assign(name.Name, f.originOf(n, i), n.Tok == token.DEFINE)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				from := elsewhere
				if _, pointer := n.Type.(*ast.StarExpr); len(n.Values) == 0 && !pointer {
					from = fresh
				} else if i < len(n.Values) {
					from = f.made(n.Values[i])
				}
				f.assign(name.Name, from, true)
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if name, ok := e.(*ast.Ident); ok {
					f.assign(name.Name, elsewhere, n.Tok == token.DEFINE)
				}
			}
		}
		return true
	})
	return f
}

func (f *frame) declare(list *ast.FieldList, from origin) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			f.locals[name.Name] = from
		}
	}
}

// assign notes where a value of a name comes from. A name with values of several origins has none that is known.
func (f *frame) assign(name string, from origin, declares bool) {
	known, local := f.locals[name]
	switch {
	case name == "_" || !local && !declares:
	case !local:
		f.locals[name] = from
	case known != from && known != receiver && known != parameter:
		f.locals[name] = elsewhere
	}
}

// originOf is the origin of the i-th value of an assignment.
func (f *frame) originOf(n *ast.AssignStmt, i int) origin {
	if i == 0 && len(n.Rhs) == 1 {
		if call, ok := n.Rhs[0].(*ast.CallExpr); ok && f.selects(call) {
			return rows
		}
	}
	if len(n.Rhs) != len(n.Lhs) {
		return elsewhere
	}
	return f.made(n.Rhs[i])
}

// made is the origin of an expression.
func (f *frame) made(e ast.Expr) origin {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit, *ast.BasicLit:
		return fresh
	case *ast.FuncLit:
		return literal
	case *ast.UnaryExpr:
		if _, ok := e.X.(*ast.CompositeLit); ok && e.Op == token.AND {
			return fresh
		}
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.Ident); ok && f.builtin(name.Name) {
			switch name.Name {
			case "make", "new":
				return fresh
			case "append":
				return f.rootOf(e.Args[0], 0)
			}
		}
		if f.selects(e) {
			return rows
		}
	}
	return elsewhere
}

// builtin reports whether a name is not declared in the package.
func (f *frame) builtin(name string) bool {
	_, local := f.locals[name]
	return !local && f.pkg.Scope().Lookup(name) == nil && types.Universe.Lookup(name) != nil
}

// rootOf is the origin of the name that a chain of at most depth selectors and indexes begins with.
func (f *frame) rootOf(e ast.Expr, depth int) origin {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return f.locals[e.Name]
	case *ast.SelectorExpr:
		if depth > 0 {
			return f.rootOf(e.X, depth-1)
		}
	case *ast.IndexExpr:
		if depth > 0 {
			return f.rootOf(e.X, depth-1)
		}
	case *ast.StarExpr:
		if depth > 0 {
			return f.rootOf(e.X, depth-1)
		}
	}
	return elsewhere
}

// shared reports whether a chain begins with the receiver or a variable of the package.
func (f *frame) shared(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		from, local := f.locals[e.Name]
		if local {
			return from == receiver
		}
		_, ok := f.pkg.Scope().Lookup(e.Name).(*types.Var)
		return ok
	case *ast.SelectorExpr:
		return f.shared(e.X)
	case *ast.IndexExpr:
		return f.shared(e.X)
	case *ast.StarExpr:
		return f.shared(e.X)
	case *ast.CallExpr: // s.client().Get
		if s, ok := e.Fun.(*ast.SelectorExpr); ok {
			return f.shared(s.X)
		}
	}
	return false
}

// packageOf is the path of the package that an expression names, empty if it names none.
func (f *frame) packageOf(e ast.Expr) string {
	name, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	if _, local := f.locals[name.Name]; local {
		return ""
	}
	return f.imports[name.Name]
}

// imported is what a name of another package stands for, nil if that is not known.
func (f *frame) imported(path, name string) types.Object {
	for _, p := range f.pkg.Imports() {
		if p.Path() == path {
			return p.Scope().Lookup(name)
		}
	}
	return nil
}

// statement is the first word of an SQL statement, in upper case.
func statement(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if fields := strings.Fields(line); len(fields) > 0 && !strings.HasPrefix(line, "--") {
			return strings.ToUpper(fields[0])
		}
	}
	return ""
}

// writingStatement returns the word of a SQL statement that may change something; empty: there is none.
func writingStatement(text string) string {
	words := []string{statement(text)}
	if words[0] == "WITH" { // a part of it may write
		words = strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r < 'A' || r > 'Z' })
	}
	for _, word := range words {
		switch word {
		case "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "TRUNCATE", "DROP", "ALTER", "CREATE",
			"CALL", "EXEC", "EXECUTE", "DO", "GRANT", "REVOKE", "LOCK":
			return word
		}
	}
	return ""
}

// sqlCall matches what may be the call of a function in SQL.
var sqlCall = regexp.MustCompile(`([A-Z_][A-Z0-9_]*) ?\(`)

// pureSQL are the functions of SQL that change nothing, and the words that may stand before a parenthesis.
var pureSQL = strings.Fields("COUNT SUM MIN MAX AVG COALESCE LOWER UPPER LENGTH NOW DATE ROUND ABS NULLIF SUBSTR " +
	"TRIM IFNULL CONCAT CAST IN EXISTS ANY ALL AND OR NOT WHERE ON SELECT FROM JOIN USING OVER AS DISTINCT VALUES BY LIKE")

// callsInSQL reports whether a SELECT may call a function that is not known to change nothing.
func callsInSQL(upper string) bool {
	for _, found := range sqlCall.FindAllStringSubmatch(upper, -1) {
		if !slices.Contains(pureSQL, found[1]) {
			return true
		}
	}
	return false
}

// selects reports whether a call runs one SELECT statement, which it has as a constant.
func (f *frame) selects(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch s.Sel.Name {
	case "Query", "QueryContext", "QueryRow", "QueryRowContext":
	default:
		return false
	}
	for _, arg := range call.Args[:min(2, len(call.Args))] {
		text, whole := f.text(arg)
		if whole {
			return onlySelects(text)
		}
		if _, concatenated := ast.Unparen(arg).(*ast.BinaryExpr); concatenated {
			return false
		}
	}
	return false
}

// onlySelects reports whether a text is one SELECT statement that changes nothing.
func onlySelects(text string) bool {
	upper := " " + strings.Join(strings.Fields(strings.ToUpper(text)), " ") + " "
	return statement(text) == "SELECT" && !callsInSQL(upper) &&
		!strings.Contains(upper, " INTO ") && !strings.Contains(upper, " FOR ") && // FOR UPDATE locks rows
		!strings.Contains(strings.TrimSuffix(strings.TrimSpace(upper), ";"), ";")
}
