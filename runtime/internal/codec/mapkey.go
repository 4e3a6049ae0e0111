package codec

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// keyReader returns a function that parses a member's name as a key of type t; nil means that keys are strings.
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

// keyExpected names what problems expect of keys of type t.
func keyExpected(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(textUnmarshalerType) {
		return wellFormed + "name"
	}
	return "integer"
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
		r.NameMismatch(keyExpected(n.goType.Key()))
		return false
	}
	return true
}

// keyWriter returns a function that spells keys of type t; nil means that keys are strings.
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
