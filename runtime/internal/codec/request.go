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
	object *structDecoder
}

// Request compiles the decoder of an operation's parameters. t is the type of its request struct. It fails where t
// does not fit the definition.
func (s *Set) Request(t reflect.Type, o *gen.Operation) (*Request, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("requests of operation %s have type %s, which is no struct", o.Name, t)
	}
	compiled := &structDecoder{}
	if err := s.fillStruct(compiled, t, o.Params); err != nil {
		return nil, fmt.Errorf("operation %s: %w", o.Name, err)
	}
	compiled.update = o.Category == gen.Update
	return &Request{compiled}, nil
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

// Next moves r to the next member of the object that holds the parameters, and reads its value into request, a
// pointer to the request struct. more is false where the object ends. known is false where there is no parameter of
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
