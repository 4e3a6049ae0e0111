package codec

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

var (
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	marshalerType       = reflect.TypeFor[json.Marshaler]()
	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
)

// readsItself reports whether a type has methods of its own for its JSON, in either direction: a type that only writes
// itself is read as encoding/json would.
func readsItself(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	pointer := reflect.PointerTo(t)
	return pointer.Implements(unmarshalerType) || pointer.Implements(textUnmarshalerType) ||
		pointer.Implements(marshalerType) || pointer.Implements(textMarshalerType)
}

// isBytes reports whether encoding/json takes a type for binary data: a slice of bytes that do not write themselves.
func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !readsItself(t.Elem())
}

// guarded calls a method of a user's type. A panic is an error.
func guarded(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return call()
}

func (n *reading) readText(r *wire.Reader, p unsafe.Pointer) {
	text, ok := r.String()
	if !ok || n.checks != nil && !n.checks.text(r, text) {
		return
	}
	n.clear(p)
	value, ok := reflect.NewAt(n.goType, p).Interface().(encoding.TextUnmarshaler)
	if !ok || guarded(func() error { return value.UnmarshalText([]byte(text)) }) != nil {
		r.Mismatch(n.wanted)
	}
}

// wellFormed is what is expected of a value that its own type refuses: agents are not shown the types of Go.
const wellFormed = "well-formed "

// wantedOf names what a type that reads itself accepts, as far as the definition tells.
func wantedOf(p *gen.Param) string {
	switch {
	case p.Format != "":
		return p.Format
	case p.Type == "any":
		return wellFormed + "value"
	case p.Type == "string":
		return wellFormed + "text"
	default:
		return p.Type
	}
}

// readJSON reads a value by the type's own method, or by encoding/json where it has none for this direction.
func (n *reading) readJSON(r *wire.Reader, p unsafe.Pointer) {
	kind := r.Kind()
	text := r.Raw()
	if text == "" {
		return
	}
	if !n.admits(kind) {
		r.Mismatch(n.expected)
		return
	}
	n.clear(p)
	value := reflect.NewAt(n.goType, p)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields() // of a type that only writes itself, which encoding/json reads field by field
	if guarded(func() error { return decoder.Decode(value.Interface()) }) != nil {
		r.Mismatch(n.wanted)
	}
}

// clear makes the value at p zero. A type's own methods would otherwise read into memory that a merge only borrowed: the
// digits of a big.Int, the entries of a map.
func (n *reading) clear(p unsafe.Pointer) { reflect.NewAt(n.goType, p).Elem().SetZero() }

// admits reports whether a JSON kind is what the definition says.
func (n *reading) admits(kind string) bool {
	switch n.expected {
	case "string", "boolean", "array", "object", "number":
		return kind == n.expected
	case "integer":
		return kind == "number"
	default:
		return true
	}
}

// quotedReading compiles the reader of a field with encoding/json's option "string": its JSON, inside a string.
func (s *Set) quotedReading(t reflect.Type, p *gen.Param) (*reading, error) {
	inner := *p
	inner.Type = scalarName(t)
	inner.Format = ""
	elem, err := s.reading(t, &inner)
	if err != nil {
		return nil, err
	}
	return &reading{kind: kindQuoted, goType: t, size: t.Size(), expected: "string", elem: elem}, nil
}

// scalarName is the JSON kind of a scalar Go type.
func scalarName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		if t == numberType {
			return "number"
		}
		return "string"
	case reflect.Float32, reflect.Float64:
		return "number"
	default:
		return "integer"
	}
}

func (n *reading) readQuoted(r *wire.Reader, p unsafe.Pointer) {
	text, ok := r.String()
	if !ok {
		return
	}
	inner := wire.NewReader(text, wire.Limits{})
	if inner.Kind() == "null" {
		r.Mismatch(n.elem.expected + " in quotes")
		return
	}
	n.elem.read(inner, p, false)
	inner.End()
	r.TakeProblemsOf(inner, n.elem.expected+" in quotes")
}

