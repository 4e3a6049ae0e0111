package gen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A filter has the fields of the elements that have the rule, with the values with which they are compared.
func TestFilters(t *testing.T) {
	level := WireType{Name: "Level", Kind: KindEnum, Values: []EnumValue{{"low", ""}, {"high", ""}}}
	note := WireType{Name: "Note", Kind: KindObject, Fields: []Field{
		{Name: "id", Type: "string", ID: true, Rules: Rules{Filter{"eq", "in"}}},
		{Name: "text", Type: "string", Rules: Rules{MaxLen(9), Filter{}}},
		{Name: "level", Type: "Level", Rules: Rules{Filter{}}},
		{Name: "size", Type: "integer", Rules: Rules{Min("0"), Max("255"), Filter{}}},
		{Name: "count", Type: "integer", Rules: Rules{Min("0"), Max("18446744073709551615"), Filter{}}},
		{Name: "due", Type: "string", Nullable: true, Rules: Rules{Format("date-time"), Filter{}}},
		{Name: "tags", Type: "array", Items: &Field{Type: "string"}, Rules: Rules{Filter{}}},
		{Name: "rest", Type: "string"},
	}}
	_, got := registryOperation(t, registry([]WireType{
		level, note, {Name: "NoteFilter", Kind: KindObject, Filters: "Note", Fields: []Field{
			{Name: "place.level", Type: "Level", Rules: Rules{Filter{"eq", "null"}}},
		}},
		{Name: "NotePatch", Kind: KindObject, Changes: "Note"},
	}, Handler{Name: "list", Params: []Field{{Name: "filter", Type: "NoteFilter"}}}), "list")
	equality := []string{"eq", "ne", "in"}
	order := []string{"eq", "ne", "in", "gt", "gte", "lt", "lte"}
	want := Type{
		Name: "NoteFilter", Kind: KindObject, Filters: "Note", Description: FilterDescription("Note"),
		Fields: []Param{
			{Name: "id", Type: "string", Filter: []string{"eq", "in"}, Description: "Only eq, in"},
			{Name: "text", Type: "string", Filter: append(order[:7:7], "contains", "starts")},
			{Name: "level", Type: "Level", Enum: []string{"low", "high"}, Filter: equality},
			{Name: "size", Type: "integer", Filter: order},
			{Name: "count", Type: "integer", Minimum: "0", Maximum: "18446744073709551615", Filter: order},
			{Name: "due", Type: "string", Format: "date-time", Filter: append(order[:7:7], "null"), Description: "Also null"},
			{Name: "tags", Type: "string", Filter: []string{"contains", "in", "all"}, Description: "Only contains, in, all"},
			{
				Name: "place.level", Type: "Level", Enum: []string{"low", "high"}, Filter: []string{"eq", "null"},
				Description: "Only eq, null",
			},
			{
				Name: "_or", Type: "array", Items: &Param{Type: "NoteFilter"}, MinItems: 1, MaxItems: 20,
				Description: "One of these holds",
			},
			{Name: "_not", Type: "NoteFilter", Description: "This does not hold"},
		},
	}
	filter, _ := got.Type("NoteFilter")
	if diff := cmp.Diff(want, *filter); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	patch, _ := got.Type("NotePatch")
	for i := range patch.Fields {
		if patch.Fields[i].Filter != nil {
			t.Errorf("%s of a patch has operators", patch.Fields[i].Name)
		}
	}
	err := registry([]WireType{{Name: "F", Kind: KindObject, Filters: "Note"}}).Err()
	if err == nil || !strings.Contains(err.Error(), "filters Note") {
		t.Errorf("a filter of a type that is not there: %v", err)
	}
}

// What identifies an element is tagged, or is called id, or ends in _id.
func TestIdentifiers(t *testing.T) {
	for _, tt := range []struct {
		fields []Param
		want   []int
	}{
		{[]Param{{Name: "a", ID: true}, {Name: "id"}, {Name: "b", ID: true}}, []int{0, 2}},
		{[]Param{{Name: "todo_id"}, {Name: "id"}}, []int{1}},
		{[]Param{{Name: "id"}, {Name: "todo_id"}}, []int{0}},
		{[]Param{{Name: "name"}, {Name: "todo_id"}, {Name: "owner_id"}}, []int{1}},
		{[]Param{{Name: "name"}}, nil},
	} {
		if diff := cmp.Diff(tt.want, Identifiers(tt.fields)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.fields, diff)
		}
	}
}
