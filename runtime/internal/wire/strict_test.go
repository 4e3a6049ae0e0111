package wire

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// All differences to a strict parser of RFC 8259 and RFC 7493: what it accepts and this reader refuses. FuzzReader
// searches for others.
func TestDifferencesFromAStrictParser(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		limits      Limits
		want        FaultKind
	}{
		{"U+0000 in a string (REQ-DE-02)", `"a\u0000"`, Limits{}, NUL},
		{"U+0000 in a name (REQ-DE-02)", `{"a\u0000":1}`, Limits{}, NUL},
		{"a string beyond the limit (REQ-DE-10)", `"abc"`, Limits{MaxStringLength: 2}, StringTooLong},
		{"a name beyond the limit (REQ-DE-10)", `{"abc":1}`, Limits{MaxStringLength: 2}, StringTooLong},
		{"an array beyond the limit (REQ-DE-10)", `[1,2]`, Limits{MaxArrayElements: 1}, TooManyElements},
		{"nesting beyond the limit (REQ-DE-10)", `[[]]`, Limits{MaxDepth: 1}, TooDeep},
	} {
		if !strictlyValid(tt.input) {
			t.Errorf("%s: a strict parser refuses it too", tt.name)
		}
		r := NewReader(tt.input, tt.limits)
		if r.Skip(); r.Fault() == nil || r.Fault().Kind != tt.want {
			t.Errorf("%s: %v", tt.name, r.Fault())
		}
	}
}

func strictlyValid(input string) bool {
	decoder := jsontext.NewDecoder(strings.NewReader(input))
	if _, err := decoder.ReadValue(); err != nil {
		return false
	}
	_, err := decoder.ReadToken()
	return errors.Is(err, io.EOF)
}

// REQ-DE-01, REQ-DE-02, REQ-DE-06, T-89: an independent strict parser accepts and refuses the same inputs, and
// another reads the same values from them. All ways to read an input agree.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.50,-3e+4,null,true,false,"x\u00e9\ud83d\ude00\n"],"b":{"":""}}`, ` [ ] `, `"\u0000"`, `{"a":1,"a":2}`,
		"\"\xc0\"", `"\ud800\u0041"`,
		`-0.0`, `1E400`, `[[[[[[]]]]]]`, "\ufeff{}", `{"a" :1 , "b":[ ]}`, `12345678901234567890`, `""`, `nul`, `{"a"}`,
		`[1 2]`, document,
		`{"a\u0062":1,"ab":2}`, `"0123456789abcdef01234567\n"`, manyMembers(40), `[01,-,.5]`, "[\"\x00\",\"\x1f\"]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		r := NewReader(input, Limits{})
		r.Skip()
		r.End()
		fault := r.Fault()
		if fault != nil && (fault.Offset < 0 || fault.Offset > len(input) || leak.MatchString(fault.Detail)) {
			t.Fatalf("%q: %+v", input, fault)
		}
		if fault == nil && (len(r.frames) != 0 || r.valuePath() != "" || r.Offset() != len(input)) {
			t.Fatalf("%q: the reader is not at the end of the value", input)
		}
		if strict := strictlyValid(input); (fault == nil) != strict && (fault == nil || fault.Kind != NUL) {
			t.Fatalf("%q: fault %v, jsontext accepts %v", input, fault, strict)
		}
		r.Reset(input, Limits{})
		walk(r)
		r.End()
		if diff := cmp.Diff(fault, r.Fault()); diff != "" || len(r.Problems()) > 0 {
			t.Fatalf("%q: skipped or read (-skipped +read):\n%s\n%v", input, diff, r.Problems())
		}
		r.Reset(input, Limits{})
		got, ok := r.Any()
		r.End()
		if diff := cmp.Diff(fault, r.Fault()); diff != "" {
			t.Fatalf("%q: skipped or read by Any (-skipped +read):\n%s", input, diff)
		}
		if fault != nil {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(input))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if ok && !same(want, got) {
			t.Fatalf("%q (-want +got):\n%s", input, cmp.Diff(want, got))
		}
	})
}

