package aql

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// What the gate, records and questions see of the parameters of a request.
func TestRequestValues(t *testing.T) {
	o := stageOperation("move", "update",
		gen.Param{Name: "id", Type: "string"},
		gen.Param{Name: "limit", Type: "integer", Default: "25"},
		gen.Param{Name: "key", Type: "string", Sensitive: true},
		gen.Param{Name: "to", Type: "Address"},
	)
	q := stageRequest(o, "to", `{"pin":"1234", "city":"Bern"}`, "key", `"k"`, "id", `"a\u0062"`, "id", `"late"`)
	for _, tt := range []struct{ name, value, shown string }{
		{"id", `"a\u0062"`, "ab"}, // the first value counts
		{"limit", "25", "25"},
		{"key", `"k"`, "***"},
		{"to", `{"pin":"1234", "city":"Bern"}`, `{"city":"Bern"}`},
		{"nope", "", ""},
	} {
		value, _ := q.Value(tt.name)
		shown, _ := q.shown(tt.name, 0)
		checkText(t, "value of "+tt.name, tt.value, value)
		checkText(t, "shown of "+tt.name, tt.shown, shown)
	}
	checkText(t, "canonical", `{"id":"ab","limit":25,"key":"k","to":{"city":"Bern","pin":"1234"}}`, string(q.Canonical()))
	checkText(t, "redacted", `{"id":"a\u0062","limit":25,"key":"***","to":{"city":"Bern"}}`, string(q.Redacted()))
}

// A null is absence: the default stands in for it.
func TestRequestValueNull(t *testing.T) {
	q := stageRequest(stageOperation("list", "read", gen.Param{Name: "limit", Default: "25"}, gen.Param{Name: "to"}),
		"limit", "null", "to", "null")
	limit, hasLimit := q.Value("limit")
	to, hasTo := q.Value("to")
	if limit != "25" || !hasLimit || to != "" || hasTo {
		t.Errorf("limit %q %t, to %q %t", limit, hasLimit, to, hasTo)
	}
}

// A path finds its definition through items, maps and types, and is sensitive when any part of it is.
func TestOperationParam(t *testing.T) {
	o := stageOperation("send", "create",
		gen.Param{Name: "to", Type: "array", Items: &gen.Param{Type: "Address"}, Aliases: []string{"recipients"}},
		gen.Param{Name: "keys", Type: "map", Sensitive: true, Items: &gen.Param{Type: "string"}},
		gen.Param{Name: "deep", Type: "array", Items: &gen.Param{Items: &gen.Param{Type: "Address"}}},
	)
	for path, want := range map[string]struct {
		name      string
		sensitive bool
	}{
		"to": {"to", false}, "to[3].city": {"city", false}, "recipients[0].pin": {"pin", true}, "keys.any": {"", true},
		"deep[0][1].pin": {"pin", true}, "nope": {"", false}, "to[0].nope": {"", false},
	} {
		if got := o.param(path); got.Name != want.name || got.Sensitive != want.sensitive {
			t.Errorf("%s is %q, sensitive %t", path, got.Name, got.Sensitive)
		}
	}
	for path, want := range map[string]int{"to[0]": 0, "keys.a": 1, "deep": 2, "nope": 3} {
		if got := o.rank(path); got != want {
			t.Errorf("%s has rank %d, want %d", path, got, want)
		}
	}
}
