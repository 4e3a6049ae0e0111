package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// Span takes for a value what is JSON, as encoding/json does, and nothing else. What others check, it leaves alone.
func TestSpan(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"a name twice", `{"a":1,"a":2}`},
		{"more names than an object without a set has", `{` + strings.Repeat(`"a":1,`, 50) + `"a":1}`},
		{"bytes that are not UTF-8", "{\"\xff\":[\"\xff\"]}"},
		{"U+0000", `["\u0000"]`},
		{"half a surrogate pair", `["\ud800"]`},
		{"blanks", " [ 1 , { \"a\" : null } ]\r\n"},
		{"an exponent", `-1.5e+300`},
		{"a long string", `"` + strings.Repeat("x", 200_000) + `"`},
		{"nothing", ``},
		{"a comma too many", `[1,]`},
		{"a colon too few", `{"a" 1}`},
		{"a control character", "[\"\x01\"]"},
		{"an unknown escape", `["\x"]`},
		{"a leading zero", `01`},
		{"two values", `1 2`},
		{"cut off", `{"a":[`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := new(Reader)
			r.ResetTolerant([]byte(tt.text), Limits{MaxDepth: 10})
			span := r.Span()
			r.End()
			if ok := r.Fault() == nil; ok != json.Valid([]byte(tt.text)) {
				t.Fatalf("accepted: %v, %v", ok, r.Fault())
			} else if want := strings.TrimSpace(tt.text); ok && span != want {
				t.Errorf("%q, want %q", span, want)
			}
		})
	}
}

func TestSpanIsBounded(t *testing.T) {
	r := new(Reader)
	r.ResetTolerant([]byte(`[[{"a":[]}]]`), Limits{MaxDepth: 3})
	if span := r.Span(); span != "" || r.Fault() == nil || r.Fault().Kind != TooDeep {
		t.Errorf("%q, %v", span, r.Fault())
	}
}
