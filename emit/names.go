package emit

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aqltag/aqltag/model"
)

// The packages that generated code may import on its own account.
const (
	pathAQL     = "github.com/aqltag/aqltag/runtime"
	pathModel   = "github.com/aqltag/aqltag/model"
	pathWire    = "github.com/aqltag/aqltag/runtime/wire"
	pathContext = "context"
	pathMaps    = "maps"
	pathRegexp  = "regexp"
	pathStrconv = "strconv"
	pathTime    = "time"
)

// ownImports are the names of those packages, with the name that each gets when the package being generated for has
// declared the usual one.
var ownImports = []struct{ path, name, second string }{
	{pathAQL, "aql", "aqlruntime"},
	{pathModel, "model", "aqlmodel"},
	{pathWire, "wire", "aqlwire"},
	{pathContext, "context", "stdcontext"},
	{pathMaps, "maps", "stdmaps"},
	{pathRegexp, "regexp", "stdregexp"},
	{pathStrconv, "strconv", "stdstrconv"},
	{pathTime, "time", "stdtime"},
}

// locals are the names of variables, fields and parameters inside generated functions; numbered ones count too.
var locals = []string{
	"b", "c", "ctx", "element", "entries", "err", "f", "i", "inner", "key", "list", "n", "name", "ok", "p", "r", "request",
	"result", "s", "seen", "t", "v", "value", "w", "x",
}

// predeclared are the identifiers of Go's universe that generated code relies on.
var predeclared = []string{
	"any", "append", "bool", "byte", "delete", "error", "false", "float32", "float64", "int", "int16", "int32", "int64",
	"int8", "len", "make", "new", "nil", "string", "true", "uint", "uint16", "uint32", "uint64", "uint8",
}

// names hands out the package-level identifiers and the import names of the generated file.
type names struct {
	used      map[string]bool
	elsewhere map[string]bool // used, but only by imports of the package's other files
	imports   map[string]*imported
}

// imported is a package that generated code may mention.
type imported struct {
	path string
	name string
	real string // the package's own name
	used bool
}

func newNames(pkg *model.Package) *names {
	n := &names{used: make(map[string]bool), elsewhere: make(map[string]bool), imports: make(map[string]*imported)}
	for _, list := range [][]string{pkg.Taken, predeclared, locals} {
		for _, name := range list {
			n.used[name] = true
		}
	}
	// What other files import is taken at package level, but each file may import it.
	for _, name := range pkg.Imported {
		n.elsewhere[name] = true
	}
	for _, own := range ownImports {
		n.imports[own.path] = &imported{path: own.path, name: n.importName(own.name, own.second), real: own.name}
	}
	// The alias that the project's own documentation uses is not the package's folder name.
	n.imports[pathAQL].real = ""
	return n
}

// isLocal reports whether generated functions may have a variable called name.
func isLocal(name string) bool {
	return slices.Contains(locals, strings.TrimRight(name, "0123456789"))
}

// unique takes the first candidate that is free, or else the last one with a number.
func (n *names) unique(candidates ...string) string {
	for _, name := range candidates {
		if n.free(name) {
			n.used[name] = true
			return name
		}
	}
	for i := 2; ; i++ {
		if name := candidates[len(candidates)-1] + strconv.Itoa(i); n.free(name) {
			n.used[name] = true
			return name
		}
	}
}

// importName is unique for the name of an import.
func (n *names) importName(candidates ...string) string {
	for _, name := range candidates {
		if n.elsewhere[name] && !isLocal(name) {
			delete(n.elsewhere, name)
			return name
		}
		if n.free(name) {
			break
		}
	}
	return n.unique(candidates...)
}

func (n *names) free(name string) bool {
	return !n.used[name] && !token.IsKeyword(name) && !isLocal(name)
}

// use returns the name under which generated code mentions a package.
func (n *names) use(path, name string) string {
	p := n.imports[path]
	if p == nil {
		p = &imported{path: path, name: n.importName(name, name+"pkg"), real: name}
		n.imports[path] = p
	}
	p.used = true
	return p.name
}

// printImports writes the import declaration: the standard library first, then the others, each sorted by path.
func (n *names) printImports(p *printer) {
	var groups [2][]*imported
	for _, i := range n.imports {
		if !i.used {
			continue
		}
		group := 0
		if first, _, _ := strings.Cut(i.path, "/"); strings.Contains(first, ".") {
			group = 1
		}
		groups[group] = append(groups[group], i)
	}
	p.open("import (")
	for at, group := range groups {
		slices.SortFunc(group, func(a, b *imported) int { return cmp.Compare(a.path, b.path) })
		if at > 0 && len(groups[0]) > 0 && len(group) > 0 {
			p.line()
		}
		for _, i := range group {
			if i.name == i.real && strings.HasSuffix("/"+i.path, "/"+i.name) {
				p.line(strconv.Quote(i.path))
			} else {
				p.line(i.name, " ", strconv.Quote(i.path))
			}
		}
	}
	p.shut(")")
}

