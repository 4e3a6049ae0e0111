package codec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/collection"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// isFilter recognises collection.Filter[T], which has an empty array of *T and Conditions.
func isFilter(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Type.Kind() == reflect.Array &&
		t.Field(1).Type == reflect.TypeFor[collection.Conditions]()
}

// filterReader reads filters.
type filterReader struct {
	names   []string // of the conditions
	index   nameIndex
	compare []compared
}

// compared is a field that conditions are about.
type compared struct {
	field    *collection.Field
	allowed  []string // operators
	nullable bool
	unsigned bool     // of integers of 64 bits without a sign
	value    *decoder // of a text; nil: others are read as they are
}

// compileFilter is the filterDecoder of a Set.
func (s *Set) compileFilter(n *decoder, t reflect.Type, p *gen.Param) (is bool, err error) {
	if !isFilter(t) {
		return false, nil
	}
	n.kind, n.expected, n.offset = kindFilter, "object", t.Field(1).Offset
	wireType := s.types[p.Type]
	if wireType == nil || wireType.Filters == "" {
		return true, fmt.Errorf("the definition says %s, but the Go type is %s; the generated code is out of date", p.Type, t)
	}
	e, err := s.elements(t.Field(0).Type.Elem().Elem(), wireType.Filters)
	if err != nil {
		return true, err
	}
	filter := &filterReader{}
	n.filter = filter
	for i := range wireType.Fields {
		condition := &wireType.Fields[i]
		if condition.Name == gen.FilterOr || condition.Name == gen.FilterNot {
			continue
		}
		field, err := s.compared(e, condition.Name)
		if err != nil {
			return true, err
		}
		c := compared{
			field: field.Field, allowed: condition.Filter, nullable: slices.Contains(condition.Filter, gen.OpNull),
			unsigned: condition.Maximum != "",
		}
		if field.Kind == collection.Text || field.Kind == collection.String {
			value := gen.Param{Type: condition.Type, Enum: condition.Enum, Format: condition.Format}
			if c.value, err = s.decoder(field.goType, &value); err != nil {
				return true, err
			}
		}
		for _, name := range append([]string{condition.Name}, condition.Aliases...) {
			filter.index.add(name, len(filter.compare))
		}
		filter.names = append(filter.names, condition.Name)
		filter.compare = append(filter.compare, c)
	}
	filter.names = append(filter.names, gen.FilterOr, gen.FilterNot)
	return true, nil
}

func (f *filterReader) read(r *wire.Reader, p unsafe.Pointer) {
	reading := filterReading{r, f, 0}
	node := reading.node(1)
	if !r.OK() {
		return
	}
	if reading.conditions > gen.MaxFilterConditions {
		r.TooManyComparisons(gen.MaxFilterConditions)
		return
	}
	(*collection.Conditions)(p).Node = node
}

// filterReading is a filter that is being read.
type filterReading struct {
	*wire.Reader
	*filterReader
	conditions int // so far
}

// node reads a filter, which is so deep in others.
func (f *filterReading) node(depth int) *collection.Node {
	if depth > gen.MaxFilterDepth {
		f.TooNested(gen.MaxFilterDepth)
		return nil
	}
	if !f.Object() {
		f.Choices(wire.StageType, f.names)
		return nil
	}
	place := new(struct { // most filters have no more conditions
		collection.Node
		conditions [3]collection.Condition
	})
	node := &place.Node
	node.All = place.conditions[:0]
	var seen bits
	for f.NextUnchecked() {
		name := f.Name()
		i := f.index.find(name)
		switch {
		case i >= 0 && seen.add(i):
			f.Duplicate(f.compare[i].field.Name)
		case i >= 0:
			f.condition(node, &f.compare[i])
		case name != gen.FilterOr && name != gen.FilterNot:
			f.Unknown(f.names)
		case !f.CheckDuplicate():
		case name == gen.FilterNot:
			node.All = append(node.All, collection.Condition{Not: f.node(depth + 1)})
		default:
			f.alternatives(node, depth+1)
		}
	}
	if f.conditions <= gen.MaxFilterConditions { // others are refused
		node.Sort()
	}
	return node
}

// alternatives reads the filters of which one holds.
func (f *filterReading) alternatives(node *collection.Node, depth int) {
	if !f.Array() {
		return
	}
	c := collection.Condition{}
	for f.NextElement() {
		c.Or = append(c.Or, f.node(depth))
	}
	if f.MinItems(len(c.Or), 1) && f.MaxItems(len(c.Or), gen.MaxFilterAlternatives) {
		node.All = append(node.All, c)
	}
}

