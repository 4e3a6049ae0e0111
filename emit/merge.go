package emit

import (
	"regexp"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// mergeFunction writes the function that merges a patch into a value (RFC 7396, MCP-AQL core §4.5.1).
func (b *body) mergeFunction(f *function) {
	b.comment(f.name + " merges the object ahead into v: what is absent stays as it is, null removes.")
	b.open("func ", f.name, "(r *", b.names.use(pathWire, "wire"), ".Reader, v *", b.goType(f.shape), ") {")
	if f.shape.Kind == model.ShapeStruct {
		b.open("if !r.Object() {")
		b.line("return")
		b.shut("}")
		b.mergeObject(f.shape)
	} else {
		b.inline = f.shape
		b.merge("*v", f.shape, &model.Field{}, &model.Param{})
	}
	b.shut("}")
}

// mergeObject writes the loop that merges the members of an object that was begun.
func (b *body) mergeObject(sh *model.Shape) {
	b.bits = nil
	var updatable []string
	var cases []*model.Field
	for i := range sh.Fields {
		field := &sh.Fields[i]
		if field.Param.ID {
			continue // an identifier says which resource, so inside a patch it is unknown (requirements REQ-UP-06)
		}
		cases = append(cases, field)
		if !field.Param.ReadOnly && !field.Param.AppendOnly {
			updatable = append(updatable, field.Param.Name)
		}
	}
	suffix := ""
	if len(updatable) < len(sh.Fields) {
		suffix = "Patch"
	}
	unknown := "r.Unknown(" + b.fieldsVariable(b.title, suffix, updatable) + ")"
	b.open("for r.Next() {")
	if len(cases) == 0 {
		b.line(unknown)
		b.shut("}")
		return
	}
	b.line("switch r.Name() {")
	for _, field := range cases {
		done := b.about(field)
		b.openCase(field)
		if field.Param.ReadOnly || field.Param.AppendOnly {
			b.refuseUpdate(&field.Param)
		} else {
			b.mergeField(field)
		}
		b.indent--
		done()
	}
	b.open("default:")
	b.line(unknown)
	b.shut("}")
	b.shut("}")
}

func (b *body) mergeField(field *model.Field) {
	place := b.place(field)
	b.open("if r.Null() {")
	b.remove(field, place)
	b.line("break")
	b.shut("}")
	for _, pointer := range b.embeddedPointers(field) {
		b.line(pointer, " = ", b.clonedFunction(), "(", pointer, ")")
	}
	if field.Quoted {
		b.fail("the json option \"string\" is not supported in patches")
		return
	}
	b.merge(place, field.Shape, field, &field.Param)
}

// remove writes what null does to a field: it becomes nil, or its default, or zero, and is refused where none of these is
// a value the field may have.
func (b *body) remove(field *model.Field, place string) {
	value := ""
	switch {
	case field.Param.Required:
	case nilable(field.Shape):
		value = "nil"
	case field.Param.Default != "":
		if literal, ok := b.goLiteral(field.Shape, field.Param.Default, false); ok {
			value = literal
		} else if zeroAllowed(field.Shape, &field.Param) {
			value = b.zero(field.Shape)
		}
	case zeroAllowed(field.Shape, &field.Param):
		value = b.zero(field.Shape)
	}
	if value == "" {
		b.line("r.NullRefused(", quote(expected(field.Shape)), ")")
		return
	}
	pointers := b.embeddedPointers(field)
	if len(pointers) == 0 {
		b.line(place, " = ", value)
		return
	}
	b.open("if ", strings.Join(pointers, " != nil && "), " != nil {")
	b.line(place, " = ", value)
	b.shut("}")
}

func nilable(sh *model.Shape) bool {
	switch sh.Kind {
	case model.ShapePointer, model.ShapeMap, model.ShapeSlice, model.ShapeBytes, model.ShapeAny:
		return true
	default:
		return false
	}
}

// zeroAllowed reports whether a shape's zero value meets the constraints.
func zeroAllowed(sh *model.Shape, p *model.Param) bool {
	switch sh.Kind {
	case model.ShapeString:
		if p.MinLength > 0 {
			return false
		}
		if pattern, err := regexp.Compile(p.Pattern); err != nil || !pattern.MatchString("") {
			return false
		}
		enum := p.Enum
		if len(enum) == 0 {
			enum = constantValues(sh)
		}
		for _, value := range enum {
			if value == "" {
				return true
			}
		}
		return len(enum) == 0
	case model.ShapeInt, model.ShapeUint, model.ShapeFloat:
		return !positive(p.Minimum) && !positive(strings.TrimPrefix(negated(p.Maximum), "+"))
	case model.ShapeStruct:
		for i := range sh.Fields {
			if sh.Fields[i].Param.Required {
				return false
			}
		}
	}
	return true
}

// positive reports whether a JSON number is above zero.
func positive(number string) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	return !strings.HasPrefix(number, "-") && strings.ContainsAny(mantissa, "123456789")
}

