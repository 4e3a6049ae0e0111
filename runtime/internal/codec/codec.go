// Package codec turns the definitions of an adapter and the Go types behind them into decoders, merges and encoders. A
// codec is compiled once, when the adapter is made: it knows every field's offset, so that a request goes from bytes into
// its struct without reflection, maps or intermediate values. What a definition says and what its Go type can hold are held
// against each other while compiling: generated code that is out of date is an error there, never a wrong byte in memory.
//
// The fields of structs are found by the names that the definitions give, promoted ones through the structs that are
// embedded. How a value is spelled follows encoding/json, except where MCP-AQL demands otherwise: unknown and duplicate names,
// null where a value is needed and numbers that a type cannot hold are refused, times are in UTC, and lists are never null.
package codec

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Set compiles codecs for the types of one adapter. It is not safe for concurrent use; the codecs are.
type Set struct {
	types    map[string]*gen.Type
	objects  map[objectKey]*object
	open     map[reflect.Type]*reading
	copies   []constrained
	records  map[objectKey]*record
	lists    map[reflect.Type]*writing
	patterns map[string]*pattern
}

// constrained is a reading like another one, which is not finished yet, with constraints of its own.
type constrained struct {
	copy, of *reading
	checks   *checks
}

// objectKey identifies a struct type in one of its meanings.
type objectKey struct {
	goType reflect.Type
	name   string // of the wire type
}

// NewSet returns a Set that knows these types by their names.
func NewSet(types []gen.Type) *Set {
	s := &Set{
		types: make(map[string]*gen.Type, len(types)), objects: make(map[objectKey]*object), open: make(map[reflect.Type]*reading),
		records: make(map[objectKey]*record), lists: make(map[reflect.Type]*writing),
		patterns: make(map[string]*pattern),
	}
	for i := range types {
		s.types[types[i].Name] = &types[i]
	}
	return s
}

// Request decodes the parameters of one operation into a Go struct.
type Request struct {
	object *object
}

// Request compiles the decoder of an operation's parameters; t is its request struct. The error tells what in t does not
// fit the definition.
func (s *Set) Request(t reflect.Type, o *gen.Operation) (*Request, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("requests of operation %s have type %s, which is no struct", o.Name, t)
	}
	compiled := &object{}
	if err := s.fillObject(compiled, t, o.Params); err != nil {
		return nil, fmt.Errorf("operation %s: %w", o.Name, err)
	}
	compiled.update = o.Category == gen.Update
	return &Request{compiled}, nil
}

// Given tells which parameters of a request were present. The zero value: none.
type Given struct {
	seen    bits // named, under whatever name
	present bits // and not null
	first   bits // named before those that KeepFirst set apart
	next    int  // where the next name is looked for first
}

// KeepFirst makes the parameters that were given so far win over what follows, where they may be given again.
func (g *Given) KeepFirst() { g.first, g.seen = g.seen, bits{} }

// Has reports whether the parameter at an index of the definition was given, and not null.
func (g *Given) Has(i int) bool { return g.present.has(i) }

// bits is a set of small numbers.
type bits struct {
	first uint64
	rest  []uint64
}

// add puts i into the set and reports whether it was there before.
func (b *bits) add(i int) (again bool) {
	if i >= 64 {
		return b.addFar(i)
	}
	mark := uint64(1) << i
	again = b.first&mark != 0
	b.first |= mark
	return again
}

//go:noinline
func (b *bits) addFar(i int) (again bool) {
	word, mark := b.beyond(i/64-1), uint64(1)<<(i%64)
	again = *word&mark != 0
	*word |= mark
	return again
}

func (b *bits) beyond(i int) *uint64 {
	for len(b.rest) <= i {
		b.rest = append(b.rest, 0)
	}
	return &b.rest[i]
}

func (b *bits) has(i int) bool {
	if i < 64 {
		return b.first>>i&1 != 0
	}
	return i/64-1 < len(b.rest) && b.rest[i/64-1]&(1<<(i%64)) != 0
}

