package wire

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leak is the strictest of the patterns that text on the wire must not match (T-29).
var leak = regexp.MustCompile(`(?i)at\s+\S+`)

// REQ-DE-01, REQ-DE-02, REQ-DE-10, T-89: what is wrong with bytes, and where.
func TestFaults(t *testing.T) {
	limits := Limits{MaxStringLength: 4, MaxArrayElements: 3, MaxDepth: 3}
	for _, tt := range []struct {
		name, input string
		want        Fault
	}{
		{"empty", ``, Fault{Kind: Malformed}},
		{"only space", " \n", Fault{Kind: Malformed, Offset: 2}},
		{"cut off before a value", `{"a":`, Fault{Kind: Malformed, Offset: 5, Location: "a"}},
		{"cut off after a value", `{"a":1`, Fault{Kind: Malformed, Offset: 6, Location: "a"}},
		{"cut off in a string", `{"a":"x`, Fault{Kind: Malformed, Offset: 7, Location: "a"}},
		{"cut off in an escape", `["\`, Fault{Kind: Malformed, Offset: 3, Location: "[0]"}},
		{"cut off in a hexadecimal escape", `["\u00`, Fault{Kind: Malformed, Offset: 6, Location: "[0]"}},
		{"cut off after a name", `{"a"`, Fault{Kind: Malformed, Offset: 4, Location: "a"}},
		{"cut off in an array", `[1`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"cut off after a minus sign", `-`, Fault{Kind: Malformed, Offset: 1}},
		{"trailing comma in an object", `{"a":1,}`, Fault{Kind: Malformed, Offset: 7}},
		{"trailing comma in an array", `[1,]`, Fault{Kind: Malformed, Offset: 3, Location: "[1]"}},
		{"leading comma in an object", `{,"a":1}`, Fault{Kind: Malformed, Offset: 1}},
		{"leading comma in an array", `[,1]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"two commas", `[1,,2]`, Fault{Kind: Malformed, Offset: 3, Location: "[1]"}},
		{"no comma in an array", `[1 2]`, Fault{Kind: Malformed, Offset: 3, Location: "[0]"}},
		{"no comma in an object", `{"a":1 "b":2}`, Fault{Kind: Malformed, Offset: 7, Location: "a"}},
		{"no value", `{"a":}`, Fault{Kind: Malformed, Offset: 5, Location: "a"}},
		{"no colon", `{"a" 1}`, Fault{Kind: Malformed, Offset: 5, Location: "a"}},
		{"wrong bracket", `[1}`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"name without quotes", `{"b":[{a:1}]}`, Fault{Kind: Malformed, Offset: 7, Location: "b[0]"}},
		{"name in single quotes", `{'a':1}`, Fault{Kind: Malformed, Offset: 1}},
		{"string in single quotes", `['a']`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"comment", `[1/**/]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"misspelt literal", `[nul]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"literal in capitals", `[True]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"literal with a tail", `[truely]`, Fault{Kind: Malformed, Offset: 5, Location: "[0]"}},
		{"NaN", `[NaN]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"Infinity", `[-Infinity]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"leading zero", `[01]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"leading zero after the sign", `[-00]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"plus sign", `[+1]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"no digit before the dot", `[.5]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"no digit behind the dot", `[1.]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"empty exponent", `[1e]`, Fault{Kind: Malformed, Offset: 3, Location: "[0]"}},
		{"empty exponent with a sign", `[1e+]`, Fault{Kind: Malformed, Offset: 4, Location: "[0]"}},
		{"hexadecimal number", `[0x1]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"control character", "[\"\x01\"]", Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"line break in a string", "[\"a\nb\"]", Fault{Kind: Malformed, Offset: 3, Location: "[0]"}},
		{"control character behind an escape", "[\"\\n\x1f\"]", Fault{Kind: Malformed, Offset: 4, Location: "[0]"}},
		{"NUL as a byte in a string", "[\"\x00\"]", Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"NUL as a byte outside", "[\x00]", Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"form feed as space", "[\f]", Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"no-break space", "[\u00a01]", Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"byte order mark", "\ufeff{}", Fault{Kind: Malformed}},
		{"unknown escape", `["\x"]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"escape with too few digits", `["\u12"]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"second value", `{} {}`, Fault{Kind: Malformed, Offset: 3}},
		{"NUL behind the value", "{}\x00", Fault{Kind: Malformed, Offset: 2}},

		{"broken UTF-8", "{\"a\":\"x\xffy\"}", Fault{Kind: InvalidUTF8, Offset: 7}},
		{"overlong UTF-8", "[\"\xc0\xaf\"]", Fault{Kind: InvalidUTF8, Offset: 2}},
		{"surrogate in UTF-8", "[\"\xed\xa0\x80\"]", Fault{Kind: InvalidUTF8, Offset: 2}},
		{"truncated UTF-8", "[\"é\xe2\x82", Fault{Kind: InvalidUTF8, Offset: 4}},
		{"UTF-8 wins over what is before it", "[nul,\"\xff\"]", Fault{Kind: InvalidUTF8, Offset: 6}},
		{"lone high surrogate", `["\ud83d"]`, Fault{Kind: InvalidUTF8, Offset: 2, Location: "[0]"}},
		{"lone low surrogate", `["a\ude00"]`, Fault{Kind: InvalidUTF8, Offset: 3, Location: "[0]"}},
		{"surrogates in the wrong order", `["\ude00\ud83d"]`, Fault{Kind: InvalidUTF8, Offset: 2, Location: "[0]"}},
		{"high surrogate before another escape", `["\ud83d\n"]`, Fault{Kind: InvalidUTF8, Offset: 2, Location: "[0]"}},
		{"lone surrogate in a name", `{"b":1,"\ude00":1}`, Fault{Kind: InvalidUTF8, Offset: 8}},
		{"NUL", `{"a":{"b":"\u0000"}}`, Fault{Kind: NUL, Offset: 11, Location: "a.b"}},
		{"NUL in a name", `{"a":{"\u0000":1}}`, Fault{Kind: NUL, Offset: 7, Location: "a"}},

		{"duplicate name", `{"a":1,"b":{"c":1,"c":2}}`, Fault{Kind: DuplicateName, Offset: 18, Location: "b.c", Name: "c"}},
		{
			"duplicate name, spelt differently", `{"a":1,"\u0061":2}`,
			Fault{Kind: DuplicateName, Offset: 7, Location: "a", Name: "a"},
		},
		{"duplicate empty name", `{"":1,"":2}`, Fault{Kind: DuplicateName, Offset: 6, Location: "", Name: ""}},
		{
			"duplicate name behind a nested object", `{"a":{"b":1},"a":2}`,
			Fault{Kind: DuplicateName, Offset: 13, Location: "a", Name: "a"},
		},

		{"four levels of three", `{"a":[[[]]]}`, Fault{Kind: TooDeep, Offset: 7, Location: "a[0][0]", Limit: 3, Actual: 4}},
		{
			"an object on the fourth level", `[[[{}]]]`,
			Fault{Kind: TooDeep, Offset: 3, Location: "[0][0][0]", Limit: 3, Actual: 4},
		},
		{
			"six bytes of four in three characters", `["äöü"]`,
			Fault{Kind: StringTooLong, Offset: 1, Location: "[0]", Limit: 4, Actual: 6},
		},
		{
			"five bytes of four, escaped", `["\u0061bcde"]`,
			Fault{Kind: StringTooLong, Offset: 1, Location: "[0]", Limit: 4, Actual: 5},
		},
		{
			"five bytes of four in two escapes", `["\u00e9\u20ac"]`,
			Fault{Kind: StringTooLong, Offset: 1, Location: "[0]", Limit: 4, Actual: 5},
		},
		{"five bytes of four in a name", `{"b":[],"abcde":1}`, Fault{Kind: StringTooLong, Offset: 8, Limit: 4, Actual: 5}},
		{
			"four elements of three", `[1,2,3,4]`,
			Fault{Kind: TooManyElements, Offset: 7, Location: "[3]", Limit: 3, Actual: 4},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for reading, read := range map[string]func(*Reader){
				"Skip":     (*Reader).Skip,
				"Raw":      func(r *Reader) { r.Raw() },
				"Any":      func(r *Reader) { r.Any() },
				"MergeAny": func(r *Reader) { r.MergeAny(nil) },
				"mismatch": func(r *Reader) {
					if r.Kind() == "boolean" {
						r.String()
					} else {
						r.Bool()
					}
				},
			} {
				r := NewReader(tt.input, limits)
				read(r)
				r.End()
				got := r.Fault()
				if got == nil {
					t.Fatalf("%s: no fault", reading)
				}
				if got.Detail == "" || leak.MatchString(got.Detail) || leak.MatchString(got.Error()) {
					t.Errorf("%s: the fault has no detail fit for the wire: %q", reading, got.Error())
				}
				clone := *got
				clone.Detail = ""
				if diff := cmp.Diff(tt.want, clone); diff != "" {
					t.Errorf("%s: fault (-want +got):\n%s", reading, diff)
				}
			}
		})
	}
}

// REQ-DE-11: exactly the limit passes; scalars are no level.
func TestAtTheLimit(t *testing.T) {
	r := NewReader(
		`{"abcd":[["\u0061b\n\/"],2,3],"\u00e4\u00f6":1}`, Limits{MaxStringLength: 4, MaxArrayElements: 3, MaxDepth: 3},
	)
	r.Skip()
	r.End()
	if fault := r.Fault(); fault != nil {
		t.Error(fault)
	}
}

// REQ-DE-11: the depth of {"a":{"b":{"c":{}}}} is 4.
func TestDepthCountsObjectsAndArrays(t *testing.T) {
	for _, tt := range []struct {
		input string
		limit int
		ok    bool
	}{
		{`{"a":{"b":{"c":{}}}}`, 4, true},
		{`{"a":{"b":{"c":{}}}}`, 3, false},
		{`{"a":{"b":{"c":{}}}}`, 0, true},
		{`[[[]]]`, 3, true},
		{`[[[]]]`, 2, false},
		{`["a scalar"]`, 1, true},
		{`{"a":1}`, 1, true},
	} {
		r := NewReader(tt.input, Limits{MaxDepth: tt.limit})
		r.Skip()
		if ok := r.Fault() == nil; ok != tt.ok {
			t.Errorf("%s, limit %d: fault %v", tt.input, tt.limit, r.Fault())
		}
	}
}

// Without a limit, depth is bounded all the same, so that no input exhausts the stack.
func TestAbsoluteDepth(t *testing.T) {
	for depth, kind := range map[int]string{10_000: "", 10_001: "too deep"} {
		r := NewReader(strings.Repeat("[", depth)+strings.Repeat("]", depth), Limits{})
		r.Skip()
		r.End()
		if fault := r.Fault(); (fault != nil) != (kind != "") ||
			fault != nil && (fault.Kind != TooDeep || fault.Limit != 10_000) {
			t.Errorf("depth %d: %v", depth, fault)
		}
	}
}

// The first fault stays. After it, every method returns zero values, and loops end.
func TestNothingIsReadAfterAFault(t *testing.T) {
	r := NewReader(`{"a":tru,"b":"x"}`, Limits{})
	r.Object()
	r.Next()
	r.Bool()
	first := *r.Fault()
	var n int
	for r.Next() || r.NextElement() {
		if n++; n > 10 {
			t.Fatal("a loop does not end")
		}
	}
	s, ok1 := r.String()
	i, ok2 := r.Int(0)
	u, ok3 := r.Uint(8)
	f, ok4 := r.Float(32)
	b, ok5 := r.Bool()
	at, ok6 := r.Time()
	bytes, ok7 := r.Bytes()
	v, ok8 := r.Any()
	if s != "" || i != 0 || u != 0 || f != 0 || b || !at.IsZero() || bytes != nil || v != nil ||
		ok1 || ok2 || ok3 || ok4 || ok5 || ok6 || ok7 || ok8 ||
		r.Object() || r.Array() || r.Null() || r.Kind() != "" || r.Raw() != "" {
		t.Error("something was read after a fault")
	}
	r.Skip()
	r.Missing("z", "string")
	r.Unknown(nil)
	r.ReadOnly()
	r.AppendOnly()
	r.NullRefused("string")
	r.MinLength("", 1)
	r.MinItems(0, 1)
	r.Enum("", nil)
	Min(r, int64(0), 1)
	r.End()
	if diff := cmp.Diff(first, *r.Fault()); diff != "" || len(r.Problems()) > 0 || r.OK() {
		t.Errorf("the first fault did not stay (-want +got):\n%s\nproblems %v", diff, r.Problems())
	}
	r.Reset(`[1]`, Limits{})
	if r.Skip(); !r.OK() || r.valuePath() != "" {
		t.Errorf("Reset kept something: %v", r.Fault())
	}
}

// Invalid UTF-8 is found first: nothing before it is read.
func TestInvalidUTF8EndsReadingAtOnce(t *testing.T) {
	r := NewReader("{\"a\":1}\xff", Limits{})
	if r.Fault() == nil || r.Object() || r.Kind() != "" || r.Fault().Offset != 7 || len(r.Problems()) > 0 {
		t.Errorf("fault %v, problems %v", r.Fault(), r.Problems())
	}
}

// A hostile object cannot make the search for duplicate names quadratic, and duplicates are found after any number of
// names.
func TestRepeatedNamesAmongMany(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 34, 5000} {
		object := strings.TrimSuffix(manyMembers(n), "}")
		for i := range min(n, 40) {
			for _, earlier := range []int{i, n - 1 - i} {
				if earlier < 0 {
					continue
				}
				r := NewReader(object+fmt.Sprintf(`,"n%d":0}`, earlier), Limits{})
				if r.Skip(); r.Fault() == nil || r.Fault().Kind != DuplicateName {
					t.Errorf("name %d of %d given twice: fault %v", earlier, n, r.Fault())
				}
			}
		}
		r := NewReader(object+`,"m":0}`, Limits{})
		if r.Skip(); r.Fault() != nil {
			t.Errorf("%d names: %v", n, r.Fault())
		}
	}
	// Sets are reused; a name of one object must not be found in the next, nor in one that is open at the same time.
	object := manyMembers(40)
	nested := strings.Replace(object, `"x":1`, object[1:len(object)-1], 3)
	r := NewReader("["+nested+","+nested+"]", Limits{})
	if r.Skip(); r.Fault() != nil {
		t.Errorf("the same names in different objects: %v", r.Fault())
	}
}

