package codec

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// methodKind returns how a type with methods is written. Methods of the pointer are called for every value.
// encoding/json cannot call them on elements of maps, nor on what is passed to it by value: it would write the fields
// of a type there that is otherwise text, and a client could not send back what it received. A type that has only a
// method for reading is left to encoding/json, since the definition does not say what it consists of.
func methodKind(t reflect.Type) kind {
	pointer := reflect.PointerTo(t)
	if !pointer.Implements(marshalerType) && pointer.Implements(textMarshalerType) {
		return kindText
	}
	return kindJSON
}

// numberOrZero is how encoding/json writes a json.Number.
func numberOrZero(n json.Number) json.Number {
	return cmp.Or(n, "0")
}

func (n *encoder) writeAny(w *wire.Writer, p unsafe.Pointer) {
	if n.goType.NumMethod() == 0 {
		w.Any(*(*any)(p))
		return
	}
	w.Any(reflect.NewAt(n.goType, p).Elem().Interface())
}

// writeRaw writes JSON from a handler. As in encoding/json, it is checked and compacted; other than there, a name that
// stands twice in one object is an error, as it is in requests.
func (n *encoder) writeRaw(w *wire.Writer, text []byte) {
	if text == nil || w.Refuses(len(text)) {
		w.Null()
		return
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, text)
	if err == nil {
		err = w.Checked(compact.String())
	}
	if err != nil {
		w.Fail(fmt.Errorf("writing %s: %w", n.goType, err))
		w.Null()
	}
}

// writeText writes a string by the type's method for text.
func (n *encoder) writeText(w *wire.Writer, p unsafe.Pointer) {
	var text []byte
	err := callUser(func() (err error) {
		marshaler, ok := reflect.NewAt(n.goType, p).Interface().(encoding.TextMarshaler)
		if !ok {
			return fmt.Errorf("not a TextMarshaler")
		}
		text, err = marshaler.MarshalText()
		return err
	})
	if err != nil {
		w.Fail(fmt.Errorf("writing %s: %w", n.goType, err))
		w.Null()
		return
	}
	if w.Refuses(len(text)) {
		w.Null()
		return
	}
	w.String(string(text))
}

// writeJSON writes a value by the type's method for JSON, or by encoding/json where the type has no such method.
func (n *encoder) writeJSON(w *wire.Writer, p unsafe.Pointer) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := callUser(func() error { return encoder.Encode(reflect.NewAt(n.goType, p).Interface()) })
	if err == nil && w.Refuses(text.Len()) {
		w.Null()
		return
	}
	if err == nil && !n.writesAsDefined(text.Bytes()) {
		err = fmt.Errorf("the definition says %s, but it writes %.40s", n.wireType, text.String())
	}
	if err == nil {
		err = w.Checked(strings.TrimSuffix(text.String(), "\n"))
	}
	if err != nil {
		w.Fail(fmt.Errorf("writing %s: %w", n.goType, err))
		w.Null()
	}
}

// writesAsDefined reports whether the JSON that a type wrote is of the kind that its definition says. It may be null.
func (n *encoder) writesAsDefined(text []byte) bool {
	if len(text) == 0 || text[0] == 'n' {
		return true
	}
	switch first := text[0]; n.wireType {
	case "string":
		return first == '"'
	case "integer", "number":
		return first == '-' || first >= '0' && first <= '9'
	case "boolean":
		return first == 't' || first == 'f'
	case "array":
		return first == '['
	case "object":
		return first == '{'
	default:
		return true
	}
}
