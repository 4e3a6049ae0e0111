package jsonvalue

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// filter checks a filter of a shape.
func (c *checker) filter(shape *shapes.Shape, value any, path string) {
	members, ok := value.(map[string]any)
	if !ok {
		c.add(path, diag.CodeType, "expected object, not "+KindOf(value))
		return
	}
	names := []string{gen.FilterOr, gen.FilterNot}
	fields := make(map[string]*shapes.Field)
	for _, list := range [][]shapes.Field{shape.Elem.Fields, shape.Nested} {
		for i := range list {
			f := &list[i]
			if f.Param.Filter == nil {
				continue
			}
			names, fields[f.Param.Name] = append(names, f.Param.Name), f
			for _, alias := range f.Param.Aliases {
				fields[alias] = f
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at, member := naming.Join(path, name), members[name]
		switch f := fields[name]; {
		case f != nil:
			c.condition(f, member, at)
		case name == gen.FilterNot:
			c.filter(shape, member, at)
		case name == gen.FilterOr:
			list, ok := member.([]any)
			if !ok || len(list) == 0 {
				c.add(at, diag.CodeType, "expected an array of filters, not "+KindOf(member))
			}
			for i := range list {
				c.filter(shape, list[i], fmt.Sprintf("%s[%d]", at, i))
			}
		default:
			c.add(at, diag.CodeUnresolved, fmt.Sprintf("there is no field %q to filter by", at), names...)
		}
	}
}

// comparisons are the operators that compare with one value.
var comparisons = []string{
	gen.OpEq, gen.OpNe, gen.OpGt, gen.OpGte, gen.OpLt, gen.OpLte, gen.OpContains, gen.OpStarts,
}

// condition checks a value, or an object with operators.
func (c *checker) condition(f *shapes.Field, value any, path string) {
	shape, param := shapes.Element(f.Shape), gen.Param{Enum: f.Param.Enum}
	operators, ok := value.(map[string]any)
	if !ok {
		c.operand(shape, param, value, path)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(operators)) {
		at, operand := naming.Join(path, name), operators[name]
		switch name {
		case gen.OpNull:
			if _, ok := operand.(bool); !ok {
				c.add(at, diag.CodeType, "expected boolean, not "+KindOf(operand))
			}
		case gen.OpIn, gen.OpAll:
			list, ok := operand.([]any)
			if !ok {
				c.add(at, diag.CodeType, "expected array, not "+KindOf(operand))
			}
			for i := range list {
				c.operand(shape, param, list[i], fmt.Sprintf("%s[%d]", at, i))
			}
		default:
			if !slices.Contains(comparisons, name) {
				c.add(at, diag.CodeUnresolved, fmt.Sprintf("there is no operator %q", name), comparisons...)
				continue
			}
			c.operand(shape, param, operand, at)
		}
	}
}

// operand checks a value with which a field is compared. null is none.
func (c *checker) operand(shape *shapes.Shape, param gen.Param, value any, path string) {
	if value == nil {
		c.add(path, diag.CodeType, `null is no value; {"null":true} finds what has none`)
		return
	}
	c.check(shape, param, value, path, false)
}
