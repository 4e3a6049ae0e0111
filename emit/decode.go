package emit

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// readFunction writes the function that reads a struct, or another type that can contain itself.
func (b *body) readFunction(f *function) {
	b.comment(f.name + " reads the " + expected(f.shape) + " ahead into v.")
	b.open("func ", f.name, "(r *", b.names.use(pathWire, "wire"), ".Reader, v *", b.goType(f.shape), ") {")
	if f.shape.Kind == model.ShapeStruct {
		b.open("if !r.Object() {")
		b.line("return")
		b.shut("}")
		b.readObject(f.shape)
	} else {
		b.inline = f.shape
		b.read(into("*v"), f.shape, &model.Field{}, &model.Param{})
	}
	b.shut("}")
}

// readObject writes the loop that reads the members of an object that was begun.
func (b *body) readObject(sh *model.Shape) {
	b.track("seen", sh.Fields)
	if b.tracked > 0 {
		b.line("var seen ", b.seenType())
	}
	b.open("for r.Next() {")
	unknown := "r.Unknown(" + b.fieldsVariable(b.title, "", wireNames(sh.Fields)) + ")"
	if len(sh.Fields) == 0 {
		b.line(unknown)
	} else {
		b.members(sh.Fields, func() { b.line(unknown) })
	}
	b.shut("}")
	b.complete(sh.Fields)
}

func wireNames(fields []model.Field) []string {
	list := make([]string, len(fields))
	for i := range fields {
		list[i] = fields[i].Param.Name
	}
	return list
}

// members writes the switch over the members of an object.
func (b *body) members(fields []model.Field, unknown func()) {
	b.line("switch r.Name() {")
	for i := range fields {
		field := &fields[i]
		done := b.about(field)
		b.openCase(field)
		if b.patch && (field.Param.ReadOnly || field.Param.AppendOnly) {
			b.refuseUpdate(&field.Param)
		} else {
			b.member(field)
		}
		b.indent--
		done()
	}
	b.open("default:")
	unknown()
	b.shut("}")
}

func (b *body) openCase(field *model.Field) {
	list := []string{quote(field.Param.Name)}
	for _, alias := range field.Param.Aliases {
		list = append(list, quote(alias))
	}
	b.open("case ", strings.Join(list, ", "), ":")
}

func (b *body) refuseUpdate(p *model.Param) {
	if p.ReadOnly {
		b.line("r.ReadOnly()")
	} else {
		b.line("r.AppendOnly()")
	}
}

// member writes how one member is read.
func (b *body) member(field *model.Field) {
	b.open("if r.Null() {")
	if b.patch {
		b.line("r.NullRefused(", quote(expected(field.Shape)), ")")
	}
	b.line("break")
	b.shut("}")
	if variable, mask, ok := b.bit(field.Param.Name); ok {
		b.line(variable, " |= ", mask)
	}
	for _, pointer := range b.embeddedPointers(field) {
		b.line(b.allocateFunction(), "(&", pointer, ")")
	}
	b.readField(field)
}

func (b *body) readField(field *model.Field) {
	if field.Quoted {
		b.fail("the json option \"string\" is not supported in requests")
		return
	}
	if b.update && field.Param.Name == "input" {
		// What an update says by a struct instead of a Patch follows the rules of updates all the same.
		b.update, b.patch = false, true
		defer func() { b.update, b.patch = true, false }()
	}
	b.read(into(b.place(field)), field.Shape, field, &field.Param)
}

// complete writes what happens once all members are read: absent ones are reported or get their default.
func (b *body) complete(fields []model.Field) {
	for i := range fields {
		field := &fields[i]
		variable, mask, ok := b.bit(field.Param.Name)
		if !ok {
			continue
		}
		done := b.about(field)
		b.open("if ", variable, "&(", strings.ReplaceAll(mask, " ", ""), ") == 0 {")
		if field.Param.Required {
			b.line("r.Missing(", quote(field.Param.Name), ", ", quote(expected(field.Shape)), ")")
		} else {
			for _, pointer := range b.embeddedPointers(field) {
				b.line(b.allocateFunction(), "(&", pointer, ")")
			}
			b.setDefault(field)
		}
		b.shut("}")
		done()
	}
}

