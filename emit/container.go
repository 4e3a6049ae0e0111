package emit

import (
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// readStruct writes how a struct is read: by its function, or in place when its type has no name.
func (b *body) readStruct(to target, sh *model.Shape) {
	if anonymous(sh) && to.place != "" {
		b.inPlace(to.place, sh, (*body).readObject)
		return
	}
	b.readByFunction(to, sh)
}

// readByFunction writes the call of the function that reads a shape.
func (b *body) readByFunction(to target, sh *model.Shape) {
	kind := readFunction
	if b.patch {
		kind = inputFunction
	}
	function := b.functionFor(kind, sh)
	if to.place != "" {
		b.line(function, "(r, ", address(to.place), ")")
		return
	}
	element := b.numbered("element")
	b.line("var ", element, " ", b.goType(sh))
	b.line(function, "(r, &", element, ")")
	b.line(to.put(element))
}

// inPlace writes code for a struct without a name where the value is.
func (b *body) inPlace(place string, sh *model.Shape, object func(*body, *model.Shape)) {
	inner := *b
	inner.base = selectable(place)
	inner.title = b.title + upperFirst(place[strings.LastIndexByte(place, '.')+1:])
	b.open("if r.Object() {")
	object(&inner, sh)
	b.shut("}")
}

func (b *body) readPointer(to target, sh *model.Shape, field *model.Field, p *model.Param) {
	elem := sh.Elem
	if scalar, ok := scalars[elem.Kind]; ok {
		b.readScalar(elem, field, p, func(variable string) string {
			value := b.convert(elem, variable, scalar.natural)
			if value == variable && elem.Kind != model.ShapeBytes && elem.Kind != model.ShapeAny {
				return to.put("&" + variable)
			}
			return to.put("new(" + b.typed(elem, value) + ")")
		})
		return
	}
	if to.place != "" {
		b.line(to.place, " = new(", b.goType(elem), ")")
		b.read(into("*"+to.place), elem, field, p)
		return
	}
	element := b.numbered("element")
	b.line(element, " := new(", b.goType(elem), ")")
	b.read(into("*"+element), elem, field, p)
	b.line(to.put(element))
}

// typed is an expression that is assignable to the shape's type as one that has that type.
func (b *body) typed(sh *model.Shape, expression string) string {
	if sh.Go.Name != "" && !strings.HasPrefix(expression, b.goType(sh)+"(") {
		return b.goType(sh) + "(" + expression + ")"
	}
	return expression
}

// items returns the constraints on the elements of a container.
func items(p *model.Param) *model.Param {
	if p.Items != nil {
		return p.Items
	}
	return &model.Param{}
}

// nullElement writes how a null inside a container is read: as nil where the type has one. Elsewhere null is of the wrong
// type, which the reader reports by itself.
func (b *body) nullElement(sh *model.Shape, put string) {
	if sh.Kind != model.ShapePointer {
		return
	}
	b.open("if r.Null() {")
	if put != "" {
		b.line(put)
	}
	b.line("continue")
	b.shut("}")
}

func (b *body) readSlice(to target, sh *model.Shape, field *model.Field, p *model.Param) {
	b.depth++
	list := b.numbered("list")
	b.open("if r.Array() {")
	b.line(list, " := ", b.goType(sh), "{}")
	b.open("for r.NextElement() {")
	put := func(value string) string { return list + " = append(" + list + ", " + value + ")" }
	b.nullElement(sh.Elem, put("nil"))
	b.read(target{put: put}, sh.Elem, field, items(p))
	b.shut("}")
	b.putChecked(to, list, lengthChecks("len("+list+")", p))
	b.shut("}")
	b.depth--
}

// lengthChecks are the conditions on the number of a container's elements.
func lengthChecks(n string, p *model.Param) []string {
	var list []string
	if p.MinItems > 0 {
		list = append(list, "r.MinItems("+n+", "+strconv.Itoa(p.MinItems)+")")
	}
	if p.MaxItems > 0 {
		list = append(list, "r.MaxItems("+n+", "+strconv.Itoa(p.MaxItems)+")")
	}
	return list
}

func (b *body) putChecked(to target, value string, checks []string) {
	if len(checks) == 0 {
		b.line(to.put(value))
		return
	}
	b.open("if ", strings.Join(checks, " && "), " {")
	b.line(to.put(value))
	b.shut("}")
}

func (b *body) readArray(to target, sh *model.Shape, field *model.Field, p *model.Param) {
	b.depth++
	list, n := b.numbered("list"), b.numbered("i")
	b.open("if r.Array() {")
	b.line("var ", list, " ", b.goType(sh))
	b.line(n, " := 0")
	b.open("for ; r.NextElement(); ", n, "++ {")
	b.open("if ", n, " >= len(", list, ") {")
	b.line("r.Skip()")
	b.line("continue")
	b.shut("}")
	b.nullElement(sh.Elem, "")
	b.read(into(list+"["+n+"]"), sh.Elem, field, items(p))
	b.shut("}")
	length := strconv.Itoa(sh.Len)
	b.putChecked(to, list, []string{"r.MinItems(" + n + ", " + length + ")", "r.MaxItems(" + n + ", " + length + ")"})
	b.shut("}")
	b.depth--
}

func (b *body) readMap(to target, sh *model.Shape, field *model.Field, p *model.Param) {
	b.depth++
	entries, name := b.numbered("entries"), b.numbered("name")
	b.open("if r.Object() {")
	b.line(entries, " := make(", b.goType(sh), ")")
	b.open("for r.Next() {")
	b.line(name, " := r.Name()")
	put := func(value string) string { return b.entry(sh, entries, name) + " = " + value }
	b.nullElement(sh.Elem, put("nil"))
	b.read(target{put: put}, sh.Elem, field, items(p))
	b.shut("}")
	b.putChecked(to, entries, lengthChecks("len("+entries+")", p))
	b.shut("}")
	b.depth--
}

// entry is the expression of a map's entry.
func (b *body) entry(sh *model.Shape, entries, name string) string {
	return entries + "[" + b.convert(b.keyShape(sh), name, "string") + "]"
}
