package codec

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// keyReader is how names are read as keys of a map.
type keyReader func(name string, key reflect.Value) error

// keyReader compiles the reader of keys of type t, which p describes, and names what it expects of a name. It returns
// nil where keys are strings.
func (s *Set) keyReader(t reflect.Type, p *gen.Param) (keyReader, string, error) {
	text := reflect.PointerTo(t).Implements(textUnmarshalerType)
	integer := !text && t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr
	if integer != (p != nil && p.Type == "integer") {
		return nil, "", fmt.Errorf("the definition describes other keys than those of type %s; "+
			"the generated code is out of date", t)
	}
	switch {
	case t == timeType:
		return readTimeKey, "date-time", nil
	case text:
		return readTextKey, formOfKey(p), nil
	case t.Kind() == reflect.String:
		return nil, "", nil
	case !integer:
		return nil, "", fmt.Errorf("maps with keys of type %s cannot be read", t)
	}
	n := &decoder{kind: kindInt, goType: t, bits: t.Bits()}
	if t.Kind() >= reflect.Uint {
		n.kind = kindUint
	}
	limits, err := s.constraints(n, p)
	if err != nil {
		return nil, "", err
	}
	return n.integerKey(limits), "integer" + p.Range(), nil
}

var errNoKey = errors.New("not a key")

// integerKey returns the reader of integers that are keys, each in its one spelling.
func (n *decoder) integerKey(limits *constraints) keyReader {
	if limits == nil {
		limits = new(constraints)
	}
	low, high := limits.low, limits.high
	if n.kind == kindUint {
		return func(name string, key reflect.Value) error {
			v, err := strconv.ParseUint(name, 10, n.bits)
			if err != nil || !isPlainInteger(name) || low != nil && v < low.uint || high != nil && v > high.uint {
				return errNoKey
			}
			key.SetUint(v)
			return nil
		}
	}
	return func(name string, key reflect.Value) error {
		v, err := strconv.ParseInt(name, 10, n.bits)
		if err != nil || !isPlainInteger(name) || low != nil && v < low.int || high != nil && v > high.int {
			return errNoKey
		}
		key.SetInt(v)
		return nil
	}
}

// readTextKey reads a key by its method for text.
func readTextKey(name string, key reflect.Value) error {
	unmarshaler, ok := key.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok {
		return errNoKey
	}
	return unmarshaler.UnmarshalText([]byte(name))
}

// readTimeKey reads a time as one in UTC, so that each moment is one key.
func readTimeKey(name string, key reflect.Value) error {
	if !wire.IsDateTime(name) {
		return errNoKey
	}
	t, err := time.Parse(time.RFC3339Nano, name)
	key.Set(reflect.ValueOf(t.UTC()))
	return err
}

// formOfKey names what problems expect of a name that a key reads as text.
func formOfKey(p *gen.Param) string {
	if p == nil || p.Format == "" {
		return wellFormed + "name"
	}
	return p.Format
}

// readKey sets key to the key that the current name spells. It returns false, and reports a problem, where it spells
// none.
func (n *decoder) readKey(r *wire.Reader, key reflect.Value) (valid bool) {
	if n.key == nil {
		key.SetString(r.Retain(r.Name()))
		return true
	}
	key.SetZero()
	if err := callUser(func() error { return n.key(r.Name(), key) }); err != nil {
		r.NameMismatch(n.form)
		return false
	}
	return true
}

// keyWriter returns a function that spells keys of type t; nil means that keys are strings.
func keyWriter(t reflect.Type) (func(key reflect.Value) (string, error), error) {
	switch {
	case t.Kind() == reflect.String:
		return nil, nil
	case t == timeType:
		return writeTimeKey, nil
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

// writeTimeKey spells a time as results do: in UTC.
func writeTimeKey(key reflect.Value) (string, error) {
	t, ok := key.Interface().(time.Time)
	if !ok {
		return "", errNoKey
	}
	text, err := t.UTC().MarshalText()
	return string(text), err
}
