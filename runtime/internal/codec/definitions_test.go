package codec_test

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// definer makes definitions of Go types, as the scanner does from their source. Names on the wire are encoding/json's.
type definer struct {
	types  []gen.Type
	known  map[reflect.Type]string
	adjust func(t reflect.Type, p *gen.Param) // changes the definition of a field of t
}

func (d *definer) param(t reflect.Type, depth int) gen.Param {
	elem := func() *gen.Param {
		p := d.param(t.Elem(), depth+1)
		return &p
	}
	switch {
	case depth > 8:
		return gen.Param{Type: "any"}
	case t == reflect.TypeFor[time.Time]():
		return gen.Param{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[json.Number]():
		return gen.Param{Type: "number"}
	case t == reflect.TypeFor[json.RawMessage]():
		return gen.Param{Type: "any", Nullable: true}
	case t == reflect.TypeFor[big.Int]():
		return gen.Param{Type: "integer"}
	case t.PkgPath() == "database/sql":
		p := d.param(t.Field(0).Type, depth)
		p.Nullable = true
		return p
	case strings.HasPrefix(t.Name(), "Optional["):
		p := d.param(t.Field(1).Type, depth)
		p.Nullable = true
		return p
	case t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(1).Type == reflect.TypeFor[codec.Patch]():
		resource := d.param(t.Field(0).Type.Elem(), depth).Type
		d.types = append(d.types, gen.Type{Name: resource + "Patch", Kind: gen.KindObject, Changes: resource})
		return gen.Param{Type: resource + "Patch"}
	case has[json.Marshaler](t) || has[json.Unmarshaler](t):
		return gen.Param{Type: "any"}
	case has[encoding.TextMarshaler](t) || has[encoding.TextUnmarshaler](t):
		return gen.Param{Type: "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return gen.Param{Type: "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16,
		reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return gen.Param{Type: "integer"}
	case reflect.Float32, reflect.Float64:
		return gen.Param{Type: "number"}
	case reflect.String:
		return gen.Param{Type: "string"}
	case reflect.Pointer:
		p := d.param(t.Elem(), depth)
		p.Nullable = true
		return p
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return gen.Param{Type: "string", Format: "byte"}
		}
		return gen.Param{Type: "array", Items: elem()}
	case reflect.Array:
		return gen.Param{Type: "array", Items: elem(), MinItems: t.Len(), MaxItems: t.Len()}
	case reflect.Map:
		return gen.Param{Type: "object", Items: elem(), Keys: keysOf(t.Key())}
	case reflect.Struct:
		return gen.Param{Type: d.object(t)}
	default:
		return gen.Param{Type: "any", Nullable: true}
	}
}

// keysOf defines the keys of a map; nil: every text is one.
func keysOf(t reflect.Type) *gen.Param {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &gen.Param{Type: "string", Format: "date-time"}
	case has[encoding.TextUnmarshaler](t):
		return &gen.Param{Type: "string"}
	case t.Kind() == reflect.Int8:
		return &gen.Param{Type: "integer", Minimum: "-128", Maximum: "127"}
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr:
		return &gen.Param{Type: "integer"}
	default:
		return nil
	}
}

// has reports whether a pointer to t has an interface.
func has[I any](t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[I]())
}

// object defines struct type t and returns its name.
func (d *definer) object(t reflect.Type) string {
	if name, ok := d.known[t]; ok {
		return name
	}
	name := fmt.Sprintf("T%d", len(d.known))
	d.known[t] = name
	at := len(d.types)
	d.types = append(d.types, gen.Type{Name: name, Kind: gen.KindObject})
	fields := d.fields(t)
	d.types[at].Fields = fields
	return name
}

// jsonField is a field that encoding/json finds.
type jsonField struct {
	param  gen.Param
	path   []string
	index  []int
	tagged bool
}