// Next moves r to the next member of the object that holds the parameters, and reads its value into request, a pointer to
// the request struct. known is false, with the value not read, when there is no parameter of that name. null counts as
// absent (requirements REQ-VO-13), except where the type of the parameter tells the two apart. A parameter that comes
// again, under the same name or an alias, is a fault of r.
func (q *Request) Next(r *wire.Reader, request unsafe.Pointer, given *Given) (known, more bool) {
	o := q.object
	i, more := o.nextField(r, &given.next)
	if i < 0 || !more {
		return false, more
	}
	q.read(r, i, request, given)
	return true, true
}

// Member is Next for the member at which r stands.
func (q *Request) Member(r *wire.Reader, request unsafe.Pointer, given *Given) (known bool) {
	i := q.object.index.find(r.Name())
	if i >= 0 {
		q.read(r, i, request, given)
	}
	return i >= 0
}

func (q *Request) read(r *wire.Reader, i int, request unsafe.Pointer, given *Given) {
	f := &q.object.fields[i]
	switch {
	case given.first.has(i):
		r.Skip()
	case given.seen.add(i):
		r.Duplicate(f.name)
	case !f.nullable && r.Null():
	default:
		given.present.add(i)
		f.value.read(r, f.place(request), q.object.update && f.input)
	}
}

// Complete reports the required parameters that are absent, and fills in the defaults of the others.
func (q *Request) Complete(r *wire.Reader, request unsafe.Pointer, given *Given) {
	q.object.complete(r, request, &given.present)
}

// inputName is the parameter that says what an update changes. What it holds follows the rules of updates: null is not
// absence (requirements REQ-UP-02, REQ-UP-09).
const inputName = "input"

// Result encodes what a handler returns.
type Result struct {
	value *writing
	items bool
}

// Result compiles the encoder of results of Go type t, which go by the wire type called name.
func (s *Set) Result(t reflect.Type, name string) (*Result, error) {
	elem := t
	for elem.Kind() == reflect.Pointer && !writesItself(elem) {
		elem = elem.Elem()
	}
	items := (elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array) && !writesItself(elem) && !isBytes(elem)
	param := gen.Param{Type: name}
	switch wireType := s.types[name]; {
	case wireType == nil:
		return nil, fmt.Errorf("the definitions have no type %q; the generated code is out of date", name)
	case items && len(wireType.Fields) == 1:
		param = wireType.Fields[0]
	case wireType.Items != nil:
		param = gen.Param{Type: "object", Items: wireType.Items}
	}
	value, err := s.writing(t, &param)
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", name, err)
	}
	return &Result{value: value, items: items}, nil
}

// Write writes a result, which has the type that the codec was compiled for, or the part of it that subset tells; nil: all. An
// agent sees a list as an object with items, which has room for more (requirements T-90).
func (c *Result) Write(w *wire.Writer, result any, subset *Subset) {
	v := reflect.ValueOf(result)
	value := c.value
	if !v.IsValid() { // an interface that holds nothing
		w.Null()
		return
	}
	if value.kind != kindAny && v.Type() != value.goType {
		w.Fail(fmt.Errorf("the handler returned %s instead of %s; the generated code is out of date", v.Type(), value.goType))
		w.Null()
		return
	}
	var p unsafe.Pointer
	switch value.kind {
	case kindAny:
		w.Any(result)
		return
	case kindPointer:
		p, value = v.UnsafePointer(), value.elem
		for c.items && value.kind == kindPointer && p != nil {
			p, value = *(*unsafe.Pointer)(p), value.elem
		}
		if p == nil {
			w.Null()
			return
		}
	case kindSlice, kindStrings:
		c.writeList(w, value, v, subset)
		return
	default:
		whole := reflect.New(value.goType)
		whole.Elem().Set(v)
		p = whole.UnsafePointer()
	}
	if c.items {
		w.BeginObject()
		w.Key("items")
		value.writeSelected(w, p, subset)
		w.EndObject()
		return
	}
	value.writeSelected(w, p, subset)
}

// writeList writes a slice that the handler returned.
func (c *Result) writeList(w *wire.Writer, value *writing, list reflect.Value, subset *Subset) {
	if c.items {
		w.BeginObject()
		w.Key("items")
		defer w.EndObject()
	}
	if value.kind == kindStrings {
		w.Any(list.Interface())
		return
	}
	value.writeElements(w, list.UnsafePointer(), list.Len(), subset)
}
