package gen

import (
	"fmt"
	"reflect"
)

// Codec reads and writes the JSON of the messages of a library, such as those of protocol buffers, whose Go fields are
// not what JSON carries. Generated code names the functions of the library, so that package aql need not depend on it.
// CodecOf makes it.
type Codec struct {
	messages reflect.Type // the interface of the messages
	encode   func(message any) ([]byte, error)
	decode   func(text []byte, message any) error
}

// CodecOf returns the codec of the types whose pointers implement M. encode returns the JSON of a message, and decode
// makes a message what a JSON text says:
//
//	gen.CodecOf(protojson.Marshal, protojson.Unmarshal)
func CodecOf[M any](encode func(message M) ([]byte, error), decode func(text []byte, message M) error) Codec {
	return Codec{
		messages: reflect.TypeFor[M](),
		encode: func(message any) ([]byte, error) {
			m, ok := message.(M)
			if !ok {
				return nil, fmt.Errorf("%T is no %s", message, reflect.TypeFor[M]())
			}
			return encode(m)
		},
		decode: func(text []byte, message any) error {
			m, ok := message.(M)
			if !ok {
				return fmt.Errorf("%T is no %s", message, reflect.TypeFor[M]())
			}
			return decode(text, m)
		},
	}
}

// Reads reports whether the codec reads and writes structs of type t. A struct that embeds a message is none itself.
func (c *Codec) Reads(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || c.messages.Kind() != reflect.Interface ||
		!reflect.PointerTo(t).Implements(c.messages) {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && (f.Type.Implements(c.messages) || reflect.PointerTo(f.Type).Implements(c.messages)) {
			return false
		}
	}
	return true
}

// Encode returns the JSON of the message to which a pointer points.
func (c *Codec) Encode(message any) ([]byte, error) { return c.encode(message) }

// Decode makes the message to which a pointer points what a JSON text says.
func (c *Codec) Decode(text []byte, message any) error { return c.decode(text, message) }

// With adds codecs to the registry, and returns it. Of several codecs for the same messages the first counts.
func (r *Registry) With(codecs ...Codec) *Registry {
	for _, c := range codecs {
		known := false
		for i := range r.codecs {
			known = known || r.codecs[i].messages == c.messages
		}
		if !known {
			r.codecs = append(r.codecs, c)
		}
	}
	return r
}

// Codecs returns the codecs of the registry.
func (r *Registry) Codecs() []Codec { return r.codecs }
