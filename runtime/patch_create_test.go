package aql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// shelf is a resource whose parts have rules of their own.
type shelf struct {
	Name   string
	Owner  *owner
	Keeper owner // left out of results if it is zero
	Boxes  map[string]box
	Lids   map[string]*box
	Labels map[string]string
	Counts map[string]int
	*Seal
}

// Seal is what a shelf has that is sealed.
type Seal struct{ By, Note, Color string }

type owner struct {
	Name string
	Home address
	Key  string
}

type address struct{ Town, Street string }

type box struct {
	Size  int
	Color string
	Made  string
}

var shelfTypes = []gen.WireType{
	{Name: "Address", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "town", Go: "Town", Type: "string", Required: true}, {Name: "street", Go: "Street", Type: "string"},
	}},
	{Name: "AddressPatch", Kind: gen.KindObject, Changes: "Address"},
	{Name: "Box", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "size", Go: "Size", Type: "integer", Required: true, Rules: gen.Rules{gen.Min("1")}},
		{Name: "color", Go: "Color", Type: "string", Rules: gen.Rules{gen.Default(`"red"`), gen.Enum{"red", "blue"}}},
		{Name: "made", Go: "Made", Type: "string", Required: true, ReadOnly: true},
	}},
	{Name: "BoxPatch", Kind: gen.KindObject, Changes: "Box"},
	{Name: "Owner", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "name", Go: "Name", Type: "string", Required: true}, {Name: "home", Go: "Home", Type: "Address"},
		{Name: "key", Go: "Key", Type: "string", Sensitive: true},
	}},
	{Name: "OwnerPatch", Kind: gen.KindObject, Changes: "Owner"},
	{Name: "Shelf", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "name", Go: "Name", Type: "string", Required: true},
		{Name: "owner", Go: "Owner", Type: "Owner"},
		{Name: "keeper", Go: "Keeper", Type: "Owner", OmitZero: true},
		{Name: "boxes", Go: "Boxes", Type: "object", Items: &gen.Field{Type: "Box"}, Rules: gen.Rules{gen.MaxItems(2)}},
		{Name: "lids", Go: "Lids", Type: "object", Items: &gen.Field{Type: "Box"}},
		{Name: "labels", Go: "Labels", Type: "object", Items: &gen.Field{Type: "string"},
			Rules: gen.Rules{gen.MinItems(2), gen.MaxItems(3)}},
		{Name: "counts", Go: "Counts", Type: "object", Items: &gen.Field{Type: "integer"},
			Rules: gen.Rules{gen.MinItems(2), gen.MaxItems(3)}},
		{Name: "sealed_by", Go: "Seal.By", Type: "string", Required: true},
		{Name: "seal_note", Go: "Seal.Note", Type: "string"},
		{Name: "seal_color", Go: "Seal.Color", Type: "string", Rules: gen.Rules{gen.Default(`"red"`)}},
	}},
	{Name: "ShelfPatch", Kind: gen.KindObject, Changes: "Shelf"},
}

type shelfRequest struct{ Input Patch[shelf] }