// setDefault writes the assignment of a field's default. What has no simple literal is read from its JSON by the same code
// that reads requests.
func (b *body) setDefault(field *model.Field) {
	place := b.place(field)
	if literal, ok := b.goLiteral(field.Shape, field.Param.Default, false); ok {
		b.line(place, " = ", literal)
		return
	}
	wire := b.names.use(pathWire, "wire")
	reader := wire + ".NewReader(" + quote(field.Param.Default) + ", " + wire + ".Limits{})"
	if sh := field.Shape; sh.Kind == model.ShapeStruct && !anonymous(sh) {
		b.line(b.functionFor(readFunction, sh), "(", reader, ", ", address(place), ")")
		return
	}
	b.line("r := ", reader)
	b.read(into(place), field.Shape, field, &model.Param{})
}

// target is where a value goes: an expression that can be assigned to, or something that is done with a value.
type target struct {
	place string
	put   func(value string) string
}

func into(place string) target {
	return target{place: place, put: func(value string) string { return place + " = " + value }}
}

// read writes how the value ahead is read. p holds the constraints on the value, field names what is declared for it.
func (b *body) read(to target, sh *model.Shape, field *model.Field, p *model.Param) {
	if b.inline != sh && selfContained(sh) && !constrained(p) {
		b.readByFunction(to, sh)
		return
	}
	b.inline = nil
	switch sh.Kind {
	case model.ShapeStruct:
		b.readStruct(to, sh)
	case model.ShapePointer:
		b.readPointer(to, sh, field, p)
	case model.ShapeSlice:
		b.readSlice(to, sh, field, p)
	case model.ShapeArray:
		b.readArray(to, sh, field, p)
	case model.ShapeMap:
		b.readMap(to, sh, field, p)
	case model.ShapePatch:
		b.line(b.names.use(pathAQL, "aql"), ".ReadPatch(r, ", address(to.place), ", ", b.functionFor(mergeFunction, sh.Elem), ")")
	default:
		b.readScalar(sh, field, p, func(variable string) string { return to.put(b.convert(sh, variable, scalars[sh.Kind].natural)) })
	}
}

// scalars tells, per kind, which method of the reader reads it, into which variable and of which type.
var scalars = map[model.ShapeKind]struct{ method, variable, natural string }{
	model.ShapeBool:   {"Bool", "b", "bool"},
	model.ShapeInt:    {"Int", "n", "int64"},
	model.ShapeUint:   {"Uint", "n", "uint64"},
	model.ShapeFloat:  {"Float", "f", "float64"},
	model.ShapeString: {"String", "s", "string"},
	model.ShapeBytes:  {"Bytes", "b", "[]byte"},
	model.ShapeTime:   {"Time", "t", "time.Time"},
	model.ShapeAny:    {"Any", "x", "any"},
}

// convert is an expression of type natural as one of the shape's type.
func (g *generator) convert(sh *model.Shape, expression, natural string) string {
	switch {
	case sh.Kind == model.ShapeBytes, sh.Kind == model.ShapeAny: // assignable as they are
		return expression
	case sh.Kind == model.ShapeTime && (sh.Go.Name == "" || sh.Go.PkgPath == pathTime):
		return expression
	}
	if name := g.goType(sh); name != natural {
		return name + "(" + expression + ")"
	}
	return expression
}

func (b *body) readScalar(sh *model.Shape, field *model.Field, p *model.Param, put func(variable string) string) {
	scalar, ok := scalars[sh.Kind]
	if !ok {
		b.fail("values of kind %q are not supported", sh.Kind)
		return
	}
	b.open("if ", scalar.variable, ", ok := r.", scalar.method, "(", b.bitSize(sh), "); ", strings.Join(append([]string{"ok"}, b.checks(sh, field, p)...), " && "), " {")
	b.line(put(scalar.variable))
	b.shut("}")
}

