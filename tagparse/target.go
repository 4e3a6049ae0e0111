package tagparse

import (
	"fmt"
	"go/token"
	"strings"
)

// Target is what an adopt directive names: a function, or a method of a type. Offsets are in bytes of the line.
type Target struct {
	Package string // name of an import, or its path; empty: the package of the directive
	Type    string // empty: Func is a function, or a method of a type that is called Package
	Func    string
	Pointer bool // the receiver is written with a star
	Parens  bool // the receiver is written in parentheses

	PackageOffset, TypeOffset, FuncOffset int
	Offset, End                           int // of all of it
}

// parseAdopt reads what follows the name of an adopt directive: the target, a blank, and the items of an operation.
func (d *Directive) parseAdopt() []Problem {
	text, rest := d.Text, ""
	if end := strings.IndexAny(d.Text, " \t"); end >= 0 {
		text, rest = d.Text[:end], d.Text[end:]
	}
	target, ok := parseTarget(text, d.TextOffset)
	if !ok {
		return []Problem{{
			Offset: d.TextOffset, End: d.TextOffset + len(text), Code: codeType,
			Message:  fmt.Sprintf("directive //aql:adopt needs a method or a function, not %q", text),
			Expected: "(*package.Type).Method or package.Function", Actual: text,
			Suggestion: usage("adopt"),
		}}
	}
	d.Target = target
	trimmed := strings.TrimLeft(rest, " \t")
	if trimmed == "" {
		return nil // a missing category is reported where the function is known
	}
	return d.parseItems(trimmed, d.TextOffset+len(d.Text)-len(trimmed), Adopt)
}

// parseTarget reads (*package.Type).Method, (package.Type).Method, package.Type.Method and package.Function. The
// package is a name or an import path; a type without one belongs to the package of the directive.
func parseTarget(text string, offset int) (Target, bool) {
	t := Target{Offset: offset, End: offset + len(text), FuncOffset: offset}
	var owner, name string
	at := offset // of owner
	if inner, found := strings.CutPrefix(text, "("); found {
		var method string
		if owner, method, t.Parens = strings.Cut(inner, ")"); !t.Parens {
			return t, false
		}
		at++
		t.FuncOffset = at + len(owner) + len(").")
		if owner, t.Pointer = strings.CutPrefix(owner, "*"); t.Pointer {
			at++
		}
		if name, found = strings.CutPrefix(method, "."); !found {
			return t, false
		}
		t.Func = name
		t.Package, t.Type, t.TypeOffset = splitName(owner, at)
	} else {
		owner, t.Func, t.FuncOffset = splitName(text, at)
		if t.Package = owner; !strings.Contains(owner, "/") && strings.Contains(owner, ".") {
			t.Package, t.Type, t.TypeOffset = splitName(owner, at)
		}
	}
	t.PackageOffset = at
	if t.Parens && !token.IsIdentifier(t.Type) || t.Type != "" && !token.IsIdentifier(t.Type) {
		return t, false
	}
	if !t.Parens && t.Package == "" || t.Package != "" && !isPackage(t.Package) {
		return t, false
	}
	return t, token.IsIdentifier(t.Func)
}

// splitName cuts a text at the last period behind its last slash, and returns what stands before it and after it.
// Without a period, all of it stands after it.
func splitName(text string, offset int) (qualifier, name string, nameOffset int) {
	slash := strings.LastIndexByte(text, '/')
	if dot := strings.LastIndexByte(text[slash+1:], '.'); dot >= 0 {
		dot += slash + 1
		return text[:dot], text[dot+1:], offset + dot + 1
	}
	return "", text, offset
}

// isPackage reports whether a text can be the name or the path of a package.
func isPackage(text string) bool {
	if token.IsIdentifier(text) {
		return true
	}
	for element := range strings.SplitSeq(text, "/") {
		if element == "" || strings.ContainsAny(element, "()*[]{}\"',=") {
			return false
		}
	}
	return strings.Contains(text, "/")
}
