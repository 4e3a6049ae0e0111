package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// defaultValue is the default of a field.
type defaultValue struct {
	value  *decoder
	goType reflect.Type
	text   string        // the JSON of the value
	fixed  reflect.Value // the value itself; invalid where copies of it would share memory
}

// newDefault compiles a default from its JSON text. It fails where the field does not accept the value.
func newDefault(value *decoder, t reflect.Type, text string) (*defaultValue, error) {
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("default %s is not JSON", text)
	}
	f := &defaultValue{value: value, goType: t, text: text}
	fixed := reflect.New(t)
	r := wire.NewReader(text, wire.Limits{})
	value.read(r, fixed.UnsafePointer(), false)
	if !r.OK() {
		return nil, fmt.Errorf("default %s does not meet the definition", text)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.fixed = fixed.Elem()
	}
	return f, nil
}

// set sets the field at p to its default.
func (f *defaultValue) set(p unsafe.Pointer) {
	if f.fixed.IsValid() {
		reflect.NewAt(f.goType, p).Elem().Set(f.fixed)
		return
	}
	f.value.clear(p)
	f.value.read(wire.NewReader(f.text, wire.Limits{}), p, false)
}