// bitSize is the argument of the reader's methods for numbers.
func (b *body) bitSize(sh *model.Shape) string {
	switch {
	case sh.Kind == model.ShapeFloat && sh.Bits == 0:
		return "64"
	case sh.Kind != model.ShapeInt && sh.Kind != model.ShapeUint && sh.Kind != model.ShapeFloat:
		return ""
	case sh.Bits == 0:
		return b.names.use(pathStrconv, "strconv") + ".IntSize"
	default:
		return strconv.Itoa(sh.Bits)
	}
}

// checks are the conditions that a scalar has to meet.
func (b *body) checks(sh *model.Shape, field *model.Field, p *model.Param) []string {
	var list []string
	switch sh.Kind {
	case model.ShapeString:
		if p.MinLength > 0 {
			list = append(list, "r.MinLength(s, "+strconv.Itoa(p.MinLength)+")")
		}
		if p.MaxLength > 0 {
			list = append(list, "r.MaxLength(s, "+strconv.Itoa(p.MaxLength)+")")
		}
		if p.Pattern != "" {
			list = append(list, "r.Pattern(s, "+b.patternVariable(field, p.Pattern)+")")
		}
		if enum := b.enumOf(sh, field, p); enum != "" {
			list = append(list, "r.Enum(s, "+enum+")")
		}
	case model.ShapeInt, model.ShapeUint, model.ShapeFloat:
		wire := b.names.use(pathWire, "wire")
		variable := scalars[sh.Kind].variable
		if bound := b.bound(sh, p.Minimum, true); bound != "" {
			list = append(list, wire+".Min(r, "+variable+", "+bound+")")
		}
		if bound := b.bound(sh, p.Maximum, false); bound != "" {
			list = append(list, wire+".Max(r, "+variable+", "+bound+")")
		}
	case model.ShapeBytes:
		if p.MinLength > 0 || p.MaxLength > 0 || p.Pattern != "" {
			b.fail("constraints on the text of []byte are not supported")
		}
	}
	return list
}

// enumOf is the variable with the values that a string may have.
func (b *body) enumOf(sh *model.Shape, field *model.Field, p *model.Param) string {
	values := constantValues(sh)
	switch {
	case len(p.Enum) > 0 && len(values) > 0 && strings.Join(p.Enum, "\x00") == strings.Join(values, "\x00"), len(p.Enum) == 0 && len(values) > 0:
		return b.enumVariable(b.generator.title(sh), sh, values)
	case len(p.Enum) > 0:
		return b.enumVariable(fieldName(field), sh, p.Enum)
	default:
		return ""
	}
}

// bound is the literal of a number's bound, rounded inwards for integers; empty where every value of the type is inside.
func (b *body) bound(sh *model.Shape, text string, minimum bool) string {
	if text == "" {
		return ""
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		b.fail("bound %q is not a number", text)
		return ""
	}
	if sh.Kind == model.ShapeFloat {
		return text
	}
	whole := new(big.Int).Div(value.Num(), value.Denom()) // rounds down
	if minimum && !value.IsInt() {
		whole.Add(whole, big.NewInt(1))
	}
	low, high := intRange(sh)
	switch {
	case minimum && whole.Cmp(low) <= 0, !minimum && whole.Cmp(high) >= 0:
		return ""
	case minimum && whole.Cmp(high) > 0, !minimum && whole.Cmp(low) < 0:
		b.fail("no value of type %s is within the bound %s", b.goType(sh), text)
		return ""
	}
	return whole.String()
}

// intRange is the range of a Go integer type. That of int and uint is the larger one: the reader knows the true one.
func intRange(sh *model.Shape) (low, high *big.Int) {
	bits := uint(sh.Bits)
	if bits == 0 {
		bits = 64
	}
	one := big.NewInt(1)
	if sh.Kind == model.ShapeUint {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	half := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(half), new(big.Int).Sub(half, one)
}