// fields lists the fields of t by encoding/json's rules.
func (d *definer) fields(t reflect.Type) []gen.Param {
	found := d.collect(t, nil, nil)
	slices.SortStableFunc(found, func(a, b jsonField) int {
		tagged := func(f jsonField) int {
			if f.tagged {
				return 0
			}
			return 1
		}
		return cmp.Or(
			cmp.Compare(a.param.Name, b.param.Name), cmp.Compare(len(a.index), len(b.index)),
			cmp.Compare(tagged(a), tagged(b)),
		)
	})
	found = slices.CompactFunc(found, func(a, b jsonField) bool { return a.param.Name == b.param.Name })
	slices.SortFunc(found, func(a, b jsonField) int { return slices.Compare(a.index, b.index) })
	var params []gen.Param
	for _, f := range found {
		f.param.Go = strings.Join(f.path, ".")
		params = append(params, f.param)
	}
	return params
}

func (d *definer) collect(t reflect.Type, path []string, index []int) []jsonField {
	var found []jsonField
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		path, index := append(slices.Clone(path), f.Name), append(slices.Clone(index), i)
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case tag == "-":
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			found = append(found, d.collect(inner, path, index)...)
			continue
		case !f.IsExported() && (!f.Anonymous || inner.Kind() != reflect.Struct):
			continue
		}
		p := d.param(f.Type, 0)
		p.Name = cmp.Or(name, f.Name)
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				p.OmitEmpty = true
			case "omitzero":
				p.OmitZero = true
			case "string":
				if p.Quoted = quotes(f.Type); p.Quoted {
					p.Type = "string"
				}
			}
		}
		if d.adjust != nil {
			d.adjust(t, &p)
		}
		found = append(found, jsonField{p, path, index, name != ""})
	}
	return found
}

// quotes reports whether encoding/json's option string has an effect.
func quotes(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String
}

// codecs reads and writes values of one type, in a struct with the field V.
type codecs struct {
	box     reflect.Type
	request *codec.Request
	result  *codec.Result
}

func newDefiner() *definer { return &definer{known: map[reflect.Type]string{}} }

// newCodecs compiles what reads and writes t.
func newCodecs(t testing.TB, goType reflect.Type) *codecs {
	t.Helper()
	return newDefiner().compile(t, goType)
}

func (d *definer) compile(t testing.TB, goType reflect.Type) *codecs {
	t.Helper()
	box := reflect.StructOf([]reflect.StructField{{Name: "V", Type: goType}})
	name := d.object(box)
	c := &codecs{box: box}
	set := codec.NewSet(d.types)
	i := slices.IndexFunc(d.types, func(t gen.Type) bool { return t.Name == name })
	var err error
	if c.request, err = set.Request(box, &gen.Operation{Name: "op", Params: d.types[i].Fields}); err != nil {
		t.Fatal(err)
	}
	if c.result, err = set.Result(box, name); err != nil && !strings.Contains(err.Error(), "is for requests") {
		t.Fatal(err)
	}
	return c
}

// decode reads an object with a member V into a pointer to a box.
func (c *codecs) decode(text string) (reflect.Value, error) {
	box := reflect.New(c.box)
	r := wire.NewReader(text, wire.Limits{})
	var given codec.Given
	if r.Object() {
		for r.NextUnchecked() {
			if !c.request.Member(r, box.UnsafePointer(), &given) {
				r.Unknown(nil)
			}
		}
		c.request.Complete(r, box.UnsafePointer(), &given)
	}
	r.End()
	return box, refusal(r)
}

// refusal is what is wrong with what r read.
func refusal(r *wire.Reader) error {
	if fault := r.Fault(); fault != nil {
		return fault
	}
	var errs []error
	for _, p := range r.Problems() {
		errs = append(errs, errors.New(spell(p)))
	}
	return errors.Join(errs...)
}

// spell is a problem in one line.
func spell(p wire.Problem) string {
	switch p.Stage {
	case wire.StageMissing:
		return p.Path + ": missing"
	case wire.StageType:
		return p.Path + ": expected " + p.Expected + ", got " + p.Actual
	case wire.StageUnknown:
		return p.Path + ": unknown"
	default:
		return p.Path + ": " + p.Rule + " " + cmp.Or(p.Limit, strconv.Quote(strings.Join(p.Allowed, "|")))
	}
}

// encode writes the box at which a pointer points.
func (c *codecs) encode(box reflect.Value) (string, error) {
	w := wire.NewWriter(nil)
	c.result.Write(w, box.Elem().Interface(), nil)
	return string(w.Bytes()), w.Err()
}
