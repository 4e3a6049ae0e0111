package emit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// body is a function being written.
type body struct {
	*generator
	*printer
	title   string // names what belongs to the struct at hand
	base    string // the struct at hand, as an expression
	seen    string // the bit set of given members
	bits    map[string]int
	tracked int
	patch   bool         // null is not absence: it is refused where it cannot remove
	update  bool         // the struct at hand is the request of an UPDATE operation
	inline  *model.Shape // the type whose function this is, unless it is a struct
	depth   int          // of loops, for the names of their variables
}

// functionKind says what a generated function does with a value.
type functionKind int

const (
	readFunction functionKind = iota
	inputFunction
	mergeFunction
	writeFunction
)

type functionKey struct {
	shape *model.Shape
	kind  functionKind
}

// function is a function for one shape.
type function struct {
	functionKey
	title string
	name  string
	at    string
	text  []byte
}

// functionFor names the function that does one thing with a shape, and sees to it that it is written.
func (g *generator) functionFor(kind functionKind, sh *model.Shape) string {
	key := functionKey{sh, kind}
	f := g.functions[key]
	if f == nil {
		title := g.title(sh)
		verb := [...]string{"read", "read", "merge", "write"}[kind]
		suffix := ""
		if kind == inputFunction {
			suffix = "Input"
		}
		f = &function{functionKey: key, title: title, name: g.names.unique(verb + title + suffix), at: g.at}
		g.functions[key] = f
		g.pending = append(g.pending, f)
	}
	return f.name
}

// shapeFunctions writes the functions that were asked for, and those that they ask for, sorted by type.
func (g *generator) shapeFunctions(p *printer) {
	var written []*function
	for len(g.pending) > 0 {
		f := g.pending[0]
		g.pending = g.pending[1:]
		g.at = f.title
		b := &body{generator: g, printer: &printer{}, title: f.title, base: "v"}
		switch f.kind {
		case readFunction, inputFunction:
			b.patch = f.kind == inputFunction
			b.readFunction(f)
		case mergeFunction:
			b.mergeFunction(f)
		case writeFunction:
			b.writeFunction(f)
		}
		f.text = b.text
		written = append(written, f)
	}
	g.at = ""
	slices.SortStableFunc(written, func(a, b *function) int {
		return cmp.Or(cmp.Compare(a.title, b.title), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	for _, f := range written {
		p.text = append(p.text, f.text...)
		p.line()
	}
	g.sharedFunctions(p)
}

// sharedFunctions writes the generic functions that the others call.
func (g *generator) sharedFunctions(p *printer) {
	if g.allocate != "" {
		p.comment(g.allocate + " sees to it that *p points to a value.")
		p.open("func ", g.allocate, "[T any](p **T) {")
		p.open("if *p == nil {")
		p.line("*p = new(T)")
		p.shut("}")
		p.shut("}")
		p.line()
	}
	if g.cloned != "" {
		p.comment(g.cloned + " returns a pointer to a copy of what p points to, or to a zero value, because a merge must not change a value that others share.")
		p.open("func ", g.cloned, "[T any](p *T) *T {")
		p.line("v := new(T)")
		p.open("if p != nil {")
		p.line("*v = *p")
		p.shut("}")
		p.line("return v")
		p.shut("}")
		p.line()
	}
}

func (g *generator) allocateFunction() string {
	if g.allocate == "" {
		g.allocate = g.names.unique("allocate", "allocateEmbedded")
	}
	return g.allocate
}

func (g *generator) clonedFunction() string {
	if g.cloned == "" {
		g.cloned = g.names.unique("cloned", "clonedValue")
	}
	return g.cloned
}

// track gives a bit to every field that is required or has a default.
func (b *body) track(seen string, fields []model.Field) {
	b.seen, b.tracked, b.bits = seen, 0, make(map[string]int)
	for i := range fields {
		if p := &fields[i].Param; p.Required || p.Default != "" {
			b.bits[p.Name] = b.tracked
			b.tracked++
		}
	}
}

// bit returns the variable and the mask of a tracked field.
func (b *body) bit(name string) (variable, mask string, ok bool) {
	bit, ok := b.bits[name]
	if !ok {
		return "", "", false
	}
	variable = b.seen
	if b.tracked > 64 {
		variable += "[" + strconv.Itoa(bit/64) + "]"
	}
	return variable, "1 << " + strconv.Itoa(bit%64), true
}

// place is the expression of a field of the struct at hand.
func (b *body) place(field *model.Field) string {
	return strings.Join(append([]string{b.base}, field.Selector...), ".")
}

// embeddedPointers are the expressions of the pointers to embedded structs on the way to a field.
func (b *body) embeddedPointers(field *model.Field) []string {
	var list []string
	for _, at := range field.EmbeddedAt {
		list = append(list, strings.Join(append([]string{b.base}, field.Selector[:at+1]...), "."))
	}
	return list
}

// about makes errors name a field.
func (b *body) about(field *model.Field) func() {
	before := b.at
	at := b.title + "." + strings.Join(field.Selector, ".")
	if p := field.Position; p.File != "" {
		at = p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + ": " + at
	}
	b.at = at
	return func() { b.at = before }
}

// numbered is the name of a variable of a loop: name itself outermost, name2 inside of that.
func (b *body) numbered(name string) string {
	if b.depth < 2 {
		return name
	}
	return name + strconv.Itoa(b.depth)
}

// address is the expression of a pointer to what place denotes.
func address(place string) string {
	if pointer, ok := strings.CutPrefix(place, "*"); ok {
		return pointer
	}
	return "&" + place
}

// selectable is place as an operand of an index or a selector.
func selectable(place string) string {
	if strings.HasPrefix(place, "*") {
		return "(" + place + ")"
	}
	return place
}

// expected is the JSON type of the values of a shape, for problems.
func expected(sh *model.Shape) string {
	switch sh.Kind {
	case model.ShapeBool:
		return "boolean"
	case model.ShapeInt, model.ShapeUint:
		return "integer"
	case model.ShapeFloat:
		return "number"
	case model.ShapeSlice, model.ShapeArray:
		return "array"
	case model.ShapeMap, model.ShapeStruct, model.ShapePatch:
		return "object"
	case model.ShapeAny:
		return "any"
	case model.ShapePointer:
		return expected(sh.Elem)
	default:
		return "string"
	}
}

// selfContained reports whether a type other than a struct can contain itself, such as type Tree []Tree. Code for it has to
// be a function, as it is for every struct.
func selfContained(sh *model.Shape) bool {
	switch sh.Kind {
	case model.ShapePointer, model.ShapeSlice, model.ShapeArray, model.ShapeMap:
		return sh.Go.Name != "" && recursive(sh)
	default:
		return false
	}
}

// constrained reports whether there are constraints on a container or on what is in it.
func constrained(p *model.Param) bool {
	return p != nil && (p.MinItems > 0 || p.MaxItems > 0 || p.MinLength > 0 || p.MaxLength > 0 || p.Minimum != "" || p.Maximum != "" ||
		p.Pattern != "" || len(p.Enum) > 0 || constrained(p.Items))
}

// anonymous reports whether a struct has no name, so that no function can be written for it.
func anonymous(sh *model.Shape) bool { return sh.Kind == model.ShapeStruct && sh.Go.Name == "" }
