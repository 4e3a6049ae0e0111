package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
)

var errFailing = errors.New("it always fails")

// Generated code that is older than the types it speaks of is an error when the adapter is made, never a wrong byte in
// memory.
func TestDefinitionsThatDoNotFitTheTypes(t *testing.T) {
	const stale = "; the generated code is out of date"
	otherType := func(wireType, goType string) string {
		return fmt.Sprintf("the definition says %s, but the Go type is %s", wireType, goType) + stale
	}
	types := []gen.Type{
		{Name: "Inner", Kind: gen.KindObject, Fields: []gen.Param{{Name: "name", Go: "Name", Type: "string"}}},
		{Name: "Level", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "low"}}},
		{Name: "InnerPatch", Kind: gen.KindObject, Changes: "Inner"},
		{Name: "GonePatch", Kind: gen.KindObject, Changes: "Gone"},
	}
	tests := []struct {
		name   string
		goType reflect.Type
		param  gen.Param
		want   string // "": fits
	}{
		{
			"a field that is gone", reflect.TypeFor[inner](), gen.Param{Go: "Title", Type: "string"},
			"codec_test.inner has no field Title" + stale,
		},
		{
			"a field that is gone from an embedded struct", reflect.TypeFor[embedding](),
			gen.Param{Go: "base.Title", Type: "string"}, "codec_test.base has no field Title" + stale,
		},
		{
			"a field that is no struct any more", reflect.TypeFor[inner](), gen.Param{Go: "Name.First", Type: "string"},
			"string has no field First" + stale,
		},
		{
			"a promoted field without its path", reflect.TypeFor[embedding](), gen.Param{Go: "ID", Type: "string"},
			"codec_test.embedding has no field ID" + stale,
		},
		{
			"a string that became a number", reflect.TypeFor[basics](), gen.Param{Go: "Int", Type: "string"},
			otherType("string", "int"),
		},
		{
			"a number that became a string", reflect.TypeFor[basics](), gen.Param{Go: "String", Type: "integer"},
			otherType("integer", "string"),
		},
		{
			"an integer that got a fraction", reflect.TypeFor[basics](), gen.Param{Go: "Float64", Type: "integer"},
			otherType("integer", "float64"),
		},
		{"an integer that became unsigned", reflect.TypeFor[basics](), gen.Param{Go: "Uint8", Type: "integer"}, ""},
		{
			"a flag that became a number", reflect.TypeFor[basics](), gen.Param{Go: "Int8", Type: "boolean"},
			otherType("boolean", "int8"),
		},
		{"a value that became a pointer", reflect.TypeFor[pointers](), gen.Param{Go: "Twice", Type: "integer"}, ""},
		{
			"a pointer to another type", reflect.TypeFor[pointers](), gen.Param{Go: "String", Type: "integer"},
			otherType("integer", "string"),
		},
		{
			"a value that became a list", reflect.TypeFor[lists](), gen.Param{Go: "Strings", Type: "string"},
			otherType("string", "[]string"),
		},
		{
			"a list of other elements", reflect.TypeFor[lists](),
			gen.Param{Go: "Strings", Type: "array", Items: &gen.Param{Type: "integer"}}, otherType("integer", "string"),
		},
		{
			"a list of nothing known", reflect.TypeFor[lists](), gen.Param{Go: "Strings", Type: "array"},
			otherType("any", "string"),
		},
		{
			"a map of other elements", reflect.TypeFor[mapsAll](),
			gen.Param{Go: "Strings", Type: "object", Items: &gen.Param{Type: "integer"}}, otherType("integer", "string"),
		},
		{
			"a map that became a struct", reflect.TypeFor[lists](),
			gen.Param{Go: "Structs", Type: "array", Items: &gen.Param{Type: "Outer"}},
			`the definitions have no object type "Outer" for codec_test.inner` + stale,
		},
		{
			"a struct that became a map", reflect.TypeFor[mapsAll](), gen.Param{Go: "Strings", Type: "Inner"},
			otherType("Inner", "map[string]string"),
		},
		{
			"a struct that is an enum", reflect.TypeFor[pointers](), gen.Param{Go: "Struct", Type: "Level"},
			`the definitions have no object type "Level" for codec_test.inner` + stale,
		},
		{
			"an enum that became a number", reflect.TypeFor[basics](), gen.Param{Go: "Int", Type: "Level"},
			otherType("Level", "int"),
		},
		{"a string type that became an enum", reflect.TypeFor[namedBasics](), gen.Param{Go: "Level", Type: "Level"}, ""},
		{
			"a type without definition", reflect.TypeFor[basics](), gen.Param{Go: "Int", Type: "Gone"},
			otherType("Gone", "int"),
		},
		{
			"a date that is none", reflect.TypeFor[times](), gen.Param{Go: "At", Type: "integer"},
			otherType("integer", "time.Time"),
		},
		{
			"bytes that are no string", reflect.TypeFor[bytesAll](),
			gen.Param{Go: "Bytes", Type: "array", Items: &gen.Param{Type: "integer"}}, otherType("array", "[]uint8"),
		},
		{
			"a type that got methods of its own", reflect.TypeFor[ownText](), gen.Param{Go: "UUID", Type: "Inner"},
			otherType("Inner", "codec_test.uuid"),
		},
		{
			"a dynamic value that is a string", reflect.TypeFor[dynamics](), gen.Param{Go: "Any", Type: "string"},
			otherType("string", "interface {}"),
		},
		{
			"raw JSON that is a string", reflect.TypeFor[dynamics](), gen.Param{Go: "Raw", Type: "string"},
			otherType("string", "json.RawMessage"),
		},
		{
			"a json.Number that is a string", reflect.TypeFor[dynamics](), gen.Param{Go: "Number", Type: "string"},
			otherType("string", "json.Number"),
		},
		{
			"a channel", reflect.TypeFor[struct{ C chan int }](), gen.Param{Go: "C", Type: "any"},
			"values of type chan int cannot be read",
		},
		{
			"a function", reflect.TypeFor[struct{ F func() }](), gen.Param{Go: "F", Type: "any"},
			"values of type func() cannot be read",
		},
		{
			"an interface with methods", reflect.TypeFor[struct{ E fmt.Stringer }](), gen.Param{Go: "E", Type: "any"},
			"nothing says which type to read into fmt.Stringer",
		},
		{
			"keys that are structs", reflect.TypeFor[struct{ M map[inner]int }](),
			gen.Param{Go: "M", Type: "object", Items: &gen.Param{Type: "integer"}},
			"maps with keys of type codec_test.inner cannot be read",
		},
		{
			"a patch that is no patch", reflect.TypeFor[struct{ P patch[inner] }](), gen.Param{Go: "P", Type: "Inner"},
			otherType("Inner", "codec_test.patch[github.com/aqltag/aqltag/runtime/internal/codec_test.inner]"),
		},
		{
			"a patch of what is not defined", reflect.TypeFor[struct{ P patch[inner] }](),
			gen.Param{Go: "P", Type: "GonePatch"}, `the definitions have no object type "Gone" for codec_test.inner` + stale,
		},
		{
			"a patch of another struct", reflect.TypeFor[struct{ P patch[basics] }](), gen.Param{Go: "P", Type: "InnerPatch"},
			"Inner: name: codec_test.basics has no field Name" + stale,
		},
		{"a patch", reflect.TypeFor[struct{ P patch[inner] }](), gen.Param{Go: "P", Type: "InnerPatch"}, ""},
		{
			"an optional of another type", reflect.TypeFor[struct{ O aql.Optional[int] }](),
			gen.Param{Go: "O", Type: "string"}, otherType("string", "int"),
		},
		{"an optional", reflect.TypeFor[struct{ O aql.Optional[int] }](), gen.Param{Go: "O", Type: "integer"}, ""},
		{
			"a pattern that Go does not know", reflect.TypeFor[basics](),
			gen.Param{Go: "String", Type: "string", Pattern: "(?=x)"},
			"pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
		},
		{
			"a minimum that is no number", reflect.TypeFor[basics](), gen.Param{Go: "Int", Type: "integer", Minimum: "low"},
			`minimum: "low" is not a number`,
		},
		{
			"a minimum beyond the type", reflect.TypeFor[basics](), gen.Param{Go: "Int8", Type: "integer", Minimum: "200"},
			"minimum: no value of type int8 is within 200",
		},
		{
			"a maximum beyond the type", reflect.TypeFor[basics](), gen.Param{Go: "Uint8", Type: "integer", Maximum: "-1"},
			"maximum: no value of type uint8 is within -1",
		},
		{
			"a default of another type", reflect.TypeFor[basics](), gen.Param{Go: "Int", Type: "integer", Default: `"x"`},
			`default "x" does not meet the definition`,
		},
		{
			"a default out of range", reflect.TypeFor[basics](),
			gen.Param{Go: "Int", Type: "integer", Default: "5", Maximum: "4"}, "default 5 does not meet the definition",
		},
		{
			"a default that is not JSON", reflect.TypeFor[basics](), gen.Param{Go: "Int", Type: "integer", Default: "five"},
			"default five is not JSON",
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			c.param.Name = "p"
			_, err := codec.NewSet(types).Request(c.goType, &gen.Operation{Name: "op", Params: []gen.Param{c.param}})
			want := c.want
			if want != "" {
				want = "operation op: p: " + want
			}
			if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Results are compared with their definitions too, so that they are what introspection describes.
func TestDefinitionsThatDoNotFitTheResults(t *testing.T) {
	const stale = "; the generated code is out of date"
	types := []gen.Type{
		{Name: "Inner", Kind: gen.KindObject, Fields: []gen.Param{{Name: "name", Go: "Name", Type: "string"}}},
		{Name: "Number", Kind: gen.KindObject, Fields: []gen.Param{{Name: "name", Go: "Name", Type: "integer"}}},
		{Name: "Gone", Kind: gen.KindObject, Fields: []gen.Param{{Name: "title", Go: "Title", Type: "string"}}},
		{
			Name: "InnerList", Kind: gen.KindObject,
			Fields: []gen.Param{{Name: "items", Type: "array", Items: &gen.Param{Type: "Inner"}}},
		},
		{Name: "InnerMap", Kind: gen.KindObject, Items: &gen.Param{Type: "Inner"}},
		{Name: "String", Kind: gen.KindScalar},
	}
	for _, c := range []struct {
		name     string
		goType   reflect.Type
		wireType string
		want     string
	}{
		{"a struct", reflect.TypeFor[*inner](), "Inner", ""},
		{"a list", reflect.TypeFor[[]*inner](), "InnerList", ""},
		{"a map", reflect.TypeFor[map[string]inner](), "InnerMap", ""},
		{"a scalar", reflect.TypeFor[string](), "String", ""},
		{"binary data", reflect.TypeFor[[]byte](), "String", ""},
		{"a type without definition", reflect.TypeFor[inner](), "Missing", `the definitions have no type "Missing"` + stale},
		{
			"a field that is gone", reflect.TypeFor[inner](), "Gone",
			"result Gone: Gone.title: codec_test.inner has no field Title" + stale,
		},
		{
			"a field of another type", reflect.TypeFor[inner](), "Number",
			"result Number: Number.name: the definition says integer, but the Go type is string" + stale,
		},
		{
			"a list that became a value", reflect.TypeFor[inner](), "InnerMap",
			"result InnerMap: the definitions have no object type \"object\" for codec_test.inner" + stale,
		},
		{
			"a list of other elements", reflect.TypeFor[[]string](), "InnerList",
			"result InnerList: the definition says Inner, but the Go type is string" + stale,
		},
		{
			"a map of other elements", reflect.TypeFor[map[string]string](), "InnerMap",
			"result InnerMap: the definition says Inner, but the Go type is string" + stale,
		},
		{"a channel", reflect.TypeFor[chan int](), "String", "result String: values of type chan int cannot be written"},
		{
			"a patch", reflect.TypeFor[patch[inner]](), "Inner",
			"result Inner: codec_test.patch[github.com/aqltag/aqltag/runtime/internal/codec_test.inner] is for requests",
		},
		{
			"keys that are structs", reflect.TypeFor[map[inner]inner](), "InnerMap",
			"result InnerMap: maps with keys of type codec_test.inner cannot be written",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := codec.NewSet(types).Result(c.goType, c.wireType)
			if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A request must be a struct.
func TestRequestThatIsNoStruct(t *testing.T) {
	_, err := codec.NewSet(nil).Request(reflect.TypeFor[int](), &gen.Operation{Name: "op"})
	if want := "requests of operation op have type int, which is no struct"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Types with methods of their own may refuse a value, or panic: either is a refusal of the request.
func TestMethodsThatRefuse(t *testing.T) {
	for _, c := range []struct {
		name   string
		goType reflect.Type
		text   string
		want   string
	}{
		{"a text", reflect.TypeFor[uuid](), `"abc"`, "V: expected well-formed text, got string"},
		{"a text in a list", reflect.TypeFor[[]uuid](), `["abc"]`, "V[0]: expected well-formed text, got string"},
		{"a text of the wrong kind", reflect.TypeFor[uuid](), `{"a":"b"}`, "V: expected string, got object"},
		{"a key", reflect.TypeFor[map[uuid]int](), `{"abc":1}`, "V.abc: expected well-formed name, got name"},
		{
			"a key that is no number", reflect.TypeFor[map[int8]int](), `{"abc":1}`,
			"V.abc: expected integer from -128 to 127, got name",
		},
		{
			"a key beyond its type", reflect.TypeFor[map[int8]int](), `{"128":1}`,
			"V.128: expected integer from -128 to 127, got name",
		},
		{
			"a key in another spelling", reflect.TypeFor[map[int]int](), `{"01":1,"+1":1,"-0":1}`,
			"V.01: expected integer, got name\nV.+1: expected integer, got name\nV.-0: expected integer, got name",
		},
		{"a key that is no time", reflect.TypeFor[map[time.Time]int](), `{"now":1}`, "V.now: expected date-time, got name"},
		{"an object", reflect.TypeFor[valueJSON](), `{"a":"b"}`, "V: expected well-formed value, got object"},
		{"a list", reflect.TypeFor[valueJSON](), `[1,"b"]`, "V: expected well-formed value, got array"},
		{
			"a long list", reflect.TypeFor[valueJSON](), `["` + strings.Repeat("x", 1000) + `"]`,
			"V: expected well-formed value, got array",
		},
		{"a panic in UnmarshalJSON", reflect.TypeFor[panicking](), `5`, "V: expected well-formed value, got number"},
		{"a failure in UnmarshalText", reflect.TypeFor[failing](), `"x"`, "V: expected well-formed text, got string"},
		{
			"a text that is too large for its type", reflect.TypeFor[textInt](), `"#99999999999999999999"`,
			"V: expected well-formed text, got string",
		},
		{"a time", reflect.TypeFor[time.Time](), `"yesterday"`, "V: expected date-time, got string"},
		{"a raw value that is none", reflect.TypeFor[json.RawMessage](), `{"a":}`, "expected a JSON value (byte 10)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newCodecs(t, c.goType).decode(`{"V":` + c.text + `}`)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
