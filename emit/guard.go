package emit

import (
	"go/scanner"
	"go/token"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// version writes a declaration that compiles only with a runtime that supports the generated code.
func (g *generator) version(p *printer) {
	p.comment("The build breaks here when the generator and the runtime are of versions that do not fit each other.")
	p.line("const _ = ", g.gen(runtimeVersion))
	p.line()
}

// runtimeVersion is the constant of package gen that the runtimes have which support the generated code.
const runtimeVersion = "Version1_UpdateRuntimeAndRunGoGenerate"

// guards writes a function that compiles only while the handlers and structs are as they were when the file was
// generated. The compiler checks a function without a name, and makes no code of it.
func (g *generator) guards(p *printer) {
	if len(g.calls) == 0 {
		return
	}
	p.comment("The function below breaks the build when a handler or a struct is no longer what this file was " +
		"generated from. Run go generate then.")
	p.open("func _() {")
	for _, c := range g.calls {
		function, params := g.function(c.handler), []string(nil)
		if c.receiver != nil {
			if c.receiver.generic() {
				continue // NewRegistry converts it to the interface of its handlers
			}
			params = append(params, c.receiver.goType())
			function = "(" + params[0] + ")." + c.handler.Func
		}
		if signature := g.signatureOf(c.handler, params); signature != "" {
			p.line("var _ ", signature, " = ", function)
		}
	}
	g.loaderGuards(p)
	g.structGuards(p)
	p.shut("}")
}

// signatureOf returns the type of a handler or of an adopted function, with parameters in front of its own; empty: it
// has no name here.
func (g *generator) signatureOf(h *model.Handler, params []string) string {
	if h.Adopted == nil {
		return g.signature(h, params)
	}
	text, _ := g.adoptedSignature(h.Adopted, params)
	return text
}

// signature returns the type of a handler, with parameters in front of its own.
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
	if h.Run {
		params = append(params, "*"+g.names.use(pathAQL, "aql")+".Run")
	}
	result := "error"
	if h.Result.Text != "" {
		result = "(" + g.goType(h.Result) + ", error)"
	}
	return "func(" + strings.Join(params, ", ") + ") " + result
}

// structGuards writes a literal of each struct, a line for each field. A literal without keys needs all fields in their
// order; the values mention their names and, through Exactly, their types. Of a struct of another package, which may
// get more fields, only those that travel are mentioned.
func (g *generator) structGuards(p *printer) {
	for i := range g.pkg.Guards {
		guard := &g.pkg.Guards[i]
		typeName := g.goType(guard.Type)
		start, fields := "_ = "+typeName+"{", guard.Fields
		if !guard.Whole {
			start = "_ = []any{"
		}
		if len(fields) > 0 && fields[0].Name == "_" { // usually the field of an operation's tag
			start += g.fieldGuard(typeName, fields[0])
			if fields = fields[1:]; len(fields) > 0 {
				start += ","
			}
		}
		if len(fields) == 0 {
			p.line(start, "}")
			continue
		}
		p.open(start)
		for j, field := range fields {
			end := ","
			if j == len(fields)-1 {
				end = "}"
			}
			p.line(g.fieldGuard(typeName, field), end)
		}
		p.indent--
	}
}

func (g *generator) fieldGuard(typeName string, field model.GuardField) string {
	fieldType := g.goType(field.Type)
	switch {
	case field.Name != "_":
		return g.gen("Exactly") + "[" + fieldType + "](&new(" + typeName + ")." + field.Name + ")"
	case fieldType == "struct{}":
		return "struct{}{}"
	default:
		return "*new(" + fieldType + ")"
	}
}

// goType returns the text of a type, or of a constant, with the import names of this file.
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

// replaceIdentifiers replaces the identifiers of a type, except those that a package qualifies. A qualifier is one that
// a period follows.
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