// aliasType gives a type whose name is that of a local variable a second name, by which generated functions can mention
// it.
func (g *generator) aliasType(name string) string {
	alias, ok := g.aliases[name]
	if !ok {
		alias = g.names.unique(name + "Type")
		g.aliases[name] = alias
	}
	return alias
}

// goName is the source text of a named type.
func (g *generator) goName(name model.GoName) string {
	text := name.Name
	switch {
	case name.PkgPath != "" && name.PkgPath != g.pkg.Path:
		text = g.names.use(name.PkgPath, cmp.Or(name.PkgName, lastElement(name.PkgPath))) + "." + text
	case isLocal(text) && len(name.Args) == 0:
		text = g.aliasType(text)
	}
	if len(name.Args) > 0 {
		args := make([]string, len(name.Args))
		for i, arg := range name.Args {
			args[i] = g.goType(arg)
		}
		text += "[" + strings.Join(args, ", ") + "]"
	}
	return text
}

// goType is the source text of the Go type of a shape.
func (g *generator) goType(sh *model.Shape) string {
	if sh.Kind == model.ShapePatch {
		return g.names.use(pathAQL, "aql") + ".Patch[" + g.goType(sh.Elem) + "]"
	}
	if sh.Go.Name != "" {
		return g.goName(sh.Go)
	}
	switch sh.Kind {
	case model.ShapeBool, model.ShapeString, model.ShapeAny:
		return string(sh.Kind)
	case model.ShapeInt, model.ShapeUint, model.ShapeFloat:
		return numberType(sh)
	case model.ShapeBytes:
		return "[]byte"
	case model.ShapeTime:
		return g.names.use(pathTime, "time") + ".Time"
	case model.ShapePointer:
		return "*" + g.goType(sh.Elem)
	case model.ShapeSlice:
		return "[]" + g.goType(sh.Elem)
	case model.ShapeArray:
		return "[" + strconv.Itoa(sh.Len) + "]" + g.goType(sh.Elem)
	case model.ShapeMap:
		return "map[" + g.goType(g.keyShape(sh)) + "]" + g.goType(sh.Elem)
	default:
		g.fail("a struct type without a name is supported only as the type of a field; give it a name")
		return "any"
	}
}

var stringShape = &model.Shape{Kind: model.ShapeString}

func (g *generator) keyShape(sh *model.Shape) *model.Shape {
	if sh.Key == nil {
		return stringShape
	}
	if sh.Key.Kind != model.ShapeString {
		g.fail("map keys of kind %s are not supported", sh.Key.Kind)
	}
	return sh.Key
}

func numberType(sh *model.Shape) string {
	if sh.Bits == 0 {
		if sh.Kind == model.ShapeFloat {
			return "float64"
		}
		return string(sh.Kind)
	}
	return string(sh.Kind) + strconv.Itoa(sh.Bits)
}

// title is the name by which functions for a shape are called: Todo, TypesStatus for a type of another package,
// PageOfTodo for Page[Todo].
func (g *generator) title(sh *model.Shape) string {
	if sh.Go.Name == "" {
		switch sh.Kind {
		case model.ShapePointer:
			return g.title(sh.Elem)
		case model.ShapeSlice, model.ShapeArray:
			return g.title(sh.Elem) + "List"
		case model.ShapeMap:
			return g.title(sh.Elem) + "Map"
		case model.ShapeInt, model.ShapeUint, model.ShapeFloat:
			return upperFirst(numberType(sh))
		default:
			return upperFirst(string(sh.Kind))
		}
	}
	text := upperFirst(sh.Go.Name)
	if sh.Go.PkgPath != "" && sh.Go.PkgPath != g.pkg.Path {
		text = upperFirst(sh.Go.PkgName) + text
	}
	for i, arg := range sh.Go.Args {
		text += [2]string{"Of", "And"}[min(i, 1)] + g.title(arg)
	}
	return text
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func upperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// lowerFirst makes an unexported identifier of an exported one: Service → service, URLStore → urlStore, ID → id.
func lowerFirst(s string) string {
	runes := []rune(s)
	for i, r := range runes {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	return string(runes)
}

// fail notes why no code can be written. File returns all reasons.
func (g *generator) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if g.at != "" {
		err = fmt.Errorf("%s: %w", g.at, err)
	}
	for _, known := range g.errs {
		if known.Error() == err.Error() {
			return
		}
	}
	g.errs = append(g.errs, err)
}
