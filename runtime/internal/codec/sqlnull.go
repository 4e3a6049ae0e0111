package codec

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// isSQLNull recognises sql.Null[T], sql.NullString and the other types of database/sql that hold a value or null. They
// have the value and a bool Valid. The package is known by its path, since adapters need not link it.
func isSQLNull(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.PkgPath() == "database/sql" &&
		strings.HasPrefix(t.Name(), "Null") && t.Field(1).Name == "Valid" && t.Field(1).Type.Kind() == reflect.Bool
}

// sqlNullDecoder compiles the decoder of a value or null. Null is the zero value, which a struct of a new request has.
func (s *Set) sqlNullDecoder(n *decoder, t reflect.Type, p *gen.Param) error {
	elem, err := s.decoder(t.Field(0).Type, p)
	if err != nil {
		return err
	}
	n.kind, n.expected, n.elem, n.offset = kindSQLNull, elem.expected, elem, t.Field(1).Offset
	return nil
}

// readSQLNull reads a value, which is never null, into the first field, and sets the second.
func (n *decoder) readSQLNull(r *wire.Reader, p unsafe.Pointer, update bool) {
	*(*bool)(unsafe.Add(p, n.offset)) = true
	n.elem.read(r, p, update)
}

// mergeSQLNull merges a value, which is never null.
func (n *decoder) mergeSQLNull(r *wire.Reader, p unsafe.Pointer, mode mergeMode) {
	valid := (*bool)(unsafe.Add(p, n.offset))
	absent := !*valid
	if absent {
		n.clear(p)
	}
	*valid = true
	n.elem.merge(r, p, mode.within(absent))
}

func (s *Set) sqlNullEncoder(n *encoder, t reflect.Type, p *gen.Param) error {
	elem, err := s.encoder(t.Field(0).Type, p)
	n.kind, n.elem, n.offset = kindSQLNull, elem, t.Field(1).Offset
	return err
}

// writeSQLNull writes the part of the value at p that is in subset, or null.
func (n *encoder) writeSQLNull(w *wire.Writer, p unsafe.Pointer, subset *Subset) {
	if !*(*bool)(unsafe.Add(p, n.offset)) {
		w.Null()
		return
	}
	n.elem.writeSelected(w, p, subset)
}
