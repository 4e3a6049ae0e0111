package codec

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/collection"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Computation is how the values of a computed field come about. Package computed makes it.
type Computation interface {
	// Types returns the Go types of the elements and of the values.
	Types() (element, value reflect.Type)
	// Values computes the values of elements, one for each in their order, and returns where they begin in memory.
	Values(ctx context.Context, receivers []any, elements []unsafe.Pointer) (values unsafe.Pointer, n int, err error)
}

// SingleComputation is a Computation that needs one element and no receivers.
type SingleComputation interface {
	Computation
	// Value returns where the value of an element is.
	Value(ctx context.Context, element unsafe.Pointer) unsafe.Pointer
}

// AddComputed compiles a computed field of what an operation returns, which is the wire type called returns. Its index
// among those of the resource is at, and they come in their order, in front of Query and Selector of the operation.
// Only the computations of generated code call it, so that an adapter without computed fields does not link what it
// leads to.
func (s *Set) AddComputed(returns string, at int, f *gen.Computed, by Computation) error {
	wireType := gen.ResourceOf(func(name string) *gen.Type { return s.types[name] }, returns)
	if wireType == nil || at >= len(wireType.Computed) || wireType.Computed[at].Name != f.Name {
		return fmt.Errorf("what it returns has no computed field %s; the generated code is out of date", f.Name)
	}
	name := wireType.Name
	element, value := by.Types()
	object, err := s.structEncoder(element, name)
	if err != nil {
		return err
	}
	if at == 0 {
		added := computedDeclaredWith(f, object)
		if added == nil {
			added = &computedFields{of: name, first: f}
			object.behind = append(object.behind, added)
		}
		s.behind, s.behindOf = added, object
	}
	added, _ := s.behind.(*computedFields)
	switch {
	case added == nil || s.behindOf != object || at > len(added.fields):
		return fmt.Errorf("computed field %s.%s is out of order; the generated code is out of date", name, f.Name)
	case at < len(added.fields):
		return nil // another operation of the package returns the type too
	}
	p := &wireType.Computed[at]
	field := computedField{
		name: p.Name, key: fieldKey(p.Name), presets: p.Presets, by: by, receivers: f.Receivers, goType: value, param: p,
	}
	if field.value, err = s.encoder(value, p); err != nil {
		return fmt.Errorf("computed field %s.%s: %w", name, p.Name, err)
	}
	added.fields = append(added.fields, field)
	return nil
}

// comparedBehind is something behind the fields of a struct by which elements may be compared. It is no part of behind,
// of which adapters without collections know.
type comparedBehind interface {
	// compared returns how elements are compared by the one to which a path leads; nil: they cannot be. What its values
	// are is to be completed.
	compared(path string) *elementField
}

// comparedComputed compiles how a computed field is compared, whose path is name.
func (s *Set) comparedComputed(e *elements, name string) (*elementField, error) {
	object, err := s.structEncoder(e.goType, e.name)
	if err != nil {
		return nil, err
	}
	if c, ok := s.behind.(comparedBehind); ok && s.behindOf == object {
		if f := c.compared(name); f != nil {
			e.computes = true
			return f, s.compareField(e, f, f.goType, f.param)
		}
	}
	return nil, fmt.Errorf("elements of %s have no field %s; the generated code is out of date", e.name, name)
}

// computedFields are the computed fields of a struct, as one package computes them. Packages that are merged may each
// compute those of a type that they share, with receivers of their own.
type computedFields struct {
	of     string // the wire type
	fields []computedField
	first  *gen.Computed // what declares the first of them: operations of one package share it
}

// computedDeclaredWith returns the computed fields of a struct of which f declares the first one; nil: there are none.
func computedDeclaredWith(f *gen.Computed, object *structEncoder) *computedFields {
	for _, behind := range object.behind {
		if c, ok := behind.(*computedFields); ok && c.first == f {
			return c
		}
	}
	return nil
}

// computedField is a computed field of a struct.
type computedField struct {
	name      string
	key       string // the name with a comma, quotes and a colon
	presets   []string
	value     *encoder
	by        Computation
	receivers []int
	goType    reflect.Type
	param     *gen.Param
}