func negated(number string) string {
	if rest, ok := strings.CutPrefix(number, "-"); ok {
		return rest
	}
	return "-" + number
}

// zero is the zero value of a shape that has no nil.
func (b *body) zero(sh *model.Shape) string {
	switch sh.Kind {
	case model.ShapeBool:
		return "false"
	case model.ShapeInt, model.ShapeUint, model.ShapeFloat:
		return "0"
	case model.ShapeString:
		return `""`
	default:
		return b.goType(sh) + "{}"
	}
}

// merge writes how the value ahead, which is not null, is merged into place.
func (b *body) merge(place string, sh *model.Shape, field *model.Field, p *model.Param) {
	if b.inline != sh && sh.Kind != model.ShapeSlice && sh.Kind != model.ShapeArray && selfContained(sh) && !constrained(p) {
		b.line(b.functionFor(mergeFunction, sh), "(r, ", address(place), ")")
		return
	}
	b.inline = nil
	switch sh.Kind {
	case model.ShapeStruct:
		if anonymous(sh) {
			b.inPlace(place, sh, (*body).mergeObject)
		} else {
			b.line(b.functionFor(mergeFunction, sh), "(r, ", address(place), ")")
		}
	case model.ShapePointer:
		switch sh.Elem.Kind {
		case model.ShapeStruct, model.ShapeMap, model.ShapeAny, model.ShapePointer:
			b.line(place, " = ", b.clonedFunction(), "(", place, ")")
			b.merge("*"+selectable(place), sh.Elem, field, p)
		default:
			b.read(into(place), sh, field, p)
		}
	case model.ShapeMap:
		b.mergeMap(place, sh, field, p)
	case model.ShapeAny:
		b.line(place, " = r.MergeAny(", place, ")")
	default:
		b.read(into(place), sh, field, p)
	}
}

func (b *body) mergeMap(place string, sh *model.Shape, field *model.Field, p *model.Param) {
	b.depth++
	entries, name := b.numbered("entries"), b.numbered("name")
	b.open("if r.Object() {")
	b.line(entries, " := make(", b.goType(sh), ", len(", place, "))")
	b.line(b.names.use(pathMaps, "maps"), ".Copy(", entries, ", ", place, ")")
	b.open("for r.Next() {")
	b.line(name, " := r.Name()")
	entry := b.entry(sh, entries, name)
	b.open("if r.Null() {")
	b.line("delete(", entries, ", ", b.convert(b.keyShape(sh), name, "string"), ")")
	b.line("continue")
	b.shut("}")
	switch sh.Elem.Kind {
	case model.ShapeStruct, model.ShapeMap:
		element := b.numbered("element")
		b.line(element, " := ", entry)
		b.merge(element, sh.Elem, field, items(p))
		b.line(entry, " = ", element)
	case model.ShapePointer:
		if _, scalar := scalars[sh.Elem.Elem.Kind]; scalar {
			b.read(target{put: func(value string) string { return entry + " = " + value }}, sh.Elem, field, items(p))
			break
		}
		element := b.numbered("element")
		b.line(element, " := ", entry)
		b.merge(element, sh.Elem, field, items(p))
		b.line(entry, " = ", element)
	case model.ShapeAny:
		b.line(entry, " = r.MergeAny(", entry, ")")
	default:
		b.read(target{put: func(value string) string { return entry + " = " + value }}, sh.Elem, field, items(p))
	}
	b.shut("}")
	// How few entries there may be shows only in the merged map, which a patch alone does not tell.
	b.putChecked(into(place), entries, lengthChecks("len("+entries+")", &model.Param{MaxItems: p.MaxItems}))
	b.shut("}")
	b.depth--
}
