package emit

import (
	"bytes"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// guards writes declarations that compile only while the handlers and structs are as they were when the file was
// generated. They cost nothing at run time.
func (g *generator) guards(p *printer) {
	if len(g.calls) == 0 {
		return
	}
	p.comment("The declarations below break the build when a handler or a struct is no longer what this file was generated from. Run go generate then.")
	p.line()
	for _, c := range g.calls {
		g.at = c.handler.Func
		g.handlerGuard(p, c.handler)
	}
	g.at = ""
	seen := make(map[string]bool)
	for _, sh := range g.reachable() {
		if sh.Kind != model.ShapeStruct || len(sh.Guard) == 0 || sh.Go.Name == "" || ambiguous(sh) {
			continue
		}
		if name := g.guardType(sh); !seen[name] {
			seen[name] = true
			g.structGuard(p, sh, name)
		}
	}
}

// guardType is goType for the package level, where no variable hides a type.
func (g *generator) guardType(sh *model.Shape) string {
	if sh.Go.Name != "" && len(sh.Go.Args) == 0 && (sh.Go.PkgPath == "" || sh.Go.PkgPath == g.pkg.Path) {
		return sh.Go.Name
	}
	return g.goType(sh)
}

func (g *generator) handlerGuard(p *printer, h *model.Handler) {
	var params []string
	function := h.Func
	if h.Receiver != nil {
		function = h.Receiver.Type + "." + h.Func
		params = append(params, h.Receiver.Type)
		if h.Receiver.Pointer {
			params[0] = "*" + params[0]
			function = "(" + params[0] + ")." + h.Func
		}
	}
	if h.Context {
		params = append(params, g.names.use(pathContext, "context")+".Context")
	}
	if h.Request != nil {
		request := g.guardType(h.Request)
		if h.RequestPointer {
			request = "*" + request
		}
		params = append(params, request)
	}
	results := "error"
	if h.Result != nil {
		results = "(" + g.goType(h.Result) + ", error)"
	}
	p.line("var _ func(", strings.Join(params, ", "), ") ", results, " = ", function)
}

// structGuard converts a value of the struct to a type with the fields that it had. The conversion ignores tags, so only
// an added, removed, renamed, retyped or reordered field breaks it.
func (g *generator) structGuard(p *printer, sh *model.Shape, name string) {
	rows := make([]column, len(sh.Guard))
	for i, field := range sh.Guard {
		text := g.qualified(field.Type)
		if field.Embedded {
			rows[i] = column{left: text}
		} else {
			rows[i] = column{field.Name, text}
		}
	}
	p.line()
	p.open("var _ = struct {")
	p.columns(rows, "")
	p.shut("}(", name, "{})")
}

// qualified is the text of a type with the import names of this file.
func (g *generator) qualified(t model.GoType) string {
	if strings.Count(t.Text, "{") > strings.Count(t.Text, "{}") {
		g.loose = true
	}
	if len(t.Imports) == 0 && !strings.ContainsAny(t.Text, "\"`") {
		return t.Text
	}
	local := make(map[string]string)
	for _, i := range t.Imports {
		local[i.Name] = g.names.use(i.Path, i.Name)
	}
	var out strings.Builder
	var s scanner.Scanner
	src := []byte(t.Text)
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, 0)
	copied := 0
	previous, held, heldAt := token.ILLEGAL, "", 0
	for {
		pos, tok, text := s.Scan()
		at := file.Offset(pos)
		if tok == token.STRING { // the tag of a field of a struct without a name, which the guard does not compare
			out.Write(bytes.TrimRight(src[copied:at], " "))
			copied = at + len(text)
		}
		if tok == token.PERIOD && held != "" {
			out.Write(src[copied:heldAt])
			out.WriteString(local[held])
			copied = heldAt + len(held)
		}
		held = ""
		if tok == token.IDENT && previous != token.PERIOD && local[text] != "" {
			held, heldAt = text, at
		}
		previous = tok
		if tok == token.EOF {
			break
		}
	}
	out.Write(src[copied:])
	return out.String()
}

// ambiguous reports whether the guard of a struct mentions two packages of one name in one type, which its text cannot
// tell apart.
func ambiguous(sh *model.Shape) bool {
	for _, field := range sh.Guard {
		paths := make(map[string]string)
		for _, i := range field.Type.Imports {
			if path, ok := paths[i.Name]; ok && path != i.Path {
				return true
			}
			paths[i.Name] = i.Path
		}
	}
	return false
}

// reachable lists the shapes of all requests and results, each once, in the order in which they are met.
func (g *generator) reachable() []*model.Shape {
	var list []*model.Shape
	visited := make(map[*model.Shape]bool)
	var visit func(sh *model.Shape)
	visit = func(sh *model.Shape) {
		if sh == nil || visited[sh] {
			return
		}
		visited[sh] = true
		list = append(list, sh)
		for _, arg := range sh.Go.Args {
			visit(arg)
		}
		for _, next := range neighbours(sh) {
			visit(next)
		}
	}
	for i := range g.pkg.Handlers {
		visit(g.pkg.Handlers[i].Request)
		visit(g.pkg.Handlers[i].Result)
	}
	return list
}

// collectEnums finds the Go types behind the wire types that are enums.
func (g *generator) collectEnums() {
	for _, sh := range g.reachable() {
		if len(sh.Enum) > 0 && sh.Wire.Type != "" && g.enumTypes[sh.Wire.Type] == nil {
			g.enumTypes[sh.Wire.Type] = sh
		}
	}
}
