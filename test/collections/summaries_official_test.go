package collections_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aqltag/aqltag/test/collections/parts"
)

// REQ-AG-01, REQ-AG-02, REQ-AG-05: the summaries that a collection accepts and its answers are valid against the
// official schema of aggregation queries, and what that refuses, the collection refuses.
func TestOfficialSchemaOfSummaries(t *testing.T) {
	const file = "aggregation-query.schema.json#/$defs/"
	request, response := official(t, file+"AggregationRequest"), official(t, file+"AggregationResponse")
	result := official(t, "operation-result.schema.json")
	check := func(schema *validator.Schema, v any) {
		t.Helper()
		if err := valid(t, schema, encoded(t, v)); err != nil {
			t.Errorf("%v\n%s", err, encoded(t, v))
		}
	}
	m := newMaker(t, 8)
	s := newSession(t, &parts.Store{Parts: m.parts(30)})
	for range 100 {
		params := map[string]any{"aggregate": m.aggregate(), "include_items": m.IntN(2) == 0}
		check(request, params)
		for _, operation := range []string{"list_slice", "list_numbered", "list_offset"} {
			answer := send(t, s, operation, string(encoded(t, params)))
			check(result, answer)
			check(response, answer["data"])
		}
	}
	for _, wrong := range []string{
		`{"aggregate":[]}`, `{"aggregate":{"a":1}}`, `{"aggregate":{"a":{"count":1}}}`, `{"aggregate":{"a":{"sum":true}}}`,
		`{"aggregate":{"a":{"count":true,"median":"minutes"}}}`, `{"aggregate":{"a":{"count":true}},"include_items":1}`,
	} {
		if valid(t, request, []byte(wrong)) == nil {
			t.Errorf("the official schema accepts %s", wrong)
		}
		if answer := send(t, s, "list_slice", wrong); answer["success"] != false {
			t.Errorf("%s is accepted", wrong)
		} else {
			check(result, answer)
		}
	}
}

// REQ-AG-06, REQ-IN-26, REQ-PM-04: introspection says what can be summarised, by the official schemas, and that
// something can.
func TestIntrospectionOfSummaries(t *testing.T) {
	s := newSession(t, &parts.Store{})
	listed := send(t, s, "introspect", `{"query":"operations"}`)
	if at(listed, "data", "_protocol", "capabilities", "aggregations") != true {
		t.Errorf("_protocol does not claim summaries: %v", at(listed, "data", "_protocol"))
	}
	details := send(t, s, "introspect", `{"query":"operations","name":"list_offset"}`)
	want := map[string]any{
		"supported": true, "default_mode": "summary_only",
		"functions": []any{"count", "group_by", "sum", "avg", "min", "max"}, "groupable_fields": []any{
			"country", "title", "note", "grade", "minutes", "serial", "checked", "address", "stock", "tags", "counts",
			"grades", "deep", "maker.name", "maker.rank", "maker.codes", "plan.step.grade",
		},
		"numeric_fields": []any{
			"minutes", "serial", "small", "weight", "ratio", "stock", "reserve", "deep", "maker.rank", "plan.step.count",
		},
	}
	support := at(details, "data", "operation", "aggregation_support")
	if diff := gocmp.Diff(any(want), support); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, document := range map[string]any{
		"aggregation-query.schema.json#/$defs/AggregationSupport": support, "introspection-response.schema.json": details,
	} {
		if err := valid(t, official(t, name), encoded(t, document)); err != nil {
			t.Errorf("%v\n%s", err, encoded(t, document))
		}
	}
}
