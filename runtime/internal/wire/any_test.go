package wire

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A11, REQ-DE-06, REQ-DE-07: a number that a float64 would round stays as it was sent.
func TestAny(t *testing.T) {
	for _, tt := range []struct {
		input string
		want  any
	}{
		{`null`, nil}, {`true`, true}, {`false`, false}, {`"\u00e9"`, "é"}, {`[]`, []any{}}, {`{}`, map[string]any{}},
		{`{"a":[1,{"b":null}]}`, map[string]any{"a": []any{1.0, map[string]any{"b": nil}}}},
		{`0`, 0.0}, {`1.5`, 1.5}, {`1e2`, 100.0}, {`1e300`, 1e300}, {`0.1`, 0.1}, {`-12.50`, -12.5},
		{`1e-400`, json.Number("1e-400")}, {`0.1000000000000000055`, json.Number("0.1000000000000000055")},
		{`1.0000000000000001e0`, json.Number("1.0000000000000001e0")},
		{`9007199254740991`, 9007199254740991.0}, {`-9007199254740991`, -9007199254740991.0},
		{`9007199254740992`, 9007199254740992.0}, {`-9007199254740993`, json.Number("-9007199254740993")},
		{`123456789012345678`, json.Number("123456789012345678")},
		{`18446744073709551616`, json.Number("18446744073709551616")},
		{"1" + strings.Repeat("0", 300), 1e300},
	} {
		r := NewReader(tt.input, Limits{})
		got, ok := r.Any()
		r.End()
		if diff := cmp.Diff(tt.want, got); diff != "" || !ok || !r.OK() {
			t.Errorf("Any of %s: %v, %q (-want +got):\n%s", tt.input, ok, outcome(r), diff)
		}
	}
	if v, _ := NewReader(`-0`, Limits{}).Any(); !math.Signbit(v.(float64)) {
		t.Error("-0 loses its sign")
	}
	r := NewReader(`{"a":[1e400,-1e400,1],"b":0}`, Limits{})
	if v, ok := r.Any(); v != nil || ok || len(r.Problems()) != 2 || r.Problems()[1].Path != "a[1]" ||
		r.Problems()[1].Rule != "minimum" {
		t.Errorf("a number beyond float64: %v, %v, %v", v, ok, r.Problems())
	}
}

// REQ-UP-07, REQ-UP-08, REQ-UP-09: objects merge at every depth, null removes, everything else replaces.
func TestMergeAny(t *testing.T) {
	for _, tt := range []struct{ dst, patch, want string }{
		{ // the protocol's golden example
			`{"title":"Old Title","metadata":{"priority":"low","tags":["draft"],"author":"alice"}}`,
			`{"title":"New Title","metadata":{"priority":"high","tags":["published","reviewed"]}}`,
			`{"metadata":{"author":"alice","priority":"high","tags":["published","reviewed"]},"title":"New Title"}`,
		},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":null}}`, `{"a":{"c":2}}`},
		{`{"a":1}`, `{"b":null}`, `{"a":1}`},
		{`{}`, `{"a":{"b":{"c":null,"d":1}}}`, `{"a":{"b":{"d":1}}}`},
		{`{"a":"x"}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1}}`, `{"a":[null,{"x":null}]}`, `{"a":[null,{"x":null}]}`},
		{`[1,2]`, `{"a":null}`, `{}`}, {`{"a":1}`, `null`, `null`}, {`{"a":1}`, `7`, `7`}, {`null`, `{}`, `{}`},
	} {
		dst, _ := NewReader(tt.dst, Limits{}).Any()
		r := NewReader(tt.patch, Limits{})
		got := encode(t, r.MergeAny(dst))
		r.End()
		if got != tt.want || !r.OK() {
			t.Errorf("%s + %s: %s, want %s", tt.dst, tt.patch, got, tt.want)
		}
		if after := encode(t, dst); string(Canonical(nil, after)) != string(Canonical(nil, tt.dst)) {
			t.Errorf("%s + %s changed the target to %s", tt.dst, tt.patch, after)
		}
	}
}

// REQ-UP-07: RFC 7396, against the plain definition on maps.
func FuzzMergeAny(f *testing.F) {
	f.Add(`{"a":{"b":1,"c":2}}`, `{"a":{"b":null,"d":{"e":null,"f":1}},"x":[1]}`)
	f.Add(`[1]`, `{"a":null}`)
	f.Add(`{"a":1}`, `"x"`)
	f.Fuzz(func(t *testing.T, target, patch string) {
		dst, ok1 := NewReader(target, Limits{MaxDepth: 500}).Any()
		p := NewReader(patch, Limits{MaxDepth: 500})
		value, ok2 := p.Any()
		if p.End(); !ok1 || !ok2 || !p.OK() {
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
