package codec

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Result encodes what a handler returns.
type Result struct {
	value *encoder
	items bool
}

// Result compiles the encoder of results of Go type t, which are the wire type called name.
func (s *Set) Result(t reflect.Type, name string) (*Result, error) {
	elem := t
	for elem.Kind() == reflect.Pointer && !hasMethods(elem) {
		elem = elem.Elem()
	}
	items := (elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array) && !hasMethods(elem) && !isBytes(elem)
	param := gen.Param{Type: name}
	switch wireType := s.types[name]; {
	case wireType == nil:
		return nil, fmt.Errorf("the definitions have no type %q; the generated code is out of date", name)
	case items && len(wireType.Fields) == 1:
		param = wireType.Fields[0]
	case wireType.Items != nil:
		param = gen.Param{Type: "object", Items: wireType.Items}
	}
	value, err := s.encoder(t, &param)
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", name, err)
	}
	return &Result{value: value, items: items}, nil
}

// Write writes the part of a result that is in subset; nil means all of it. The result has the type that the codec was
// compiled for. A list is written as {"items":[…]}, since the protocol has no type for lists (MCP-AQL introspection).
func (c *Result) Write(w *wire.Writer, result any, subset *Subset) {
	v := reflect.ValueOf(result)
	value := c.value
	if !v.IsValid() { // a nil interface
		w.Null()
		return
	}
	if value.kind != kindAny && v.Type() != value.goType {
		w.Fail(fmt.Errorf("the handler returned %s instead of %s; the generated code is out of date",
			v.Type(), value.goType))
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
		addressable := reflect.New(value.goType)
		addressable.Elem().Set(v)
		p = addressable.UnsafePointer()
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
func (c *Result) writeList(w *wire.Writer, value *encoder, list reflect.Value, subset *Subset) {
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
