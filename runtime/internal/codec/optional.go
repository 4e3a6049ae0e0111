package codec

import (
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Presence is the state of an aql.Optional: whether a request has its value.
type Presence uint8

// The states. The zero value is Absent.
const (
	Absent  Presence = iota // the request does not name it
	Null                    // its value is null
	Present                 // it has a value
)

var presenceType = reflect.TypeFor[Presence]()

// isOptional recognises aql.Optional[T], which has a Presence and a T.
func isOptional(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Type == presenceType
}

func (s *Set) optionalDecoder(n *decoder, t reflect.Type, p *gen.Param) error {
	elem, err := s.decoder(t.Field(1).Type, p)
	if err != nil {
		return err
	}
	n.kind, n.expected, n.elem, n.offset = kindOptional, elem.expected, elem, t.Field(1).Offset
	return nil
}

func (n *decoder) readOptional(r *wire.Reader, p unsafe.Pointer, update bool) {
	presence := (*Presence)(p)
	if r.Null() {
		*presence = Null
		return
	}
	*presence = Present
	n.elem.read(r, unsafe.Add(p, n.offset), update)
}

func (s *Set) optionalEncoder(n *encoder, t reflect.Type, p *gen.Param) error {
	elem, err := s.encoder(t.Field(1).Type, p)
	n.kind, n.elem, n.offset = kindOptional, elem, t.Field(1).Offset
	return err
}