// A reader that was reset keeps no text of an earlier request alive.
func TestResetForgetsTheInput(t *testing.T) {
	var r Reader
	for _, input := range []string{
		`{"a":1,"a":2}`, manyMembers(100), `{"x":"\u00e9"}`, manyMembers(20), `{"a":{"b":{"c":"\u00e9`,
	} {
		r.Reset(input, Limits{})
		r.String()
		r.Reset(input, Limits{})
		r.Skip()
	}
	r.Reset("", Limits{})
	for i, name := range r.names[:cap(r.names)] {
		if name != "" {
			t.Errorf("name %d is still %q", i, name)
		}
	}
	for i, set := range r.sets[:cap(r.sets)] {
		if set != nil {
			t.Errorf("set %d is still %+v", i, set)
		}
	}
	for i, p := range r.problems[:cap(r.problems)] {
		if p.Expected != "" {
			t.Errorf("problem %d is still %+v", i, p)
		}
	}
	if len(r.spare) > 0 || r.arena != nil || r.retained != "" || r.ownBytes != nil || r.data != "" || r.name != "" {
		t.Error("names or strings are still held")
	}
}

func manyMembers(n int) string {
	var object strings.Builder
	object.WriteByte('{')
	for i := range n {
		if i > 0 {
			object.WriteByte(',')
		}
		fmt.Fprintf(&object, `"n%d":{"x":1}`, i)
	}
	return object.String() + "}"
}
