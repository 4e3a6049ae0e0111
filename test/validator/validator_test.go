// Package validator_test holds what the scanner makes of validate tags against go-playground/validator itself.
package validator_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-playground/validator/v10"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/test/validator/fields"
)

// differences lists the fields on which the two judge some values differently, and why; refused says which values we
// refuse and validator does not, accepted those that it is the other way round for. Both must happen, or they are not
// listed here.
var differences = map[string]struct {
	refused, accepted func(v reflect.Value) bool
	why               string
}{
	"IntRequired": {accepted: isZero,
		why: "required refuses zero, which is mostly meant to be allowed and which no bound says"},
	"IntGaps": {accepted: isTwo,
		why: "there is no enum of numbers; the gaps between the bounds are told in a warning"},
	"OmitEmpty": {refused: isZero,
		why: "rules behind omitempty are for absent values; a zero value that is given is checked"},
	"OmitInt":      {refused: isZero, why: "as OmitEmpty"},
	"OmitElements": {refused: hasZero, why: "as OmitEmpty"},
}

func isZero(v reflect.Value) bool { return v.IsZero() }
func isTwo(v reflect.Value) bool  { return v.Int() == 2 }
func hasZero(v reflect.Value) bool {
	return slices.ContainsFunc(v.Interface().([]string), func(s string) bool { return s == "" })
}

// Of any value that a request can hold, the decoder says what validator would have said.
func TestDecoderAgreesWithValidator(t *testing.T) {
	result, err := scan.Load(context.Background(), scan.Options{Dir: "fields", Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Diagnostics {
		if !strings.Contains(d.Message, "only the bounds are told") && !strings.Contains(d.Message, "has no description") {
			t.Errorf("%d: %s", d.Position.Line, d.Message)
		}
	}
	if len(result.Packages) != 1 || len(result.Packages[0].Handlers) != 1 {
		t.Fatalf("scanned %d packages", len(result.Packages))
	}
	operation := result.Packages[0].Handlers[0].Operation
	for i := range operation.Params {
		p := &operation.Params[i]
		field, _ := reflect.TypeFor[fields.Request]().FieldByName(p.Go)
		if demanded := strings.HasPrefix(field.Tag.Get("validate"), "required"); p.Required != demanded {
			t.Errorf("%s with %s is required: %t", p.Name, field.Tag, p.Required)
		}
		p.Required = false // one value is given at a time
	}
	decoder, err := codec.NewSet(result.Packages[0].Types).Request(reflect.TypeFor[fields.Request](), &operation)
	if err != nil {
		t.Fatal(err)
	}
	judge := validator.New()
	requests := reflect.TypeFor[fields.Request]()
	for i := range requests.NumField() {
		field := requests.Field(i)
		if field.Name == "_" {
			continue
		}
		param, ok := operation.Param(field.Tag.Get("json"))
		if !ok {
			t.Errorf("field %s is no parameter", field.Name)
			continue
		}
		t.Run(field.Name, func(t *testing.T) { agree(t, judge, decoder, field, param) })
	}
}

// agree compares the two on many values of one field.
func agree(t *testing.T, judge *validator.Validate, decoder *codec.Request, field reflect.StructField,
	param *gen.Param) {
	random := rand.New(rand.NewPCG(1, uint64(field.Offset)))
	known := differences[field.Name]
	accepted, refused, differed := 0, 0, 0
	for range 4000 {
		want := reflect.New(field.Type).Elem()
		fill(random, want, samples[field.Name])
		text, err := json.Marshal(want.Interface())
		if err != nil {
			t.Fatal(err)
		}
		got, problems := decode(decoder, param.Name, string(text), field)
		verdict := true
		for _, key := range []string{"validate", "binding"} {
			if tag := field.Tag.Get(key); tag != "" {
				verdict = verdict && judge.Var(want.Interface(), tag) == nil
			}
		}
		switch ours := len(problems) == 0; {
		case ours && !verdict && known.accepted != nil && known.accepted(want), !ours && verdict && known.refused != nil &&
			known.refused(want):
			differed++
		case ours != verdict:
			t.Fatalf("%s: validator with %s accepts: %t; the decoder with %+v accepts: %t %+v", text, field.Tag, verdict, param,
				ours, problems)
		case ours:
			accepted++
			if !reflect.DeepEqual(got.Interface(), want.Interface()) {
				t.Fatalf("%s was read as %v", text, got)
			}
		default:
			refused++
		}
	}
	if accepted == 0 {
		t.Error("no value was accepted")
	}
	if never := []string{"IntNumeric", "IntWide", "Bool", "List"}; refused == 0 && !slices.Contains(never, field.Name) {
		t.Error("no value was refused")
	}
	if (differed > 0) != (known.why != "") {
		t.Errorf("%d values were judged differently; listed: %q", differed, known.why)
	}
}

// decode reads one parameter and returns the field that it is in.
func decode(decoder *codec.Request, name, value string, field reflect.StructField) (reflect.Value, []wire.Problem) {
	request := reflect.New(reflect.TypeFor[fields.Request]())
	r := wire.NewReader(`{"`+name+`":`+value+`}`, wire.Limits{})
	var given codec.Given
	if r.Object() {
		for r.Next() {
			if !decoder.Member(r, unsafe.Pointer(request.Pointer()), &given) {
				r.Unknown(nil)
			}
		}
	}
	return request.Elem().FieldByIndex(field.Index), r.Problems()
}
