package codec

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Request decodes the parameters of one operation into a Go struct.
type Request struct {
	object  *structDecoder
	message *message // of a request that has a codec; nil: it has none
}

// Request compiles the decoder of an operation's parameters. t is the type of its request struct. It fails where t
// does not fit the definition.
func (s *Set) Request(t reflect.Type, o *gen.Operation) (*Request, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("requests of operation %s have type %s, which is no struct", o.Name, t)
	}
	compiled, q := &structDecoder{}, &Request{}
	if c := s.forms.codecOf(t); c != nil {
		var err error
		if q.message, err = s.requestMessage(c, o); err != nil {
			return nil, fmt.Errorf("operation %s: %w", o.Name, err)
		}
		t = q.message.form
	}
	if err := s.fillStruct(compiled, t, o.Params); err != nil {
		return nil, fmt.Errorf("operation %s: %w", o.Name, err)
	}
	compiled.update = o.Category == gen.Update
	q.object = compiled
	return q, nil
}

// inputName is the parameter of an update that holds the changes. In it, null is not the same as absence (MCP-AQL core
// §4.5).
const inputName = "input"

// Given is the set of parameters that a request has given. The zero value is empty.
type Given struct {
	seen  bits // given, under any of their names
	null  bits // given as null, which counts as absence
	first bits // given before KeepFirst was called
	next  int  // index of the parameter that is likely to come next
}

// KeepFirst lets the parameters that were given so far be given once more. What is then given for them is skipped.
func (g *Given) KeepFirst() { g.first = bits{g.seen.first, slices.Clone(g.seen.rest)} }

// Has reports whether the parameter with index i in the definition was given and is not null.
func (g *Given) Has(i int) bool { return g.seen.has(i) && !g.null.has(i) }

// New returns a new request of type t, which the handler gets, and the place that the parameters are read into: the
// request itself, or its form, which Finish carries into the request.
func (q *Request) New(t reflect.Type) (request any, place unsafe.Pointer) {
	value := reflect.New(t)
	if q.message != nil {
		return value.Interface(), reflect.New(q.message.form).UnsafePointer()
	}
	return value.Interface(), value.UnsafePointer()
}

// Finish carries what was read into the request that a handler gets. It comes after Complete, and does nothing where r
// has problems.
func (q *Request) Finish(r *wire.Reader, place unsafe.Pointer, request any) {
	if q.message == nil || !r.OK() {
		return
	}
	if err := q.message.into(place, request); err != nil {
		q.refuse(r, place, request, err)
	}
}

// At returns a pointer to what the parameter with index i was read into; invalid: there is nothing.
func (q *Request) At(i int, place unsafe.Pointer) reflect.Value {
	f := &q.object.fields[i]
	p := f.location.address(place)
	if p == nil || f.value.kind == kindConstant {
		return reflect.Value{}
	}
	return reflect.NewAt(f.value.goType, p)
}

// Next moves r to the next member of the object that holds the parameters, and reads its value into request, the place
// that New returned. more is false where the object ends. known is false where there is no parameter of
// that name; the value is then still to be read.
//
// null counts as absence (MCP-AQL core §4.7.6), except where the type of the parameter distinguishes them. A parameter
// that is given twice, under one name or two, is a fault of r.
func (q *Request) Next(r *wire.Reader, request unsafe.Pointer, given *Given) (known, more bool) {
	o := q.object
	i, more := o.nextField(r, &given.next)
	if i < 0 || !more {
		return false, more
	}
	q.read(r, i, request, given)
	return true, true
}

// Member is Next for the member to which r has moved already.
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
	case r.AtNull() && !f.nullable && r.Null():
		given.null.add(i)
	case f.excludes != nil && q.object.conflict(r, f, &given.seen, &given.null):
	default:
		f.value.read(r, f.location.allocate(request), q.object.update && f.input)
	}
}

// Complete reports the required parameters that are absent, and sets the others that are absent to their defaults.
func (q *Request) Complete(r *wire.Reader, request unsafe.Pointer, given *Given) {
	q.object.complete(r, request, &given.seen, &given.null)
}

// bits is a set of small numbers.
type bits struct {
	first uint64
	rest  []uint64
}

// add adds i to the set and reports whether it was there before.
func (b *bits) add(i int) (again bool) {
	if before := b.first; i < 64 {
		b.first |= 1 << i
		return b.first == before
	}
	return b.addLarge(i)
}

//go:noinline
func (b *bits) addLarge(i int) (again bool) {
	word, mark := b.largeWord(i/64-1), uint64(1)<<(i%64)
	again = *word&mark != 0
	*word |= mark
	return again
}

func (b *bits) largeWord(i int) *uint64 {
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