// condition reads a value, or an object with operators.
func (f *filterReading) condition(node *collection.Node, c *compared) {
	switch f.Kind() {
	case "null":
		f.Null()
		if c.nullable {
			f.MismatchHint("value", `Use {"null":true} for what has none, or leave it out`)
		} else {
			f.MismatchHint("value", "Leave it out")
		}
		return
	case "array":
		for _, op := range []string{gen.OpIn, gen.OpAll} {
			if slices.Contains(c.allowed, op) {
				f.Skip()
				f.Refused("", "value, or object with operators", "[]", "")
				f.Hint(`Use {"` + op + `":[…]}`)
				return
			}
		}
		f.Skip()
		f.Refused("", "value, or object with operators", "[]", "")
		f.Hint(c.hint())
		return
	case "object":
	default:
		switch {
		case slices.Contains(c.allowed, gen.OpEq):
			f.operand(node, c, collection.Eq)
		case slices.Contains(c.allowed, gen.OpContains):
			f.operand(node, c, collection.Contains)
		default:
			f.Skip()
			f.MismatchHint("object with operators", c.hint())
		}
		return
	}
	f.Object()
	count := 0
	for ; f.Next(); count++ {
		if at := slices.Index(operators, f.Name()); at >= 0 && slices.Contains(c.allowed, operators[at]) {
			f.operand(node, c, collection.Op(at))
		} else {
			f.EnumName(c.allowed)
		}
	}
	if count == 0 {
		f.Refused("", "value, or operators", "{}", "")
		f.Hint(c.hint())
	}
}

// hint says how to compare the field.
func (c *compared) hint() string {
	return `Use an object such as {"` + c.allowed[0] + `":…}, with one or more of ` + strings.Join(c.allowed, ", ")
}

// operators are the names of operators, by collection.Op.
var operators = []string{
	collection.Eq: gen.OpEq, collection.Ne: gen.OpNe, collection.In: gen.OpIn, collection.Gt: gen.OpGt,
	collection.Gte: gen.OpGte, collection.Lt: gen.OpLt, collection.Lte: gen.OpLte, collection.Contains: gen.OpContains,
	collection.Starts: gen.OpStarts, collection.All: gen.OpAll, collection.Null: gen.OpNull,
}

// operand reads what a field is compared with.
func (f *filterReading) operand(node *collection.Node, c *compared, op collection.Op) {
	f.conditions++
	node.All = append(node.All, collection.Condition{Field: c.field, Op: op})
	condition := &node.All[len(node.All)-1]
	switch op {
	case collection.Null:
		if v, _ := f.Bool(); v {
			condition.Value.Int = 1
		}
	case collection.In, collection.All:
		if !f.Array() {
			return
		}
		condition.Set = make([]collection.Value, 0, 4)
		for f.NextElement() {
			condition.Set = append(condition.Set, collection.Value{})
			c.read(f.Reader, &condition.Set[len(condition.Set)-1])
		}
		f.MaxItems(len(condition.Set), gen.MaxFilterValues)
	case collection.Contains, collection.Starts:
		if c.field.List {
			c.read(f.Reader, &condition.Value)
			break
		}
		text, _ := f.String()
		condition.Value.Text = collection.Lower(text)
	default:
		c.read(f.Reader, &condition.Value)
	}
}

// read reads a value into v.
func (c *compared) read(r *wire.Reader, v *collection.Value) {
	switch c.field.Kind {
	case collection.Bool:
		if b, _ := r.Bool(); b {
			v.Int = 1
		}
	case collection.Int:
		v.Int, _ = r.Int(64)
	case collection.Uint:
		if c.unsigned {
			u, _ := r.Uint(64)
			v.Int = int64(u)
			break
		}
		v.Int, _ = r.Int(64)
		v.Negative = v.Int < 0
	case collection.Float:
		v.Float, _ = r.Float(c.field.Bits)
	case collection.Time:
		v.Time, _ = r.Time()
	case collection.String:
		c.value.read(r, unsafe.Pointer(&v.Text), false)
	default:
		place := reflect.New(c.value.goType).UnsafePointer()
		if c.value.read(r, place, false); r.OK() {
			*v = c.field.Load(place)
		}
	}
}
