package codec

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
)

// forms makes the forms of messages: structs into which requests are read. A form has a pointer where a message can
// tell absence from a zero value.
type forms struct {
	codecs  []gen.Codec
	types   map[string]*gen.Type    // by wire name
	structs map[string]reflect.Type // by wire name
	known   map[reflect.Type]bool
	// sources compiles decoders and encoders of forms that use the names of the codec's JSON.
	sources *Set
}

// nestedForm is the type of what points to the form of a message within another form. A message may contain itself,
// and a struct type that is made while a program runs cannot.
var nestedForm = reflect.TypeFor[unsafe.Pointer]()

func newForms(types []gen.Type, codecs []gen.Codec) *forms {
	f := &forms{codecs: codecs, structs: make(map[string]reflect.Type), known: make(map[reflect.Type]bool)}
	f.types = NewSet(types).types
	sources := make([]gen.Type, len(types))
	for i := range types {
		sources[i] = types[i]
		sources[i].Fields, _ = f.fields(types[i].Fields, "")
	}
	f.sources = NewSet(sources)
	f.sources.forms = f
	return f
}

// codecOf returns the codec of structs of type t; nil: they have none.
func (f *forms) codecOf(t reflect.Type) *gen.Codec {
	if f == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for i := range f.codecs {
		if f.codecs[i].Reads(t) {
			return &f.codecs[i]
		}
	}
	return nil
}

// fields returns the fields of a form as its codec names them, and their paths on the wire, which begin with prefix.
// What an update gathers in its input is in the form itself.
func (f *forms) fields(params []gen.Param, prefix string) (fields []gen.Param, paths []string) {
	for _, p := range params {
		if p.Constant != "" {
			continue
		}
		path := prefix + p.Name
		if gathered := f.types[p.Type]; p.Go == "" && gathered != nil {
			inner, innerPaths := f.fields(gathered.Fields, path+".")
			fields, paths = append(fields, inner...), append(paths, innerPaths...)
			continue
		}
		p.Name, p.Aliases, p.Excludes, p.Presets = p.Go, nil, nil, nil
		p.Required, p.Sensitive, p.ReadOnly, p.AppendOnly, p.ID, p.Default = false, false, false, false, false, ""
		p.OmitEmpty, p.OmitZero = true, false
		fields, paths = append(fields, p), append(paths, path)
	}
	return fields, paths
}

// structOf returns a form with these fields.
func (f *forms) structOf(fields []gen.Param) (reflect.Type, error) {
	list := make([]reflect.StructField, len(fields))
	for i := range fields {
		t, err := f.inner(&fields[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fields[i].Go, err)
		}
		switch {
		case t == nestedForm, t.Kind() == reflect.Map, t.Kind() == reflect.Interface:
		case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		default:
			t = reflect.PointerTo(t)
		}
		list[i] = reflect.StructField{Name: formField(fields[i].Go), Type: t}
	}
	form := reflect.StructOf(list)
	f.known[form] = true
	return form, nil
}

// formField is the name of the field of a form to which a codec gives a name.
func formField(source string) string { return "F" + hex.EncodeToString([]byte(source)) }

// elem returns the form of the values of a parameter that have a codec.
func (f *forms) elem(p *gen.Param) (reflect.Type, error) {
	t := f.sources.types[p.Type]
	if t == nil || t.Kind != gen.KindObject || t.Items != nil {
		return f.inner(p)
	}
	if known := f.structs[t.Name]; known != nil {
		return known, nil
	}
	form, err := f.structOf(t.Fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	f.structs[t.Name] = form
	return form, nil
}

// inner returns the type of the values of a parameter within a form.
func (f *forms) inner(p *gen.Param) (reflect.Type, error) {
	if p.Quoted {
		return integerType(p, p.Pattern == gen.PatternNatural), nil
	}
	if t := f.sources.types[p.Type]; t != nil {
		switch {
		case t.Kind == gen.KindEnum:
			return reflect.TypeFor[string](), nil
		case t.Kind == gen.KindObject && t.Items == nil:
			return nestedForm, nil
		case t.Kind == gen.KindScalar:
			return rawType, nil
		}
	}
	switch p.Type {
	case "string":
		switch p.Format {
		case "byte":
			return reflect.TypeFor[[]byte](), nil
		case "date-time":
			return timeType, nil
		}
		return reflect.TypeFor[string](), nil
	case "integer":
		return integerType(p, p.Minimum == "0"), nil
	case "number":
		if p.Format == gen.FormatFloat {
			return reflect.TypeFor[float32](), nil
		}
		return reflect.TypeFor[float64](), nil
	case "boolean":
		return reflect.TypeFor[bool](), nil
	case "any":
		return reflect.TypeFor[any](), nil
	case "array":
		items, err := f.items(p)
		if err != nil {
			return nil, err
		}
		return reflect.SliceOf(items), nil
	case "object":
		items, err := f.items(p)
		if err != nil {
			return nil, err
		}
		key := reflect.TypeFor[string]()
		if p.Keys != nil && p.Keys.Type == "integer" {
			key = integerType(p.Keys, p.Keys.Minimum == "0")
		}
		return reflect.MapOf(key, items), nil
	}
	return nil, fmt.Errorf("messages have no values of type %s; the generated code is out of date", p.Type)
}

func (f *forms) items(p *gen.Param) (reflect.Type, error) {
	if p.Items == nil {
		return reflect.TypeFor[any](), nil
	}
	return f.inner(p.Items)
}

// integerType returns a type that holds the integers of a parameter.
func integerType(p *gen.Param, unsigned bool) reflect.Type {
	switch {
	case unsigned && p.Maximum == "4294967295":
		return reflect.TypeFor[uint32]()
	case unsigned:
		return reflect.TypeFor[uint64]()
	case p.Maximum == "2147483647":
		return reflect.TypeFor[int32]()
	default:
		return reflect.TypeFor[int64]()
	}
}

// locate finds the field of a struct that a definition is about. In forms, fields have the names of the codec's JSON.
func (s *Set) locate(t reflect.Type, path string) (location, reflect.StructField, error) {
	if s.forms != nil && path != "" && s.forms.known[t] {
		path = formField(path)
	}
	return locate(t, path)
}