func (c *computedFields) find(path string) int {
	return slices.IndexFunc(c.fields, func(f computedField) bool { return path == gen.ComputedPrefix+f.name })
}

func (c *computedFields) compared(path string) *elementField {
	i := c.find(path)
	if i < 0 {
		return nil
	}
	by, ok := c.fields[i].by.(SingleComputation)
	if !ok {
		return nil
	}
	f := &elementField{
		Field: &collection.Field{Name: path, Steps: []collection.Step{{Kind: collection.Computed, Compute: by.Value}}},
		path:  []member{{c.of, path}}, param: c.fields[i].param,
	}
	f.goType = stepsTo(f.Field, c.fields[i].goType, f.param)
	return f
}

func (c *computedFields) reach(path string, mask *Mask) reach {
	if i := c.find(path); i >= 0 && !c.hidden(mask, i) {
		return reached
	}
	return nowhere
}

func (c *computedFields) visible(mask *Mask) (paths []string) {
	for i := range c.fields {
		if !c.hidden(mask, i) {
			paths = append(paths, gen.ComputedPrefix+c.fields[i].name)
		}
	}
	return paths
}

func (c *computedFields) valid(string, *Mask) []string { return nil }

func (c *computedFields) choose(presets, paths []string, mask *Mask) (chosen Behind) {
	for i := range c.fields {
		f := &c.fields[i]
		if !c.hidden(mask, i) && (slices.Contains(paths, gen.ComputedPrefix+f.name) ||
			slices.ContainsFunc(presets, func(name string) bool { return inPreset(f.presets, name) })) {
			chosen.computed = append(chosen.computed, i)
		}
	}
	return chosen
}

func (c *computedFields) hidden(mask *Mask, i int) bool {
	return mask.Hides(c.of, gen.ComputedPrefix+c.fields[i].name)
}

func (c *computedFields) mask(m *Mask) {
	for i := range c.fields {
		if c.hidden(m, i) {
			m.found[c.of+"."+gen.ComputedPrefix+c.fields[i].name] = true
		}
		m.values[c.fields[i].value] = m.of(c.fields[i].value)
	}
}

func (c *computedFields) receivers(chosen Behind) (places []int) {
	for _, i := range chosen.computed {
		places = append(places, c.fields[i].receivers...)
	}
	return places
}

func (c *computedFields) load(
	ctx context.Context, receivers []any, elements []unsafe.Pointer, chosen Behind, mask *Mask,
) (trailer, error) {
	if len(elements) == 0 {
		return nil, nil
	}
	values := &computedValues{columns: make([]column, 0, len(chosen.computed))}
	for _, i := range chosen.computed {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f := &c.fields[i]
		base, n, err := f.by.Values(ctx, receivers, elements)
		switch {
		case err != nil:
			return nil, err
		case n != len(elements):
			return nil, fmt.Errorf("computed field %s of %s has %d values for %d elements", f.name, c.of, n, len(elements))
		}
		column := column{field: f, base: base}
		if mask != nil {
			column.left = mask.values[f.value]
		}
		values.columns = append(values.columns, column)
	}
	return values, ctx.Err()
}

// computedValues are the computed fields that a request asks for, of all elements of a result.
type computedValues struct {
	columns []column
	next    int // the element whose values are to be written
}

// column is the values of a field.
type column struct {
	field *computedField
	left  *Subset // what a mask leaves of a value; nil: all
	base  unsafe.Pointer
}

func (v *computedValues) writeNext(w *wire.Writer, first bool) {
	w.Field(computedKey, first)
	w.BeginObject()
	for i := range v.columns {
		c := &v.columns[i]
		w.Field(c.field.key, i == 0)
		c.field.value.writeSelected(w, unsafe.Add(c.base, uintptr(v.next)*c.field.value.size), c.left)
	}
	w.EndObject()
	v.next++
}

// computedKey is the member of an element that holds its computed fields, with a comma, quotes and a colon.
const computedKey = `,"` + gen.ComputedMember + `":`
