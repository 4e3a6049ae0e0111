package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// REQ-DE-01, REQ-DE-02, REQ-DE-10, T-89: what is wrong with bytes, and where.
func TestFaults(t *testing.T) {
	limits := Limits{MaxStringLength: 4, MaxArrayElements: 3, MaxDepth: 3}
	for _, tt := range []struct {
		name, input string
		want        Fault
	}{
		{"cut off", `{"a":`, Fault{Kind: Malformed, Offset: 5, Location: "a"}},
		{"trailing comma", `{"a":1,}`, Fault{Kind: Malformed, Offset: 7}},
		{"no value", `{"a":}`, Fault{Kind: Malformed, Offset: 5, Location: "a"}},
		{"misspelt literal", `[nul]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"leading zero", `[01]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"plus sign", `[+1]`, Fault{Kind: Malformed, Offset: 1, Location: "[0]"}},
		{"dot without digits", `[1.]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"empty exponent", `[1e]`, Fault{Kind: Malformed, Offset: 3, Location: "[0]"}},
		{"control character", "[\"\x01\"]", Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"unknown escape", `["\x"]`, Fault{Kind: Malformed, Offset: 2, Location: "[0]"}},
		{"second value", `{} {}`, Fault{Kind: Malformed, Offset: 3}},
		{"broken UTF-8", "{\"a\":\"x\xffy\"}", Fault{Kind: InvalidUTF8, Offset: 7}},
		{"lone high surrogate", `["\ud83d"]`, Fault{Kind: InvalidUTF8, Offset: 2, Location: "[0]"}},
		{"lone low surrogate in a name", `{"\ude00":1}`, Fault{Kind: InvalidUTF8, Offset: 2}},
		{"NUL", `{"a":{"b":"\u0000"}}`, Fault{Kind: NUL, Offset: 11, Location: "a.b"}},
		{"duplicate name", `{"a":1,"b":{"c":1,"c":2}}`, Fault{Kind: DuplicateName, Offset: 18, Location: "b.c", Name: "c"}},
		{"duplicate name, spelt differently", `{"a":1,"\u0061":2}`, Fault{Kind: DuplicateName, Offset: 7, Location: "a", Name: "a"}},
		{"four levels of three", `{"a":[[[]]]}`, Fault{Kind: TooDeep, Offset: 7, Location: "a[0][0]", Limit: 3, Actual: 4}},
		{"five bytes of four", `["äöü"]`, Fault{Kind: StringTooLong, Offset: 1, Location: "[0]", Limit: 4, Actual: 6}},
		{"five bytes of four, escaped", `["\u0061bcde"]`, Fault{Kind: StringTooLong, Offset: 1, Location: "[0]", Limit: 4, Actual: 5}},
		{"four elements of three", `[1,2,3,4]`, Fault{Kind: TooManyElements, Offset: 7, Location: "[3]", Limit: 3, Actual: 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(tt.input, limits)
			r.Skip()
			r.End()
			got := r.Fault()
			if got == nil {
				t.Fatal("no fault")
			}
			if got.Detail == "" {
				t.Error("the fault has no detail")
			}
			clone := *got
			clone.Detail = ""
			if diff := cmp.Diff(tt.want, clone); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
		})
	}
}

// REQ-DE-11: exactly the limit passes.
func TestAtTheLimit(t *testing.T) {
	r := NewReader(`{"abcd":[["abcd"],2,3]}`, Limits{MaxStringLength: 4, MaxArrayElements: 3, MaxDepth: 3})
	r.Skip()
	r.End()
	if fault := r.Fault(); fault != nil {
		t.Error(fault)
	}
}

// REQ-VO-05: integers are exact, whatever their spelling; nothing is coerced.
func TestInt(t *testing.T) {
	for _, tt := range []struct {
		input   string
		bits    int
		want    int64
		problem string
	}{
		{"0", 0, 0, ""}, {"-0", 0, 0, ""}, {"9007199254740993", 0, 9007199254740993, ""},
		{"9223372036854775807", 64, 9223372036854775807, ""}, {"-9223372036854775808", 64, -9223372036854775808, ""},
		{"9223372036854775808", 64, 0, "maximum 9223372036854775807"}, {"-9223372036854775809", 64, 0, "minimum -9223372036854775808"},
		{"1.0", 0, 1, ""}, {"1e2", 0, 100, ""}, {"1200e-2", 0, 12, ""}, {"0.00e5", 0, 0, ""}, {"12.5e1", 0, 125, ""},
		{"1.5", 0, 0, "type integer number"}, {"1e-1", 0, 0, "type integer number"}, {"1e-999999999999999999999", 0, 0, "type integer number"},
		{"1e999999999999999999999", 0, 0, "maximum 9223372036854775807"}, {"-1e400", 0, 0, "minimum -9223372036854775808"},
		{"127", 8, 127, ""}, {"128", 8, 0, "maximum 127"}, {"-128", 8, -128, ""}, {"-129", 8, 0, "minimum -128"},
		{`"5"`, 0, 0, "type integer string"}, {"true", 0, 0, "type integer boolean"}, {"null", 0, 0, "type integer null"}, {"[1]", 0, 0, "type integer array"},
	} {
		r := NewReader(tt.input, Limits{})
		got, ok := r.Int(tt.bits)
		problem := ""
		if p := r.Problems(); len(p) == 1 {
			problem = strings.TrimSpace(fmt.Sprintf("%s %s", p[0].Rule, p[0].Limit))
			if p[0].Stage == StageType {
				problem = fmt.Sprintf("type %s %s", p[0].Expected, p[0].Actual)
			}
		}
		if got != tt.want || problem != tt.problem || ok != (tt.problem == "") {
			t.Errorf("Int(%d) of %s: %d, %v, %q; want %d, %q", tt.bits, tt.input, got, ok, problem, tt.want, tt.problem)
		}
		r.End()
		if r.Fault() != nil {
			t.Errorf("Int(%d) of %s left the reader at a fault: %v", tt.bits, tt.input, r.Fault())
		}
	}
}

func TestUint(t *testing.T) {
	for _, tt := range []struct {
		input string
		bits  int
		want  uint64
		ok    bool
	}{
		{"18446744073709551615", 64, 18446744073709551615, true}, {"18446744073709551616", 64, 0, false}, {"-1", 0, 0, false}, {"-0", 0, 0, true},
		{"255", 8, 255, true}, {"256", 8, 0, false}, {"1e19", 64, 10000000000000000000, true}, {"1.844674407370955161e19", 64, 18446744073709551610, true},
	} {
		r := NewReader(tt.input, Limits{})
		if got, ok := r.Uint(tt.bits); got != tt.want || ok != tt.ok {
			t.Errorf("Uint(%d) of %s: %d, %v; want %d, %v", tt.bits, tt.input, got, ok, tt.want, tt.ok)
		}
	}
}

// REQ-DE-05: a time has a date, a time and a zone.
func TestTime(t *testing.T) {
	for input, ok := range map[string]bool{
		`"2026-02-04T10:30:00Z"`: true, `"2026-02-04T10:30:00.123456789+05:30"`: true, `"2026-02-04"`: false, `"2026-02-04T10:30:00"`: false,
		`"2026-02-30T10:30:00Z"`: false, `"2026-02-04T10:30:00,5Z"`: false, `"now"`: false, `1770000000`: false, `"2026-02-04 10:30:00Z"`: false,
	} {
		r := NewReader(input, Limits{})
		if _, got := r.Time(); got != ok || got != r.OK() {
			t.Errorf("Time of %s: %v, want %v (%v)", input, got, ok, r.Problems())
		}
	}
}

// Problems name the value by its path, and reading goes on behind them.
func TestProblemPaths(t *testing.T) {
	r := NewReader(`{"a":{"b":[1,"x",{"c":[]}],"d":null},"e":7,"f":1}`, Limits{})
	r.SetPath("input")
	var got []string
	valid := []string{"a", "e"}
	if r.Object() {
		for r.Next() {
			switch r.Name() {
			case "a":
				if r.Object() {
					for r.Next() {
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
			default:
				r.Unknown(valid)
			}
		}
		r.Missing("y", "integer")
	}
	r.End()
	for _, p := range r.Problems() {
		got = append(got, fmt.Sprintf("%d %s %s %s", p.Stage, p.Path, p.Rule, p.Value))
	}
	want := []string{
		`1 input.a.b[1]  "x"`, `1 input.a.b[2]  `, `3 input.a.b max_items `, `1 input.a.d  `, `0 input.a.z  `, `1 input.e  7`, `2 input.f  `, `0 input.y  `,
	}
	if diff := cmp.Diff(want, got); diff != "" || r.Fault() != nil {
		t.Errorf("problems (-want +got):\n%s\nfault %v", diff, r.Fault())
	}
}

// A hostile object cannot make finding duplicates quadratic, and a duplicate is found behind any number of names.
func TestManyNames(t *testing.T) {
	var object strings.Builder
	object.WriteByte('{')
	for i := range 5000 {
		fmt.Fprintf(&object, `"n%d":{"x":1},`, i)
	}
	for _, last := range []string{"m", "n0", "n31", "n32", "n33", "n4999"} {
		r := NewReader(object.String()+`"`+last+`":0}`, Limits{})
		r.Skip()
		if duplicate := r.Fault() != nil; duplicate != (last != "m") {
			t.Errorf("last name %s: fault %v", last, r.Fault())
		}
	}
}

// REQ-DE-01…REQ-DE-06: an independent strict parser accepts and refuses the same inputs, and reads the same values. The
// one intended difference is U+0000, which we refuse.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.50,-3e+4,null,true,false,"x\u00e9\ud83d\ude00\n"],"b":{"":""}}`, ` [ ] `, `"\u0000"`, `{"a":1,"a":2}`, "\"\xc0\"", `"\ud800\u0041"`,
		`-0.0`, `1E400`, `[[[[[[]]]]]]`, "\ufeff{}", `{"a" :1 , "b":[ ]}`, `12345678901234567890`, `""`, `nul`, `{"a"}`, `[1 2]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		r := NewReader(input, Limits{})
		r.Skip()
		r.End()
		accepted := r.Fault() == nil
		if len(r.frames) != 0 && accepted {
			t.Fatalf("frames are left open after %q", input)
		}
		if r.Fault() != nil && r.Fault().Kind == NUL {
			return
		}
		if strict := strictlyValid(input); accepted != strict {
			t.Fatalf("%q: accepted %v, jsontext %v (%v)", input, accepted, strict, r.Fault())
		}
		if !accepted {
			return
		}
		r.Reset(input, Limits{})
		got, ok := r.Any()
		decoder := json.NewDecoder(strings.NewReader(input))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if ok {
			w := NewWriter(nil)
			w.Any(got)
			if again := Canonical(nil, string(w.Bytes())); w.Err() == nil && !closeTo(again, input) {
				t.Fatalf("%q is read as %s", input, w.Bytes())
			}
		}
		canonical := Canonical(nil, input)
		var back any
		decoder = json.NewDecoder(bytes.NewReader(canonical))
		decoder.UseNumber()
		if err := decoder.Decode(&back); err != nil {
			t.Fatalf("canonical form %s of %q: %v", canonical, input, err)
		}
		if again := Canonical(nil, string(canonical)); !bytes.Equal(again, canonical) {
			t.Fatalf("canonical form %s of %q becomes %s", canonical, input, again)
		}
	})
}

// closeTo compares canonical forms, and lets numbers pass that float64 rounds.
func closeTo(canonical []byte, input string) bool {
	want := Canonical(nil, input)
	if bytes.Equal(canonical, want) {
		return true
	}
	var a, b any
	return json.Unmarshal(canonical, &a) == nil && json.Unmarshal(want, &b) == nil && cmp.Equal(a, b)
}

func strictlyValid(input string) bool {
	decoder := jsontext.NewDecoder(strings.NewReader(input))
	if _, err := decoder.ReadValue(); err != nil {
		return false
	}
	_, err := decoder.ReadToken()
	return errors.Is(err, io.EOF)
}

// REQ-UP-07: RFC 7396, against the plain definition on maps.
func FuzzMergeAny(f *testing.F) {
	f.Add(`{"a":{"b":1,"c":2}}`, `{"a":{"b":null,"d":{"e":null,"f":1}},"x":[1]}`)
	f.Add(`[1]`, `{"a":null}`)
	f.Add(`{"a":1}`, `"x"`)
	f.Fuzz(func(t *testing.T, target, patch string) {
		if !strictlyValid(target) || !strictlyValid(patch) {
			return
		}
		r := NewReader(target, Limits{})
		dst, ok := r.Any()
		p := NewReader(patch, Limits{})
		value, ok2 := p.Any()
		if !ok || !ok2 {
			return
		}
		before := encode(t, dst)
		p.Reset(patch, Limits{})
		got := p.MergeAny(dst)
		if after := encode(t, dst); after != before {
			t.Fatalf("merging changed the target from %s to %s", before, after)
		}
		if diff := cmp.Diff(encode(t, merge(dst, value)), encode(t, got)); diff != "" {
			t.Fatalf("%s + %s (-want +got):\n%s", target, patch, diff)
		}
	})
}

func merge(target, patch any) any {
	object, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	result := map[string]any{}
	if old, ok := target.(map[string]any); ok {
		for k, v := range old {
			result[k] = v
		}
	}
	for k, v := range object {
		if v == nil {
			delete(result, k)
		} else {
			result[k] = merge(result[k], v)
		}
	}
	return result
}

func encode(t *testing.T, v any) string {
	t.Helper()
	w := NewWriter(nil)
	w.Any(v)
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	return string(w.Bytes())
}

func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ a, b string }{
		{`{"b":1,"a":[ "x" ]}`, `{"a":["x"],"b":1.0}`}, {`1`, `10e-1`}, {`100`, `1E2`}, {`-0`, `0.00e9`}, {`"\u0041\/"`, `"A/"`},
		{`12345678901234567890123`, `1234567890123456789012.3e1`},
	} {
		if a, b := Canonical(nil, tt.a), Canonical(nil, tt.b); !bytes.Equal(a, b) {
			t.Errorf("%s and %s differ: %s, %s", tt.a, tt.b, a, b)
		}
	}
	for _, tt := range []struct{ a, b string }{
		{`9007199254740993`, `9007199254740992`}, {`1`, `"1"`}, {`[1,2]`, `[2,1]`}, {`-1`, `1`}, {`null`, `{}`}, {`{"a":1}`, `{"a":{"a":1}}`},
	} {
		if a, b := Canonical(nil, tt.a), Canonical(nil, tt.b); bytes.Equal(a, b) {
			t.Errorf("%s and %s are the same: %s", tt.a, tt.b, a)
		}
	}
	if got := string(Canonical(nil, "1e999999999999")); len(got) > 20 {
		t.Errorf("a huge number becomes %d bytes", len(got))
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