// keyReader returns what turns a member's name into a key of a map; nil: the key is a string.
func keyReader(t reflect.Type) (func(name string, key reflect.Value) error, error) {
	switch {
	case reflect.PointerTo(t).Implements(textUnmarshalerType):
		return func(name string, key reflect.Value) error {
			unmarshaler, ok := key.Addr().Interface().(encoding.TextUnmarshaler)
			if !ok {
				return errors.New("not a TextUnmarshaler")
			}
			return unmarshaler.UnmarshalText([]byte(name))
		}, nil
	case t.Kind() == reflect.String:
		return nil, nil
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return func(name string, key reflect.Value) error {
			v, err := strconv.ParseInt(name, 10, t.Bits())
			key.SetInt(v)
			return err
		}, nil
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr:
		return func(name string, key reflect.Value) error {
			v, err := strconv.ParseUint(name, 10, t.Bits())
			key.SetUint(v)
			return err
		}, nil
	}
	return nil, fmt.Errorf("maps with keys of type %s cannot be read", t)
}

// keyExpected names what the keys of a map must be.
func keyExpected(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(textUnmarshalerType) {
		return wellFormed + "name"
	}
	return "integer"
}

// Patch is the part of aql.Patch that does not depend on its type: what was sent, and how it is merged.
type Patch struct {
	raw     string
	target  *reading
	changes *changes
}

// Raw returns the patch as it was sent; empty if no request brought one.
func (p *Patch) Raw() string { return p.raw }

// Merge merges the patch into the resource at which resource points, without reading it again. It returns false, with the
// resource unchanged, when the patch does not fit it, and when it was called before: MergeFrom does it then.
func (p *Patch) Merge(resource unsafe.Pointer) bool {
	c := p.changes
	if c == nil || !c.spent.CompareAndSwap(false, true) {
		return false
	}
	if !c.doubt {
		_, ok := c.apply(c.list, resource)
		return ok
	}
	whole := copied(p.target.goType, resource)
	_, ok := c.apply(c.list, whole)
	if ok {
		p.target.move(resource, whole)
	}
	return ok
}

// MergeFrom merges what r reads as Merge does, and leaves what does not fit as problems of r.
func (p *Patch) MergeFrom(r *wire.Reader, resource unsafe.Pointer) bool {
	whole := copied(p.target.goType, resource)
	p.target.merge(r, whole)
	if !r.OK() {
		return false
	}
	p.target.move(resource, whole)
	return true
}

var patchType, presenceType = reflect.TypeFor[Patch](), reflect.TypeFor[Presence]()

// isPatch recognises aql.Patch[T], which begins with an empty array of T and a Patch.
func isPatch(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(1).Type == patchType && t.Field(0).Type.Kind() == reflect.Array
}

func (s *Set) patchReading(n *reading, t reflect.Type, p *gen.Param) error {
	n.kind, n.expected, n.offset = kindPatch, "object", t.Field(1).Offset
	changes := s.types[p.Type]
	if changes == nil || changes.Changes == "" {
		return fmt.Errorf("the definition says %s, but the Go type is %s; the generated code is out of date", p.Type, t)
	}
	var err error
	n.elem, err = s.reading(t.Field(0).Type.Elem().Elem(), &gen.Param{Type: changes.Changes})
	return err
}

// readPatch validates a patch by merging it onto a zero resource, so that what Apply will do later has been done once before
// the handler runs.
func (n *reading) readPatch(r *wire.Reader, p unsafe.Pointer) {
	scratch := reflect.New(n.elem.goType).UnsafePointer()
	var record *changes
	r.Kind()
	start := r.Offset()
	r.Preserve(true)
	if n.elem.kind == kindStruct {
		record = &changes{start: start}
		n.elem.object.merge(r, scratch, record)
	} else {
		n.elem.merge(r, scratch)
	}
	r.Preserve(false)
	if r.OK() {
		raw := r.RetainText(start, r.Offset())
		if record != nil {
			record.raw = raw
		}
		*(*Patch)(unsafe.Add(p, n.offset)) = Patch{raw, n.elem, record}
	}
}

// Presence tells whether a request said something about a value: the state of an aql.Optional.
type Presence uint8

// The states. The zero value: the request did not mention it.
const (
	Absent Presence = iota
	Null
	Present
)

// isOptional recognises aql.Optional[T], which begins with a Presence and a T.
func isOptional(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Type == presenceType
}

func (s *Set) optionalReading(n *reading, t reflect.Type, p *gen.Param) error {
	elem, err := s.reading(t.Field(1).Type, p)
	if err != nil {
		return err
	}
	n.kind, n.expected, n.elem, n.offset = kindOptional, elem.expected, elem, t.Field(1).Offset
	return nil
}

func (n *reading) readOptional(r *wire.Reader, p unsafe.Pointer, update bool) {
	presence := (*Presence)(p)
	if r.Null() {
		*presence = Null
		return
	}
	*presence = Present
	n.elem.read(r, unsafe.Add(p, n.offset), update)
}
