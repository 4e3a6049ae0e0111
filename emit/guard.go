package emit

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// guards writes declarations that compile only while the handlers and structs are as they were when the file was
// generated. Nothing mentions them, so the linker leaves them out.
func (g *generator) guards(p *printer) {
	if len(g.calls) == 0 {
		return
	}
	p.comment("The declarations below break the build when a handler or a struct is no longer what this file was generated from. Run go generate then.")
	p.line()
	for _, c := range g.calls {
		if c.generic() {
			continue // NewRegistry holds the guard
		}
		function, params := c.handler.Func, []string(nil)
		if c.receiver != nil {
			params = append(params, c.receiver.goType())
			function = "(" + params[0] + ")." + function
		}
		p.line("var _ ", g.signature(c.handler, params), " = ", function)
	}
	if len(g.pkg.Guards) > 0 {
		p.line()
	}
	for i := range g.pkg.Guards {
		g.structGuard(p, &g.pkg.Guards[i])
	}
}

// signature is the type of a handler, with parameters in front of its own.
func (g *generator) signature(h *model.Handler, params []string) string {
	if h.Context {
		params = append(params, g.names.use(pathContext, "context")+".Context")
	}
	if h.Request.Text != "" {
		request := g.goType(h.Request)
		if h.RequestPointer {
			request = "*" + request
		}
		params = append(params, request)
	}
	for i, argument := range h.Arguments {
		text := g.goType(argument.Type)
		if h.Variadic && i == len(h.Arguments)-1 {
			text = "..." + strings.TrimPrefix(text, "[]")
		}
		params = append(params, text)
	}
	result := "error"
	if h.Result.Text != "" {
		result = "(" + g.goType(h.Result) + ", error)"
	}
	return "func(" + strings.Join(params, ", ") + ") " + result
}

// structGuard writes a function that says all there is to a struct: a literal without names needs every field in its place,
// the fields go by their names, and pointers to them are of exactly one type.
func (g *generator) structGuard(p *printer, guard *model.Guard) {
	typeName := g.goType(guard.Type)
	v := "v"
	if slices.Contains(strings.FieldsFunc(typeName, func(r rune) bool { return strings.ContainsRune(".[], *", r) }), v) {
		v = "value"
	}
	results := []string{}
	var values, pointers []string
	for _, field := range guard.Fields {
		text := g.goType(field.Type)
		switch {
		case field.Name != "_":
			value := v + "." + field.Name
			results, pointers = append(results, "*"+text), append(pointers, "&"+value)
			if field.Locks {
				value = "*new(" + text + ")"
			}
			values = append(values, value)
		case text == "struct{}":
			values = append(values, "struct{}{}")
		default:
			values = append(values, "*new("+text+")")
		}
	}
	if guard.Whole {
		results = append([]string{typeName}, results...)
		pointers = append([]string{typeName + "{" + strings.Join(values, ", ") + "}"}, pointers...)
	}
	list := strings.Join(results, ", ")
	if len(results) != 1 {
		list = "(" + list + ")"
	}
	p.open("var _ = func(", v, " *", typeName, ") ", list, " {")
	p.line("return ", strings.Join(pointers, ", "))
	p.shut("}")
}

// goType is the text of a type, or of a constant, with the import names of this file.
func (g *generator) goType(t model.GoType) string {
	if strings.Count(t.Text, "{") > strings.Count(t.Text, "{}") {
		g.loose = true
	}
	if len(t.Imports) == 0 {
		return t.Text
	}
	local := make(map[string]string)
	for _, i := range t.Imports {
		local[i.Name] = g.names.use(i.Path, i.Name)
	}
	return replaceIdentifiers(t.Text, func(name string, qualifier bool) string {
		if use, ok := local[name]; ok && qualifier {
			return use
		}
		return name
	})
}

// replaceIdentifiers replaces the identifiers of a type, except those that a package qualifies. A qualifier is one that a
// period follows.
func replaceIdentifiers(text string, replace func(name string, qualifier bool) string) string {
	var out strings.Builder
	var s scanner.Scanner
	src := []byte(text)
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, 0)
	copied := 0
	previous, held, heldAt := token.ILLEGAL, "", 0
	for {
		pos, tok, name := s.Scan()
		if held != "" {
			out.Write(src[copied:heldAt])
			out.WriteString(replace(held, tok == token.PERIOD))
			copied, held = heldAt+len(held), ""
		}
		if tok == token.IDENT && previous != token.PERIOD {
			held, heldAt = name, file.Offset(pos)
		}
		if previous = tok; tok == token.EOF {
			break
		}
	}
	out.Write(src[copied:])
	return out.String()
}