// walk reads a value by the methods for its kind.
func walk(r *Reader) {
	switch r.Kind() {
	case "object":
		if r.Object() {
			for r.Next() {
				walk(r)
			}
		}
	case "array":
		if r.Array() {
			for r.NextElement() {
				walk(r)
			}
		}
	case "string":
		r.String()
	case "boolean":
		r.Bool()
	case "null":
		r.Null()
	default:
		r.Raw()
	}
}

// same compares what encoding/json reads with UseNumber to what Any reads.
func same(want, got any) bool {
	switch want := want.(type) {
	case json.Number:
		v, err := want.Float64()
		if err != nil {
			return false
		}
		exact, ok := rational(string(want))
		if !ok {
			return got == v || got == want // too large to compute with
		}
		if next, _ := rational(strconv.FormatFloat(v, 'g', -1, 64)); next.Cmp(exact) != 0 {
			return got == want
		}
		return got == v
	case []any:
		elements, ok := got.([]any)
		if !ok || len(elements) != len(want) {
			return false
		}
		for i := range want {
			if !same(want[i], elements[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok || len(members) != len(want) {
			return false
		}
		for name := range maps.Keys(want) {
			if v, ok := members[name]; !ok || !same(want[name], v) {
				return false
			}
		}
		return true
	default:
		return want == got
	}
}

// REQ-DE-10, REQ-DE-11: an input is refused for its size exactly when a count of its parts exceeds a limit, and the
// fault has that count.
func FuzzLimits(f *testing.F) {
	f.Add(`{"a":[1,2,{"bcd":"\u00e9\n"}]}`, uint8(3), uint8(2), uint8(2))
	f.Add(`[[[]],"abc",[1,2,3]]`, uint8(2), uint8(3), uint8(3))
	f.Fuzz(func(t *testing.T, input string, text, elements, depth uint8) {
		r := NewReader(input, Limits{})
		r.Skip()
		if r.End(); r.Fault() != nil {
			return
		}
		var v any
		if err := json.Unmarshal([]byte(input), &v); err != nil {
			return // a number that float64 does not hold
		}
		most := count(v, 1)
		limits := Limits{int(text), int(elements), int(depth)}
		r.Reset(input, limits)
		r.Skip()
		r.End()
		exceeds := limits.MaxStringLength > 0 && most.MaxStringLength > limits.MaxStringLength ||
			limits.MaxArrayElements > 0 && most.MaxArrayElements > limits.MaxArrayElements ||
			limits.MaxDepth > 0 && most.MaxDepth > limits.MaxDepth
		fault := r.Fault()
		if (fault != nil) != exceeds {
			t.Fatalf("%q holds %+v, limits %+v: fault %v", input, most, limits, fault)
		}
		if fault == nil {
			return
		}
		limit, actual := limits.MaxDepth, most.MaxDepth
		switch fault.Kind {
		case StringTooLong:
			limit, actual = limits.MaxStringLength, most.MaxStringLength
		case TooManyElements:
			limit, actual = limits.MaxArrayElements, most.MaxArrayElements
		}
		if fault.Limit != limit || fault.Actual <= limit || fault.Actual > actual {
			t.Fatalf("%q holds %+v, limits %+v: %+v", input, most, limits, fault)
		}
	})
}

// count measures the longest string, the longest array and the depth of a value.
func count(v any, level int) (most Limits) {
	grow := func(m Limits) {
		most.MaxStringLength = max(most.MaxStringLength, m.MaxStringLength)
		most.MaxArrayElements = max(most.MaxArrayElements, m.MaxArrayElements)
		most.MaxDepth = max(most.MaxDepth, m.MaxDepth)
	}
	switch v := v.(type) {
	case string:
		grow(Limits{MaxStringLength: len(v)})
	case []any:
		grow(Limits{MaxArrayElements: len(v), MaxDepth: level})
		for _, element := range v {
			grow(count(element, level+1))
		}
	case map[string]any:
		grow(Limits{MaxDepth: level})
		for name, value := range v {
			grow(Limits{MaxStringLength: len(name)})
			grow(count(value, level+1))
		}
	}
	return most
}