// newShelves returns a session with an operation that applies its input to a shelf and then to another one of the same
// content, which reads the patch a second time.
func newShelves(t *testing.T, stored func() *shelf, wrap func(error) error) (session *Session, merged *shelf) {
	t.Helper()
	merged = new(shelf)
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "update_shelf", Category: gen.Update, Danger: gen.Reversible, Description: "Changes a shelf.",
		Params:  []gen.Field{{Name: "input", Go: "Input", Type: "ShelfPatch", Required: true}},
		Request: (*shelfRequest)(nil), Result: (*string)(nil), Returns: "Nothing",
		Call: func(_ context.Context, _ []any, request any) (any, error) {
			input := &request.(*shelfRequest).Input
			first, second := stored(), stored()
			err := input.Apply(first)
			if again := input.Apply(second); (err == nil) != (again == nil) {
				t.Errorf("first %v, then %v", err, again)
			}
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("the second shelf (-first +second):\n%s", diff)
			}
			if err != nil {
				if diff := cmp.Diff(stored(), first); diff != "" {
					t.Errorf("changed in spite of the error:\n%s", diff)
				}
				return "", wrap(err)
			}
			*merged = *first
			return "", nil
		},
	}}, append([]gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}}, shelfTypes...))
	adapter, err := New(registry, Options{Name: "shelves", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession(), merged
}

// A4, A5, REQ-UP-04: what a merge creates is checked as in a request that creates it, and the agent learns what is
// wrong with it, also of an error that the handler has wrapped.
func TestApplyChecksWhatItCreates(t *testing.T) {
	full := func() *shelf {
		return &shelf{
			Name: "s", Owner: &owner{Name: "ann", Home: address{Town: "Ulm"}}, Keeper: owner{Name: "bob"},
			Boxes: map[string]box{"a": {Size: 1, Color: "blue", Made: "once"}}, Lids: map[string]*box{"l": {Size: 2}},
			Labels: map[string]string{"x": "1", "y": "2"}, Counts: map[string]int{"x": 1, "y": 2},
		}
	}
	empty := func() *shelf { return &shelf{Name: "s"} }
	sealed := func() *shelf { return &shelf{Name: "s", Seal: &Seal{By: "ann"}} }
	const missing, outOfRange = "VALIDATION_MISSING_PARAM", "VALIDATION_OUT_OF_RANGE"
	for _, tt := range []struct {
		name   string
		stored func() *shelf
		input  string
		code   string // empty: it fits
		path   string
	}{
		{"a new object lacks a required field", empty, `{"owner":{"key":"k"}}`, missing, "input.owner.name"},
		{"a new object is whole", empty, `{"owner":{"name":"ann"}}`, "", ""},
		{"an object in a new object lacks one", empty, `{"owner":{"name":"ann","home":{"street":"x"}}}`, missing,
			"input.owner.home.town"},
		{"an object that is there is changed in part", full, `{"owner":{"key":"k"}}`, "", ""},
		{"an object in it is changed in part", full, `{"owner":{"home":{"street":"x"}}}`, "", ""},
		{"an object that results leave out is new", empty, `{"keeper":{"key":"k"}}`, missing, "input.keeper.name"},
		{"an object that results show is not", full, `{"keeper":{"key":"k"}}`, "", ""},
		{"a new entry lacks a required field", full, `{"boxes":{"b":{"color":"blue"}}}`, missing, "input.boxes.b.size"},
		{"a new entry is whole but for what the service sets", full, `{"boxes":{"b":{"size":1}}}`, "", ""},
		{"an entry that is there is changed in part", full, `{"boxes":{"a":{"color":"red"}}}`, "", ""},
		{"a new entry of pointers lacks one", full, `{"lids":{"m":{"color":"blue"}}}`, missing, "input.lids.m.size"},
		{"an entry of pointers is changed in part", full, `{"lids":{"l":{"color":"blue"}}}`, "", ""},
		{"too many entries", full, `{"boxes":{"b":{"size":1},"c":{"size":1}}}`, outOfRange, "input.boxes"},
		{"too many texts", full, `{"labels":{"z":"3","u":"4"}}`, outOfRange, "input.labels"},
		{"too few texts are left", full, `{"labels":{"x":null}}`, outOfRange, "input.labels"},
		{"too few texts in a new map", empty, `{"labels":{"x":"1"}}`, outOfRange, "input.labels"},
		{"enough texts in a new map", empty, `{"labels":{"x":"1","y":"2"}}`, "", ""},
		{"too few numbers in a new map", empty, `{"counts":{"x":1}}`, outOfRange, "input.counts"},
		{"too many numbers", full, `{"counts":{"z":3,"u":4}}`, outOfRange, "input.counts"},
		{"one more text", full, `{"labels":{"z":"3"}}`, "", ""},
		{"a new embedded struct lacks a required field", empty, `{"seal_note":"n"}`, missing, "input.sealed_by"},
		{"a new embedded struct is whole", empty, `{"sealed_by":"ann"}`, "", ""},
		{"an embedded struct that is there is changed in part", sealed, `{"seal_note":"n"}`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session, _ := newShelves(t, tt.stored, func(err error) error { return fmt.Errorf("saving the shelf: %w", err) })
			reply := session.Call(t.Context(), "mcp_aql_update",
				[]byte(`{"operation":"update_shelf","params":{"input":`+tt.input+`}}`))
			checkOfficial(t, reply.JSON)
			text := string(reply.JSON)
			if tt.code == "" {
				if text != `{"success":true,"data":""}` {
					t.Error(text)
				}
				return
			}
			if !strings.Contains(text, `"code":"`+tt.code+`"`) || !strings.Contains(text, `"param_name":"`+tt.path+`"`) {
				t.Errorf("%s, want %s about %s", text, tt.code, tt.path)
			}
			if tt.code == missing && !strings.Contains(text, `"operation":"update_shelf"`) {
				t.Errorf("%s does not name its operation", text)
			}
		})
	}
}

// A4: what a create sets to a default, a merge that creates it does too; what is there keeps its value.
func TestApplyGivesNewObjectsTheirDefaults(t *testing.T) {
	stored := func() *shelf { return &shelf{Name: "s", Boxes: map[string]box{"a": {Size: 1, Color: "blue"}}} }
	session, merged := newShelves(t, stored, nil)
	session.Call(t.Context(), "mcp_aql_update", []byte(`{"operation":"update_shelf","params":{"input":`+
		`{"boxes":{"a":{"size":2},"b":{"size":3}},"sealed_by":"ann"}}}`))
	want := map[string]box{"a": {Size: 2, Color: "blue"}, "b": {Size: 3, Color: "red"}}
	if diff := cmp.Diff(want, merged.Boxes); diff != "" {
		t.Errorf("boxes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&Seal{By: "ann", Color: "red"}, merged.Seal); diff != "" {
		t.Errorf("the embedded struct (-want +got):\n%s", diff)
	}
}

// A5: a handler can find out which code an error of Apply has, and add to its details.
func TestErrorOfApply(t *testing.T) {
	stored := func() *shelf { return &shelf{Labels: map[string]string{"x": "1", "y": "2"}} }
	session, _ := newShelves(t, stored, func(err error) error {
		var f *Error
		if !errors.As(err, &f) || f.Code != CodeOutOfRange {
			t.Errorf("error %#v", err)
		}
		return f.WithDetail("shelf", "s")
	})
	reply := session.Call(t.Context(), "mcp_aql_update",
		[]byte(`{"operation":"update_shelf","params":{"input":{"labels":{"z":"3","u":"4"}}}}`))
	checkText(t, "answer", `{"success":false,"error":{"code":"VALIDATION_OUT_OF_RANGE","message":"Parameter `+
		`'input.labels' must have a number of items <= '3'","details":{"param_name":"input.labels","max_items":3,`+
		`"shelf":"s"}}}`, string(reply.JSON))
}
