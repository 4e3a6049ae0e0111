package emit

import (
	"strings"

	"github.com/aqltag/aqltag/model"
)

// writeFunction writes the function that writes a struct, or another type that can contain itself.
func (b *body) writeFunction(f *function) {
	b.comment(f.name + " writes v as an " + expected(f.shape) + ".")
	b.open("func ", f.name, "(w *", b.names.use(pathWire, "wire"), ".Writer, v *", b.goType(f.shape), ") {")
	if recursive(f.shape) {
		// A value that contains itself would be written for ever.
		b.open("if w.Deep() {")
		b.line("return")
		b.shut("}")
	}
	if f.shape.Kind == model.ShapeStruct {
		b.writeObject(f.shape)
	} else {
		b.inline = f.shape
		b.write("*v", f.shape)
	}
	b.shut("}")
}

func (b *body) writeObject(sh *model.Shape) {
	b.line("w.BeginObject()")
	for i := range sh.Fields {
		field := &sh.Fields[i]
		done := b.about(field)
		b.writeField(field)
		done()
	}
	b.line("w.EndObject()")
}

func (b *body) writeField(field *model.Field) {
	place := b.place(field)
	var conditions []string
	for _, pointer := range b.embeddedPointers(field) {
		conditions = append(conditions, pointer+" != nil")
	}
	sure := false
	if field.OmitEmpty {
		if condition := notEmpty(place, field.Shape); condition != "" {
			conditions = append(conditions, condition)
			sure = nilable(field.Shape)
		}
	}
	if field.OmitZero {
		if condition := notZero(place, field.Shape); condition != "" {
			conditions = append(conditions, condition)
			sure = sure || nilable(field.Shape)
		}
	}
	if len(conditions) > 0 {
		b.open("if ", conjunction(conditions), " {")
	}
	if name := field.Param.Name; plainName(name) {
		b.line("w.Key(", quote(name), ")")
	} else {
		b.line("w.KeyEscaped(", quote(name), ")")
	}
	switch {
	case field.Quoted:
		b.writeQuoted(place, field.Shape, sure)
	case sure:
		b.writeNotNil(place, field.Shape)
	default:
		b.write(place, field.Shape)
	}
	if len(conditions) > 0 {
		b.shut("}")
	}
}

func conjunction(conditions []string) string {
	if len(conditions) > 1 {
		for i, condition := range conditions {
			if strings.Contains(condition, " || ") {
				conditions[i] = "(" + condition + ")"
			}
		}
	}
	return strings.Join(conditions, " && ")
}

// plainName reports whether a name is the same inside JSON quotes.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// notEmpty is the condition on which omitempty keeps a field; empty: always.
func notEmpty(place string, sh *model.Shape) string {
	switch sh.Kind {
	case model.ShapeSlice, model.ShapeMap, model.ShapeBytes:
		return "len(" + place + ") > 0"
	case model.ShapeArray:
		if sh.Len == 0 {
			return "false"
		}
		return ""
	case model.ShapeStruct, model.ShapeTime, model.ShapePatch:
		return ""
	default:
		return notZero(place, sh)
	}
}

// notZero is the condition on which omitzero keeps a field; empty: always. Structs are looked at field by field, since Go
// compares only some of them.
func notZero(place string, sh *model.Shape) string {
	switch sh.Kind {
	case model.ShapeBool:
		return place
	case model.ShapeInt, model.ShapeUint, model.ShapeFloat:
		return place + " != 0"
	case model.ShapeString:
		return place + ` != ""`
	case model.ShapeTime:
		return "!" + place + ".IsZero()"
	case model.ShapePointer, model.ShapeSlice, model.ShapeMap, model.ShapeBytes, model.ShapeAny:
		return place + " != nil"
	case model.ShapeStruct:
		var conditions []string
		for i := range sh.Fields {
			field := &sh.Fields[i]
			if len(field.EmbeddedAt) > 0 {
				pointer := strings.Join(append([]string{selectable(place)}, field.Selector[:field.EmbeddedAt[0]+1]...), ".")
				if condition := pointer + " != nil"; len(conditions) == 0 || conditions[len(conditions)-1] != condition {
					conditions = append(conditions, condition)
				}
				continue
			}
			condition := notZero(strings.Join(append([]string{selectable(place)}, field.Selector...), "."), field.Shape)
			if condition == "" {
				return ""
			}
			conditions = append(conditions, condition)
		}
		return strings.Join(conditions, " || ")
	default:
		return ""
	}
}

// write writes how a value is written.
func (b *body) write(place string, sh *model.Shape) {
	if b.inline != sh && selfContained(sh) {
		b.line(b.functionFor(writeFunction, sh), "(w, ", address(place), ")")
		return
	}
	b.inline = nil
	switch sh.Kind {
	case model.ShapePointer, model.ShapeMap:
		b.open("if ", place, " == nil {")
		b.line("w.Null()")
		b.shut("} else {")
		b.indent++
		b.writeNotNil(place, sh)
		b.shut("}")
	default:
		b.writeNotNil(place, sh)
	}
}

