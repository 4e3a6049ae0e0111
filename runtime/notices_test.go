package aql

import (
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

func writtenNotices(l *notices) string {
	w := wire.NewWriter(nil)
	w.BeginObject()
	l.write(w)
	w.EndObject()
	return string(w.Bytes())
}

// Equal warnings are counted, the most severe come first, and details are in the order of their names.
func TestNotices(t *testing.T) {
	var l notices
	checkText(t, "no warnings", `{}`, writtenNotices(&l))
	for _, w := range []Warning{
		{Code: "A", Message: "m"},
		{Code: "B", Message: "m", Severity: SeverityLow},
		Warning{Code: "A", Message: "m"}.WithDetail("z", 1).WithDetail("a", "x"),
		{Code: "C", Message: "m", Severity: SeverityHigh},
		Warning{Code: "A", Message: "m"}.WithDetail("a", "x").WithDetail("z", 1),
	} {
		if problem := l.add(w); problem != "" {
			t.Errorf("%s: %s", w.Code, problem)
		}
	}
	want := `{"warnings":[{"code":"C","message":"m","severity":"high"},{"code":"A","message":"m","severity":"medium"},` +
		`{"code":"A","message":"m","severity":"medium","details":{"a":"x","occurrence_count":2,"z":1}},` +
		`{"code":"B","message":"m","severity":"low"}]}`
	checkText(t, "warnings", want, writtenNotices(&l))
}

// A warning that must not be shown is not added.
func TestNoticesRefuse(t *testing.T) {
	for want, w := range map[string]Warning{
		"a warning needs a code": {Code: "a", Message: "m"},
		"and a message":          {Code: "A"},
		"its severity":           {Code: "A", Message: "m", Severity: "urgent"},
		"it has a source file":   {Code: "A", Message: "at /src/main.go:3"},
		"detail 'c': it has":     Warning{Code: "A", Message: "m"}.WithDetail("c", "pq: no such row"),
		"unsupported type":       Warning{Code: "A", Message: "m"}.WithDetail("c", make(chan int)),
	} {
		var l notices
		if problem := l.add(w); !strings.Contains(problem, want) || len(l.list) > 0 {
			t.Errorf("%+v: %q, %d warnings", w, problem, len(l.list))
		}
	}
}

// REQ-WA-07: what the adapter itself warns of, and from which threshold on.
func TestRequestWarnings(t *testing.T) {
	o := stageOperation("list", "read")
	codes := func(took time.Duration, omitted ...string) string {
		q := stageRequest(o)
		q.slots.handled.omitted = omitted
		var out []string
		for _, w := range requestWarnings(q, took, 10*time.Millisecond) {
			out = append(out, w.Code+" "+string(w.Severity))
		}
		return strings.Join(out, ", ")
	}
	checkText(t, "nothing", "", codes(10*time.Millisecond))
	checkText(t, "a bit slow", "PERFORMANCE_SLOW_QUERY_WARNING low", codes(11*time.Millisecond))
	checkText(t, "slow", "PERFORMANCE_SLOW_QUERY_WARNING medium", codes(20*time.Millisecond))
	checkText(t, "very slow", "PERFORMANCE_SLOW_QUERY_WARNING high", codes(110*time.Millisecond))
	checkText(t, "a field that is not there", "VALIDATION_UNKNOWN_FIELD_WARNING ", codes(0, "nope"))
	o.definition.Replacement = "find"
	checkText(t, "a deprecated operation", "DEPRECATION_WARNING low", codes(0))
}
