package emit

import (
	"cmp"
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
	pathGen       = "github.com/aqltag/aqltag/runtime/gen"
	pathContext   = "context"
	pathTime      = "time"
	pathAQL       = "github.com/aqltag/aqltag/runtime"              // where an update merges
	pathProtoJSON = "google.golang.org/protobuf/encoding/protojson" // of packages with messages
)

// ownImports are the names of those packages, with the name that each gets when the package being generated for has
// declared the usual one.
var ownImports = []struct{ path, name, second string }{
	{pathGen, "gen", "aqlgen"},
	{pathContext, "context", "stdcontext"},
	{pathTime, "time", "stdtime"},
}

// locals are the names of parameters inside generated functions.
var locals = []string{
	"arguments", "changes", "ctx", "current", "err", "receivers", "request", "resource", "response", "result", "whole",
}

// names chooses the package-level identifiers and the import names of the generated file.
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
	for _, list := range [][]string{pkg.Taken, model.Predeclared(), locals} {
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
	return n
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
		if n.elsewhere[name] && !slices.Contains(locals, name) {
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
	return !n.used[name] && !token.IsKeyword(name)
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
