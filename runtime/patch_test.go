package aql

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/google/go-cmp/cmp"
)

type document struct {
	Title string
	Meta  map[string]any
	Made  string
}

var documentTypes = []gen.WireType{
	{Name: "Document", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "title", Go: "Title", Type: "string", Required: true, Rules: gen.Rules{gen.MaxLen(10)}},
		{Name: "metadata", Go: "Meta", Type: "object", Items: &gen.Field{Type: "any"}},
		{Name: "created_at", Go: "Made", Type: "string", ReadOnly: true},
	}},
	{Name: "DocumentPatch", Kind: gen.KindObject, Changes: "Document"},
}

// readPatch reads a patch as an operation's input.
func readPatch(t *testing.T, text string) (Patch[document], *wire.Reader) {
	t.Helper()
	type request struct{ Input Patch[document] }
	types := gen.NewRegistry(nil, documentTypes).Definitions().Types
	operation := gen.Operation{Name: "update", Category: gen.Update,
		Params: []gen.Param{{Name: "input", Go: "Input", Type: "DocumentPatch"}}}
	decoder, err := codec.NewSet(types).Request(reflect.TypeFor[request](), &operation)
	if err != nil {
		t.Fatal(err)
	}
	r := wire.NewReader(`{"input":`+text+`}`, wire.Limits{})
	var q request
	var given codec.Given
	r.Object()
	for r.Next() {
		if !decoder.Member(r, unsafe.Pointer(&q), &given) {
			t.Fatal("input is not known")
		}
	}
	return q.Input, r
}

// REQ-UP-07, REQ-UP-08, REQ-UP-10: the protocol's own example.
func TestApply(t *testing.T) {
	existing := document{Title: "Old Title",
		Meta: map[string]any{"priority": "low", "tags": []any{"draft"}, "author": "alice"}}
	patch, r := readPatch(t, ` {"title":"New Title","metadata":{"priority":"high","tags":["published","reviewed"]}} `)
	if !r.OK() {
		t.Fatal(r.Problems())
	}
	before := existing.Meta
	if err := patch.Apply(&existing); err != nil {
		t.Fatal(err)
	}
	want := document{Title: "New Title",
		Meta: map[string]any{"priority": "high", "tags": []any{"published", "reviewed"}, "author": "alice"}}
	if diff := cmp.Diff(want, existing); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if before["priority"] != "low" {
		t.Error("the merge changed a map that others may hold")
	}
	if got := string(patch.JSON()); got != `{"title":"New Title","metadata":{"priority":"high","tags":["published",`+
		`"reviewed"]}}` {
		t.Errorf("JSON() is %s", got)
	}
}

// What a patch says, for handlers that write only what changed.
func TestPaths(t *testing.T) {
	patch, _ := readPatch(t, `{"title":"x","metadata":{"a":{"b":null},"c":[1,{"d":2}],"e":{}}}`)
	want := []string{"metadata.a.b", "metadata.c", "metadata.e", "title"}
	if diff := cmp.Diff(want, patch.Paths()); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	for path, has := range map[string]bool{
		"title": true, "metadata": true, "metadata.a": true, "metadata.a.b": true, "metadata.a.b.x": false, "meta": false,
		"tit": false, "metadata.x": false,
	} {
		if patch.Has(path) != has {
			t.Errorf("Has(%q) is %v", path, !has)
		}
	}
	var none Patch[document]
	if none.Paths() != nil || none.Has("title") {
		t.Error("the zero patch changes something")
	}
}

// REQ-UP-04, REQ-UP-05, REQ-UP-12: an invalid patch is refused before the handler has anything to apply.
func TestInvalidPatch(t *testing.T) {
	for text, path := range map[string]string{
		`{"title":"much too long"}`:           "input.title",
		`{"title":null}`:                      "input.title",
		`{"created_at":"2026-01-01"}`:         "input.created_at",
		`{"titel":"x"}`:                       "input.titel",
		`[]`:                                  "input",
		`{"metadata":{"a":1},"title":["no"]}`: "input.title",
	} {
		patch, r := readPatch(t, text)
		problems := r.Problems()
		if len(problems) != 1 || problems[0].Path != path {
			t.Errorf("%s: problems %+v, want one about %s", text, problems, path)
		}
		var d document
		if err := patch.Apply(&d); err == nil || d.Title != "" || d.Meta != nil {
			t.Errorf("%s: applied to %+v, error %v", text, d, err)
		}
	}
}
