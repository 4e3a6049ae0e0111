// Package codec turns the definitions of an adapter and the Go types behind them into decoders, merges and encoders.
//
// A codec is compiled once, when the adapter is made. It knows the offset of every field, so that a request goes from
// bytes into its struct without reflection, maps or intermediate values. Compiling compares each definition with its
// Go type: generated code that is out of date is an error then, and never writes to the wrong memory.
//
// Fields are found by the Go names in the definitions, promoted fields through the structs that are embedded. Values
// are spelled as encoding/json spells them, except where MCP-AQL demands otherwise: unknown and duplicate names, null
// where a value is needed, and numbers that a type cannot hold are refused, times are in UTC, and lists are never
// null.
package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Set compiles codecs for the types of one adapter. It is not safe for concurrent use; the codecs are.
type Set struct {
	types          map[string]*gen.Type // by wire name
	structDecoders map[structKey]*structDecoder
	structEncoders map[structKey]*structEncoder
	encoders       map[reflect.Type]*encoder // of basic types, and of those that may contain themselves
	collections    map[structKey]*elements
	// filterDecoder compiles n if t is a filter, and returns whether it is; nil: no operation has a Query.
	filterDecoder func(n *decoder, t reflect.Type, p *gen.Param) (is bool, err error)
	basicDecoders map[reflect.Type]*decoder // without constraints
	unfinished    map[reflect.Type]*decoder
	pending       []constrained
	patterns      map[string]*pattern
	bounds        map[boundKey]*bound
	forms         *forms // of messages; nil: no type has a codec
	// behind is what the operation that is compiled has behind the fields of behindOf, until its Selector is compiled.
	behind   behind
	behindOf *structEncoder
	related  relatedSet // nil: no resource has relations
}

// constrained is a copy that is to be made of a decoder as soon as that is finished, with constraints of its own.
type constrained struct {
	copy, of    *decoder
	constraints *constraints
}

// structKey identifies a struct type that is read or written as a wire type.
type structKey struct {
	goType reflect.Type
	name   string // of the wire type
}

// NewSet returns a Set for an adapter with these types. codecs are those of messages.
func NewSet(types []gen.Type, codecs ...gen.Codec) *Set {
	s := &Set{
		types:          make(map[string]*gen.Type, len(types)),
		structDecoders: make(map[structKey]*structDecoder),
		structEncoders: make(map[structKey]*structEncoder),
		encoders:       make(map[reflect.Type]*encoder),
		collections:    make(map[structKey]*elements),
		basicDecoders:  make(map[reflect.Type]*decoder),
		unfinished:     make(map[reflect.Type]*decoder),
		patterns:       make(map[string]*pattern),
		bounds:         make(map[boundKey]*bound),
	}
	for i := range types {
		s.types[types[i].Name] = &types[i]
	}
	if len(codecs) > 0 {
		s.forms = newForms(types, codecs)
	}
	return s
}

// kind is how values of a Go type are read or written.
type kind uint8

const (
	kindBool kind = iota
	kindInt
	kindUint
	kindFloat
	kindString
	kindBytes
	kindTime
	kindAny
	kindNumber // json.Number
	kindRaw    // json.RawMessage
	kindText   // by its methods for text
	kindJSON   // by its methods for JSON
	kindQuoted // encoding/json's option "string"
	kindPointer
	kindSlice
	kindStrings // []string
	kindArray
	kindMap
	kindStringMap // map[string]string
	kindStruct
	kindPatch
	kindOptional
	kindSQLNull
	kindMessage
	kindSelection
	kindFilter
	kindConstant
)

var (
	timeType    = reflect.TypeFor[time.Time]()
	numberType  = reflect.TypeFor[json.Number]()
	rawType     = reflect.TypeFor[json.RawMessage]()
	stringsType = reflect.TypeFor[[]string]()
	textMapType = reflect.TypeFor[map[string]string]()
)

// basic is how a Go type is read and written whose wire type does not depend on the definition.
type basic struct {
	kind     kind
	wireType string
	bits     int // of a number
}

// basicOf returns false for types that are not basic.
func basicOf(t reflect.Type) (basic, bool) {
	switch {
	case t == timeType:
		return basic{kind: kindTime, wireType: "string"}, true
	case t == numberType:
		return basic{kind: kindNumber, wireType: "number"}, true
	case t == rawType:
		return basic{kind: kindRaw, wireType: "any"}, true
	case hasMethods(t):
		return basic{}, false
	}
	switch t.Kind() {
	case reflect.Bool:
		return basic{kind: kindBool, wireType: "boolean"}, true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return basic{kind: kindInt, wireType: "integer", bits: t.Bits()}, true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return basic{kind: kindUint, wireType: "integer", bits: t.Bits()}, true
	case reflect.Float32, reflect.Float64:
		return basic{kind: kindFloat, wireType: "number", bits: t.Bits()}, true
	case reflect.String:
		return basic{kind: kindString, wireType: "string"}, true
	default:
		return basic{}, false
	}
}

// fits returns an error unless p is about type t, whose wire type has one of these names.
func (s *Set) fits(t reflect.Type, p *gen.Param, wireTypes ...string) error {
	for _, name := range wireTypes {
		if p.Type == name {
			return nil
		}
		wireType := s.types[p.Type]
		if wireType != nil && (name == "string" && wireType.Kind == gen.KindEnum || wireType.Kind == gen.KindScalar) {
			return nil
		}
	}
	return fmt.Errorf("the definition says %s, but the Go type is %s; the generated code is out of date", p.Type, t)
}

// fieldsOf finds the definitions of the fields of struct type t, which is the wire type called name.
func (s *Set) fieldsOf(t reflect.Type, name string) ([]gen.Param, error) {
	wireType := s.types[name]
	if wireType == nil || wireType.Kind != gen.KindObject {
		return nil, fmt.Errorf("the definitions have no object type %q for %s; the generated code is out of date", name, t)
	}
	return wireType.Fields, nil
}
