package codec

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

func (s *Set) optionalWriting(n *writing, t reflect.Type, p *gen.Param) error {
	elem, err := s.writing(t.Field(1).Type, p)
	n.kind, n.elem, n.offset = kindOptional, elem, t.Field(1).Offset
	return err
}

// numberOrZero is how encoding/json writes a json.Number.
func numberOrZero(n json.Number) json.Number {
	return cmp.Or(n, "0")
}

func (n *writing) writeAny(w *wire.Writer, p unsafe.Pointer) {
	if n.goType.NumMethod() == 0 {
		w.Any(*(*any)(p))
		return
	}
	w.Any(reflect.NewAt(n.goType, p).Elem().Interface())
}

// writeRaw writes JSON that the handler made. encoding/json checks and compacts it, and so is it here.
func (n *writing) writeRaw(w *wire.Writer, text []byte) {
	if text == nil {
		w.Null()
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		w.Fail(fmt.Errorf("writing %s: %w", n.goType, err))
		w.Null()
		return
	}
	writeForeign(w, compact.String())
}

// writeForeign writes JSON that users' code made, which only encoding/json has looked at: what is not UTF-8 there becomes
// U+FFFD, as it does in strings (requirements REQ-DE-01).
func writeForeign(w *wire.Writer, text string) { w.Raw(strings.ToValidUTF8(text, "\ufffd")) }

func (n *writing) writeText(w *wire.Writer, p unsafe.Pointer) {
	var text []byte
	err := guarded(func() (err error) {
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
	w.String(string(text))
}

func (n *writing) writeJSON(w *wire.Writer, p unsafe.Pointer) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := guarded(func() error { return encoder.Encode(reflect.NewAt(n.goType, p).Interface()) }); err != nil {
		w.Fail(fmt.Errorf("writing %s: %w", n.goType, err))
		w.Null()
		return
	}
	writeForeign(w, strings.TrimSuffix(text.String(), "\n"))
}

// writeQuoted writes a value with encoding/json's option "string": its JSON text, as a string.
func (n *writing) writeQuoted(w *wire.Writer, p unsafe.Pointer) {
	elem := n.elem
	for elem.kind == kindPointer {
		if p = *(*unsafe.Pointer)(p); p == nil {
			w.Null()
			return
		}
		elem = elem.elem
	}
	inner := wire.NewWriter(nil)
	elem.write(inner, p)
	if err := inner.Err(); err != nil {
		w.Fail(err)
	}
	w.String(string(inner.Bytes()))
}

// keyWriter returns what spells a key of a map; nil: the key is a string.
func keyWriter(t reflect.Type) (func(key reflect.Value) (string, error), error) {
	switch {
	case t.Kind() == reflect.String:
		return nil, nil
	case t.Implements(textMarshalerType):
		return func(key reflect.Value) (string, error) {
			if key.Kind() == reflect.Pointer && key.IsNil() {
				return "", nil
			}
			marshaler, ok := key.Interface().(encoding.TextMarshaler)
			if !ok {
				return "", fmt.Errorf("not a TextMarshaler")
			}
			text, err := marshaler.MarshalText()
			return string(text), err
		}, nil
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return func(key reflect.Value) (string, error) { return strconv.FormatInt(key.Int(), 10), nil }, nil
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr:
		return func(key reflect.Value) (string, error) { return strconv.FormatUint(key.Uint(), 10), nil }, nil
	}
	return nil, fmt.Errorf("maps with keys of type %s cannot be written", t)
}

// entry is an entry of a map, on its way to its place.
type entry struct {
	name  string
	value reflect.Value
}

func (n *writing) writeMap(w *wire.Writer, p unsafe.Pointer) {
	entries := reflect.NewAt(n.goType, p).Elem()
	if entries.IsNil() || w.TooDeep() {
		w.Null()
		return
	}
	sorted := make([]entry, 0, entries.Len())
	for iterator := entries.MapRange(); iterator.Next(); {
		name := ""
		if n.key == nil {
			name = iterator.Key().String()
		} else if err := guarded(func() (err error) { name, err = n.key(iterator.Key()); return err }); err != nil {
			w.Fail(fmt.Errorf("writing a key of %s: %w", n.goType, err))
		}
		sorted = append(sorted, entry{name, iterator.Value()})
	}
	slices.SortFunc(sorted, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	value := reflect.New(n.goType.Elem())
	w.BeginObject()
	for _, e := range sorted {
		if w.KeyEscaped(e.name); w.Err() != nil {
			break
		}
		value.Elem().Set(e.value)
		n.elem.write(w, value.UnsafePointer())
	}
	w.EndObject()
}

// isZeroer is how a type tells what encoding/json's omitzero leaves out.
type isZeroer interface{ IsZero() bool }

var isZeroerType = reflect.TypeFor[isZeroer]()

// zeroTest returns what encoding/json's omitzero asks about values of type t.
func zeroTest(t reflect.Type) func(p unsafe.Pointer) bool {
	asks := func(value reflect.Value) bool {
		zeroer, ok := reflect.TypeAssert[isZeroer](value)
		return ok && zeroer.IsZero()
	}
	switch {
	case t == timeType:
		return func(p unsafe.Pointer) bool { return (*time.Time)(p).IsZero() }
	case isOptional(t):
		return func(p unsafe.Pointer) bool { return *(*Presence)(p) == Absent }
	case (t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface) && t.Implements(isZeroerType):
		return func(p unsafe.Pointer) bool {
			value := reflect.NewAt(t, p).Elem()
			return value.IsNil() || value.Elem().Kind() == reflect.Pointer && value.Elem().IsNil() || asks(value)
		}
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(isZeroerType):
		return func(p unsafe.Pointer) bool { return asks(reflect.NewAt(t, p)) }
	}
	return func(p unsafe.Pointer) bool { return reflect.NewAt(t, p).Elem().IsZero() }
}
