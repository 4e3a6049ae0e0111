package collections_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
)

// REQ-AG-02: a number that JSON does not have is null in summaries, and takes the others no answer.
func TestSummariesOfNumbersWithoutJSON(t *testing.T) {
	store := manyParts(4) // of 0 to 3 minutes
	store.Parts[0].Weight, store.Parts[1].Weight, store.Parts[2].Weight = math.NaN(), 1, math.Inf(-1)
	for i, ratio := range []float64{1, math.Inf(1), 0.5, math.Inf(1)} {
		store.Parts[i].Ratio = float32(ratio)
	}
	s := adapterOf(t, store, aql.Options{}).NewSession()
	for params, want := range map[string]any{
		`"sum":"weight"`: nil,
		`"avg":"weight"`: nil,
		`"min":"weight"`: nil,
		`"max":"weight"`: nil,
		`"sum":"ratio","avg":"ratio","min":"ratio","max":"ratio"`: map[string]any{
			"sum": nil, "avg": nil, "min": 0.5, "max": nil,
		},
		`"group_by":"minutes","sum":"weight"`: map[string]any{"0": nil, "1": 1.0, "2": nil, "3": 0.0},
		`"group_by":"minutes","max":"ratio"`:  map[string]any{"0": 1.0, "1": nil, "2": 0.5, "3": nil},
		`"count":true,"sum":"minutes","avg":"weight","max":"reserve"`: map[string]any{
			"count": 4.0, "sum": 6.0, "avg": nil, "max": nil,
		},
	} {
		answer := send(t, s, "list_slice", `{"aggregate":{"a":{`+params+`}}}`)
		got := at(answer, "data", "aggregations")
		if diff := cmp.Diff(any(map[string]any{"a": want}), got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", params, answer, diff)
		}
	}
}