// writeNotNil is write for a value that is known not to be nil.
func (b *body) writeNotNil(place string, sh *model.Shape) {
	switch sh.Kind {
	case model.ShapeBool:
		b.line("w.Bool(", b.plain(sh, place, "bool"), ")")
	case model.ShapeInt:
		b.line("w.Int(", b.plain(sh, place, "int64"), ")")
	case model.ShapeUint:
		b.line("w.Uint(", b.plain(sh, place, "uint64"), ")")
	case model.ShapeFloat:
		bits := "64"
		if sh.Bits == 32 {
			bits = "32"
		}
		b.line("w.Float(", b.plain(sh, place, "float64"), ", ", bits, ")")
	case model.ShapeString:
		b.line("w.String(", b.plain(sh, place, "string"), ")")
	case model.ShapeBytes:
		b.line("w.Bytes64(", place, ")")
	case model.ShapeTime:
		if sh.Go.Name != "" && sh.Go.PkgPath != pathTime {
			place = b.names.use(pathTime, "time") + ".Time(" + place + ")"
		}
		b.line("w.Time(", place, ")")
	case model.ShapeAny:
		b.line("w.Any(", place, ")")
	case model.ShapePointer:
		b.write("*"+place, sh.Elem)
	case model.ShapeSlice, model.ShapeArray:
		b.writeList(place, sh)
	case model.ShapeMap:
		b.writeMap(place, sh)
	case model.ShapeStruct:
		if anonymous(sh) {
			inner := *b
			inner.base = selectable(place)
			inner.title = b.title + upperFirst(place[strings.LastIndexByte(place, '.')+1:])
			inner.writeObject(sh)
			return
		}
		b.line(b.functionFor(writeFunction, sh), "(w, ", address(place), ")")
	default:
		b.fail("values of kind %q are not supported in results", sh.Kind)
	}
}

// plain is an expression of the shape's type as one of a basic type.
func (b *body) plain(sh *model.Shape, expression, basic string) string {
	if b.goType(sh) == basic {
		return expression
	}
	return basic + "(" + expression + ")"
}

func (b *body) writeList(place string, sh *model.Shape) {
	b.depth++
	b.line("w.BeginArray()")
	if _, scalar := scalars[sh.Elem.Kind]; scalar {
		element := b.numbered("element")
		b.open("for _, ", element, " := range ", place, " {")
		b.line("w.Element()")
		b.write(element, sh.Elem)
	} else {
		i := b.numbered("i")
		b.open("for ", i, " := range ", place, " {")
		b.line("w.Element()")
		b.write(selectable(place)+"["+i+"]", sh.Elem)
	}
	b.shut("}")
	b.line("w.EndArray()")
	b.depth--
}

func (b *body) writeMap(place string, sh *model.Shape) {
	b.depth++
	key := b.numbered("key")
	keyShape := b.keyShape(sh)
	b.line("w.BeginObject()")
	b.open("for _, ", key, " := range ", b.names.use(pathWire, "wire"), ".SortedKeys(", place, ") {")
	b.line("w.KeyEscaped(", b.plain(keyShape, key, "string"), ")")
	entry := selectable(place) + "[" + key + "]"
	if _, scalar := scalars[sh.Elem.Kind]; scalar {
		b.write(entry, sh.Elem)
	} else {
		element := b.numbered("element")
		b.line(element, " := ", entry)
		b.write(element, sh.Elem)
	}
	b.shut("}")
	b.line("w.EndObject()")
	b.depth--
}

// writeQuoted writes a field with encoding/json's option "string": its JSON text, as a string.
func (b *body) writeQuoted(place string, sh *model.Shape, sure bool) {
	if sh.Kind == model.ShapePointer {
		if !sure {
			b.open("if ", place, " == nil {")
			b.line("w.Null()")
			b.shut("} else {")
			b.indent++
		}
		b.writeQuoted("*"+place, sh.Elem, true)
		if !sure {
			b.shut("}")
		}
		return
	}
	wire := b.names.use(pathWire, "wire")
	b.line("inner := ", wire, ".NewWriter(nil)")
	text := b.text
	b.write(place, sh)
	written := strings.Replace(string(b.text[len(text):]), "w.", "inner.", 1)
	b.text = append(text, written...)
	b.line("w.String(string(inner.Bytes()))")
}

// recursive reports whether values of a shape can contain values of that shape.
func recursive(sh *model.Shape) bool {
	visited := make(map[*model.Shape]bool)
	var reaches func(from *model.Shape) bool
	reaches = func(from *model.Shape) bool {
		for _, next := range neighbours(from) {
			if next == sh {
				return true
			}
			if !visited[next] {
				visited[next] = true
				if reaches(next) {
					return true
				}
			}
		}
		return false
	}
	return reaches(sh)
}

// neighbours are the shapes that a shape is made of.
func neighbours(sh *model.Shape) []*model.Shape {
	var list []*model.Shape
	for _, next := range []*model.Shape{sh.Key, sh.Elem} {
		if next != nil {
			list = append(list, next)
		}
	}
	for i := range sh.Fields {
		list = append(list, sh.Fields[i].Shape)
	}
	return list
}
