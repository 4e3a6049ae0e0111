package codec_test

import (
	"math/big"
	"reflect"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// REQ-DE-16, T-90: a list is shown as an object with items; everything else as what it is.
func TestResults(t *testing.T) {
	list, none := []inner{{Name: "a"}}, []inner(nil)
	pointer := &list
	array := [1]*inner{nil}
	text, number := "x", big.NewInt(5)
	types := []gen.Type{
		{Name: "Inner", Kind: gen.KindObject, Fields: []gen.Param{{Name: "name", Go: "Name", Type: "string"}}},
		{
			Name: "InnerList", Kind: gen.KindObject,
			Fields: []gen.Param{{Name: "items", Type: "array", Items: &gen.Param{Type: "Inner"}}},
		},
		{Name: "InnerMap", Kind: gen.KindObject, Items: &gen.Param{Type: "Inner"}},
		{Name: "Value", Kind: gen.KindScalar},
	}
	for _, c := range []struct {
		name   string
		result any
		goType reflect.Type // of what the handler returns
		wire   string
		want   string
	}{
		{"a struct", inner{Name: "a"}, reflect.TypeFor[inner](), "Inner", `{"name":"a"}`},
		{"a pointer to one", &inner{Name: "a"}, reflect.TypeFor[*inner](), "Inner", `{"name":"a"}`},
		{"a nil pointer", (*inner)(nil), reflect.TypeFor[*inner](), "Inner", `null`},
		{"a list", list, reflect.TypeFor[[]inner](), "InnerList", `{"items":[{"name":"a"}]}`},
		{"a nil list", none, reflect.TypeFor[[]inner](), "InnerList", `{"items":[]}`},
		{"a pointer to a list", &list, reflect.TypeFor[*[]inner](), "InnerList", `{"items":[{"name":"a"}]}`},
		{"a pointer to a pointer", &pointer, reflect.TypeFor[**[]inner](), "InnerList", `{"items":[{"name":"a"}]}`},
		{"a nil pointer to a list", (*[]inner)(nil), reflect.TypeFor[*[]inner](), "InnerList", `null`},
		{"an array", array, reflect.TypeFor[[1]*inner](), "InnerList", `{"items":[null]}`},
		{"a map", map[string]inner{"k": {}}, reflect.TypeFor[map[string]inner](), "InnerMap", `{"k":{"name":""}}`},
		{"a nil map", map[string]inner(nil), reflect.TypeFor[map[string]inner](), "InnerMap", `{}`},
		{"a text", text, reflect.TypeFor[string](), "Value", `"x"`},
		{"a pointer to a text", &text, reflect.TypeFor[*string](), "Value", `"x"`},
		{"a number with methods on its pointer", *number, reflect.TypeFor[big.Int](), "Value", `5`},
		{"a pointer to it", number, reflect.TypeFor[*big.Int](), "Value", `5`},
		{
			"a type that is text, and an array", uuid{15: 1}, reflect.TypeFor[uuid](), "Value",
			`"00000000000000000000000000000001"`,
		},
		{"binary data", []byte("hi"), reflect.TypeFor[[]byte](), "Value", `"aGk="`},
		{"any value", []any{1, nil}, reflect.TypeFor[any](), "Value", `[1,null]`},
		{"nothing", nil, reflect.TypeFor[any](), "Value", `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			compiled, err := codec.NewSet(types).Result(c.goType, c.wire)
			if err != nil {
				t.Fatal(err)
			}
			w := wire.NewWriter(nil)
			if compiled.Write(w, c.result, nil); w.Err() != nil || string(w.Bytes()) != c.want {
				t.Errorf("got %s %v, want %s", w.Bytes(), w.Err(), c.want)
			}
		})
	}
}

// Generated code that was not made for the handler as it is now writes nothing.
func TestResultOfAnotherType(t *testing.T) {
	compiled, err := codec.NewSet(
		[]gen.Type{{Name: "Value", Kind: gen.KindScalar}},
	).Result(reflect.TypeFor[string](), "Value")
	if err != nil {
		t.Fatal(err)
	}
	w := wire.NewWriter(nil)
	compiled.Write(w, 5, nil)
	if want := "the handler returned int instead of string; the generated code is out of date"; w.Err() == nil ||
		w.Err().Error() != want {
		t.Errorf("got %v, want %s", w.Err(), want)
	}
}
