package emit

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// guards writes functions that compile only while the structs are as they were when the file was generated. Nothing calls
// them, so the linker leaves them out. The handlers are guarded by the functions that call them.
func (g *generator) guards(p *printer) {
	if len(g.pkg.Guards) == 0 {
		return
	}
	p.comment("The functions below are never called. They break the build when a struct is no longer what this file was generated from. Run go generate then.")
	p.line()
	for i := range g.pkg.Guards {
		g.structGuard(p, &g.pkg.Guards[i])
	}
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
