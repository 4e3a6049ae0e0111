package wire

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// REQ-UP-04, REQ-VO-09: problems have the path and the offset of the value, and reading goes on after them.
func TestProblems(t *testing.T) {
	const input = `{"a":{"b":[1,"x",{"c":[]}],"d": null},"e":7,"f": [1],"s":"long",` +
		`"m":{"k.1":2}, "o":1,"p":{"q":1}, "n":9}`
	r := NewReader(input, Limits{})
	r.SetPath("input")
	valid := []string{"a", "e"}
	if !r.Object() {
		t.Fatal(outcome(r))
	}
	for r.NextUnchecked() {
		switch r.Name() {
		case "a":
			if r.Object() {
				for r.NextUnchecked() {
					if r.Null() {
						r.NullRefused("string")
						continue
					}
					if r.Array() {
						n := 0
						for r.NextElement() {
							n++
							r.Int(0)
						}
						r.MaxItems(n, 2)
					}
				}
				r.Missing("z", "string")
			}
		case "e":
			r.String()
		case "s":
			if s, ok := r.String(); ok {
				r.MaxLength(s, 3)
				r.Enum(s, valid)
				r.Pattern(strings.HasPrefix(s, "x"), "^x")
			}
		case "m":
			if r.Object() {
				for r.NextUnchecked() {
					r.String()
				}
			}
		case "o":
			r.ReadOnly()
		case "p":
			r.AppendOnly()
		case "n":
			if v, ok := r.Int(0); ok {
				Max(r, v, 8)
				Min(r, v, 10)
			}
		default:
			r.Unknown(valid)
		}
	}
	r.Missing("y", "integer")
	r.End()
	if r.Fault() != nil {
		t.Fatal(r.Fault())
	}
	want := []Problem{
		{Stage: StageType, Path: "input.a.b[1]", Expected: "integer", Actual: "string", Value: `"x"`},
		{Stage: StageType, Path: "input.a.b[2]", Expected: "integer", Actual: "object"},
		{Stage: StageConstraint, Rule: "max_items", Path: "input.a.b", Limit: "2"},
		{Stage: StageType, Path: "input.a.d", Expected: "string", Actual: "null"},
		{Stage: StageMissing, Path: "input.a.z", Name: "z", Expected: "string"},
		{Stage: StageType, Path: "input.e", Expected: "string", Actual: "number", Value: "7"},
		{Stage: StageUnknown, Path: "input.f", Name: "f", Allowed: valid},
		{Stage: StageConstraint, Rule: "max_length", Path: "input.s", Limit: "3", Value: `"long"`},
		{Stage: StageConstraint, Rule: "enum", Path: "input.s", Allowed: valid, Value: `"long"`},
		{Stage: StageConstraint, Rule: "pattern", Path: "input.s", Limit: "^x", Value: `"long"`},
		{Stage: StageType, Path: "input.m.k.1", Expected: "string", Actual: "number", Value: "2"},
		{Stage: StageUpdate, Rule: "read_only", Path: "input.o"},
		{Stage: StageUpdate, Rule: "append_only", Path: "input.p"},
		{Stage: StageConstraint, Rule: "maximum", Path: "input.n", Limit: "8", Value: "9"},
		{Stage: StageConstraint, Rule: "minimum", Path: "input.n", Limit: "10", Value: "9"},
		{Stage: StageMissing, Path: "input.y", Name: "y", Expected: "integer"},
	}
	places := []string{
		`"x"`, `{"c"`, `,"d"`, `null`, `},"e"`, `7`, `[1]`, `"long"`, `"long"`, `"long"`, `2}`, `1,"p"`, `{"q"`, `9}`, `9}`,
		`}`,
	}
	got := r.Problems()
	for i := range got {
		if i < len(places) && !strings.HasPrefix(input[got[i].Offset:], places[i]) {
			t.Errorf("problem %d is at %q, want %q", i, input[got[i].Offset:], places[i])
		}
		got[i].Offset = 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// The path of an object is its own again when the loop over it has ended; that of a member stays until the next one.
func TestPath(t *testing.T) {
	r := NewReader(`{"a":{"b":[[7],{}]},"c":1}`, Limits{})
	var got []string
	note := func() { got = append(got, r.valuePath()) }
	note()
	r.Object()
	note()
	r.Next()
	r.Object()
	note()
	r.Next()
	r.Array()
	note()
	r.NextElement()
	r.Array()
	r.NextElement()
	note()
	r.Int(0)
	note()
	r.NextElement()
	note()
	r.NextElement()
	r.Skip()
	note()
	r.NextElement()
	note()
	r.Next()
	note()
	r.Next()
	r.Skip()
	note()
	r.Next()
	note()
	want := []string{"", "", "a", "a.b", "a.b[0][0]", "a.b[0][0]", "a.b[0]", "a.b[1]", "a.b", "a", "c", ""}
	if diff := cmp.Diff(want, got); diff != "" || !r.OK() {
		t.Errorf("paths (-want +got):\n%s\n%v", diff, r.Fault())
	}
}

// A part of a document can be read by itself, under its own path.
func TestPartOfADocument(t *testing.T) {
	const document = `{"operation":"x","input": {"a":[true]} }`
	outer := NewReader(document, Limits{})
	outer.Object()
	outer.Next()
	outer.Skip()
	outer.Next()
	from := outer.Offset()
	raw := outer.Raw()
	if raw != `{"a":[true]}` || outer.Text(from, outer.Offset()) != raw {
		t.Fatalf("Raw returns %q", raw)
	}
	inner := NewReader(raw, Limits{})
	inner.SetPath("input")
	if inner.Object() {
		for inner.Next() {
			inner.Array()
			for inner.NextElement() {
				inner.String()
			}
		}
		inner.Missing("b", "string")
	}
	inner.End()
	var paths []string
	for _, p := range inner.Problems() {
		paths = append(paths, p.Path)
	}
	if diff := cmp.Diff([]string{"input.a[0]", "input.b"}, paths); diff != "" || inner.Fault() != nil {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	if raw := NewReader(" [1 ,2]\n", Limits{}).Raw(); raw != "[1 ,2]" {
		t.Errorf("Raw returns %q", raw)
	}
	inner.Reset(`[[]]`, Limits{MaxDepth: 1})
	inner.SetPath("input")
	if inner.Skip(); inner.Fault() == nil || inner.Fault().Location != "input[0]" {
		t.Errorf("fault %+v", inner.Fault())
	}
}

// REQ-VO-05: what is not an object or array is a problem, and is skipped; what is inside is not read.
func TestObjectAndArrayOfOtherKinds(t *testing.T) {
	for _, input := range []string{`"s"`, `1`, `true`, `null`, `[{"a":1}]`, `{"a":[1]}`} {
		r := NewReader(`[`+input+`,2]`, Limits{})
		r.Array()
		r.NextElement()
		kind, read, expected := r.Kind(), r.Object, "object"
		if kind == "object" {
			read, expected = r.Array, "array"
		}
		if read() {
			t.Errorf("%s is read as %s", input, expected)
		}
		if want := "type " + expected + " " + kind; outcome(r) != want {
			t.Errorf("%s: %q, want %q", input, outcome(r), want)
		}
		if !r.NextElement() {
			t.Errorf("reading does not go on behind %s", input)
		}
	}
}

// REQ-VO-06, REQ-VO-07, REQ-VO-08, REQ-VO-09: bounds are inclusive, lengths are code points, patterns search.
func TestConstraints(t *testing.T) {
	r := NewReader(`"äöü😀"`, Limits{})
	s, _ := r.String()
	for _, tt := range []struct {
		name    string
		holds   bool
		problem string
	}{
		{"four characters of four", r.MinLength(s, 4) && r.MaxLength(s, 4), ""},
		{"four characters of five", r.MinLength(s, 5), "min_length 5"},
		{"four characters of three", r.MaxLength(s, 3), "max_length 3"},
		{"no characters of none", r.MinLength("", 0) && r.MaxLength("", 0), ""},
		{"three items of three", r.MinItems(3, 3) && r.MaxItems(3, 3), ""},
		{"two items of three", r.MinItems(2, 3), "min_items 3"},
		{"four items of three", r.MaxItems(4, 3), "max_items 3"},
		{"pattern in the middle", r.Pattern(true, "ö"), ""},
		{"pattern nowhere", r.Pattern(false, "x+"), "pattern x+"},
		{"enum", r.Enum(s, []string{"a", "äöü😀"}), ""},
		{"not in the enum", r.Enum(s, []string{"a"}), "enum "},
		{"integer on its bounds", Min(r, int64(-3), -3) && Max(r, int64(-3), -3), ""},
		{"integer below", Min(r, int64(-4), -3), "minimum -3"},
		{"unsigned above", Max(r, uint64(18446744073709551615), 18446744073709551614), "maximum 18446744073709551614"},
		{"number above", Max(r, 0.75, 0.5), "maximum 0.5"},
		{"number below", Min(r, 1.0, 1e21), "minimum 1e+21"},
	} {
		if tt.holds != (tt.problem == "") {
			t.Errorf("%s: %v", tt.name, tt.holds)
		}
		if tt.problem == "" {
			continue
		}
		p := r.problems[0]
		r.problems = r.problems[1:]
		if got := fmt.Sprintf("%s %s", p.Rule, p.Limit); got != tt.problem || p.Stage != StageConstraint {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.problem)
		}
	}
	if len(r.problems) > 0 {
		t.Errorf("more problems: %v", r.problems)
	}
}

// REQ-UK-02: every unknown name is listed, in full.
func TestUnknownNamesAreAllListed(t *testing.T) {
	long := strings.Repeat("n", 1000)
	r := NewReader(`{"a":[{"x":[{}],"y":1,"`+long+`":null}]}`, Limits{})
	r.Object()
	r.Next()
	r.Array()
	r.NextElement()
	r.Object()
	for r.NextUnchecked() {
		r.Unknown(nil)
	}
	var got []string
	for _, p := range r.Problems() {
		got = append(got, p.Name+" "+p.Path)
	}
	if diff := cmp.Diff([]string{"x a[0].x", "y a[0].y", long + " a[0]." + long}, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// Problems do not take much more memory than requests: their number is bounded, and how much of the input each repeats.
func TestProblemsAreBounded(t *testing.T) {
	name := "x" + strings.Repeat("é", 50_000)
	r := NewReader(`{"`+name+`":["`+name+`"`+strings.Repeat(`,"x"`, 20_000)+`,0],"last":1}`, Limits{})
	r.Object()
	r.Next()
	r.Array()
	for r.NextElement() {
		if _, ok := r.Int(0); ok {
			Min(r, int64(0), 1)
		}
	}
	r.NextUnchecked()
	r.Unknown(nil)
	count := map[Stage]int{}
	for _, p := range r.Problems() {
		count[p.Stage]++
		if len(p.Path) > 200 || len(p.Value) > 300 || !utf8.ValidString(p.Path) ||
			!strings.HasPrefix(name, strings.TrimSuffix(strings.Split(p.Path, "…")[0], "last")) {
			t.Fatalf("the problem repeats %d and %d bytes: %.300s", len(p.Path), len(p.Value), p.Path)
		}
	}
	if diff := cmp.Diff(map[Stage]int{StageType: 1000, StageConstraint: 1, StageUnknown: 1}, count); diff != "" ||
		r.Fault() != nil || r.OK() {
		t.Errorf("problems of each stage (-want +got):\n%s\n%v", diff, r.Fault())
	}
}

// A13: null among values of any type is refused as what it is.
func TestNullAmongValuesOfAnyType(t *testing.T) {
	r := NewReader(`null`, Limits{})
	r.Skip()
	r.NullRefused("any")
	want := []Problem{{Stage: StageType, Expected: "any value but null", Actual: "null"}}
	if diff := cmp.Diff(want, r.Problems()); diff != "" {
		t.Error(diff)
	}
}
