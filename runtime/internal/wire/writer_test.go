package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// encodeJSON is what encoding/json writes without its escaping of HTML.
func encodeJSON(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// written returns what write appends to a text.
func written(t *testing.T, write func(*Writer)) string {
	t.Helper()
	const before = "before "
	w := NewWriter([]byte(before))
	write(w)
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	if w.Len() != len(w.Bytes()) {
		t.Errorf("Len is %d of %d bytes", w.Len(), len(w.Bytes()))
	}
	text, found := strings.CutPrefix(string(w.Bytes()), before)
	if !found {
		t.Errorf("the text before is gone: %s", w.Bytes())
	}
	return text
}

// REQ-DE-01, REQ-RS-09: strings are the same bytes as encoding/json's without its escaping of HTML, as values and as
// names, and come back as they were.
func FuzzWriterString(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "<a>&\"\\\b\f\n\r\t\x00\x1f\x7f", "é\u2028\u2029😀", "\xff\xc0x", "0123456789abcdef\xe2\x80\xa8",
		"a\ufffdb", "\xe2\x80",
		strings.Repeat("x", 30) + "\"" + strings.Repeat("é", 20) + "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := encodeJSON(t, s)
		if got := written(t, func(w *Writer) { w.String(s) }); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
		member := written(t, func(w *Writer) {
			w.BeginObject()
			w.KeyEscaped(s)
			w.Null()
			w.EndObject()
		})
		if wantMember := encodeJSON(t, map[string]any{s: nil}); member != wantMember {
			t.Errorf("name %q: %s, want %s", s, member, wantMember)
		}
		if strings.Contains(s, "\x00") {
			return // which the reader refuses
		}
		back, ok := NewReader(want, Limits{}).String()
		if !ok || back != strings.Map(func(char rune) rune { return char }, s) {
			t.Errorf("%q comes back as %q", s, back)
		}
	})
}

func FuzzWriterFloat(f *testing.F) {
	for _, seed := range []float64{
		0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e-7, 1e20, 1e21, -1e21, 123456789.125, math.MaxFloat64,
		math.SmallestNonzeroFloat64, 0.1, 1e-9, 1e-10,
		math.MaxFloat32, math.SmallestNonzeroFloat32, 16777217,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		want := encodeJSON(t, v)
		for _, bits := range []int{0, 64} {
			if got := written(t, func(w *Writer) { w.Float(v, bits) }); got != want {
				t.Errorf("%v: %s, want %s", v, got, want)
			}
		}
		if back, ok := NewReader(want, Limits{}).Float(64); !ok || back != v {
			t.Errorf("%v comes back as %v", v, back)
		}
		if narrow := float32(v); !math.IsInf(float64(narrow), 0) {
			want := encodeJSON(t, narrow)
			if got := written(t, func(w *Writer) { w.Float(float64(narrow), 32) }); got != want {
				t.Errorf("float32 %v: %s, want %s", narrow, got, want)
			}
		}
	})
}

// Values of dynamic type are the same bytes as encoding/json's.
func FuzzWriterAny(f *testing.F) {
	f.Add(document)
	f.Add(`{"b":[1,"<\u2028>",null,true,{"":{}}],"a":12345678901234567890,"c":-0.0,"d":[]}`)
	f.Fuzz(func(t *testing.T, input string) {
		r := NewReader(input, Limits{MaxDepth: 500})
		v, ok := r.Any()
		if r.End(); !ok || !r.OK() {
			return
		}
		got, want := written(t, func(w *Writer) { w.Any(v) }), encodeJSON(t, v)
		if got != want {
			t.Fatalf("%s (-want +got):\n%s", input, cmp.Diff(want, got))
		}
	})
}

// text is a type with a method of its own for JSON.
type text struct{ s string }

func (x text) MarshalJSON() ([]byte, error) { return json.Marshal("<" + x.s + ">") }

func TestWriterAnyOfOtherTypes(t *testing.T) {
	type pair struct {
		A int    `json:"a"`
		B string `json:"b,omitempty"`
	}
	for _, v := range []any{
		1, int8(-8), int64(math.MinInt64), uint(7), uint64(math.MaxUint64), float32(0.1), []string{"<a>", ""},
		[]map[string]any{{"b": 1, "a": nil}, nil},
		map[string]string{"<": ">"}, map[int]bool{2: true, 1: false}, pair{1, "&"}, &pair{}, []pair{{}}, []byte("hi"),
		json.RawMessage(`{"a": [1]}`),
		text{"x"}, map[string]any{"t": text{"y"}, "n": (*int)(nil)}, big.NewInt(12345), json.Number("1e5"),
		json.Number("-0.10"), map[string]any(nil),
		[2]any{1, "x"}, time.Date(2026, 3, 1, 9, 0, 0, 5, time.UTC), time.Minute,
	} {
		if got, want := written(t, func(w *Writer) { w.Any(v) }), encodeJSON(t, v); got != want {
			t.Errorf("%T: %s, want %s", v, got, want)
		}
	}
	// Slices are the exception: an agent that asked for a list gets a list (T-89).
	got := written(t, func(w *Writer) { w.Any(map[string]any{"a": []any(nil), "b": []string(nil)}) })
	if got != `{"a":[],"b":[]}` {
		t.Errorf("nil slices: %s", got)
	}
}

// REQ-DE-03, REQ-DE-04: times are in UTC with Z.
func TestWriterTime(t *testing.T) {
	zone := time.FixedZone("", 3600)
	for want, at := range map[string]time.Time{
		`"2026-03-01T09:00:00.000005Z"`:    time.Date(2026, 3, 1, 10, 0, 0, 5000, zone),
		`"2026-03-01T09:00:00Z"`:           time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		`"2026-02-28T23:30:00.123456789Z"`: time.Date(2026, 3, 1, 0, 30, 0, 123456789, zone),
		`"0001-01-01T00:00:00Z"`:           {},
		`"0000-01-01T00:00:00Z"`:           time.Date(0, 1, 1, 1, 0, 0, 0, zone),
		`"9999-12-31T23:59:59Z"`:           time.Date(10000, 1, 1, 0, 59, 59, 0, zone),
	} {
		if got := written(t, func(w *Writer) { w.Time(at) }); got != want {
			t.Errorf("%v: %s, want %s", at, got, want)
		}
	}
}

// REQ-DE-08: standard base64 with padding. A2: nil is not null.
func TestWriterBase64(t *testing.T) {
	for _, tt := range []struct {
		data []byte
		want string
	}{{nil, `""`}, {[]byte{}, `""`}, {[]byte("hi"), `"aGk="`}, {[]byte{0xfb, 0xff}, `"+/8="`}} {
		if got := written(t, func(w *Writer) { w.Base64(tt.data) }); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.data, got, tt.want)
		}
	}
}

func TestWriterScalars(t *testing.T) {
	got := written(t, func(w *Writer) {
		w.BeginArray()
		for _, write := range []func(){
			func() { w.Int(math.MinInt64) }, func() { w.Int(0) }, func() { w.Uint(math.MaxUint64) }, func() { w.Bool(true) },
			func() { w.Bool(false) },
			w.Null, func() { w.Raw(`{"raw":1}`) },
		} {
			w.Element()
			write()
		}
		w.EndArray()
	})
	if want := `[-9223372036854775808,0,18446744073709551615,true,false,null,{"raw":1}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What JSON cannot carry is an error, never invalid output.
func TestWriterErrors(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	list := []any{nil}
	list[0] = list
	for name, write := range map[string]func(*Writer){
		"NaN":                 func(w *Writer) { w.Float(math.NaN(), 64) },
		"infinity":            func(w *Writer) { w.Float(math.Inf(-1), 32) },
		"NaN inside":          func(w *Writer) { w.Any([]any{math.NaN()}) },
		"year 10000":          func(w *Writer) { w.Time(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) },
		"year -1 in UTC":      func(w *Writer) { w.Time(time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))) },
		"a map in itself":     func(w *Writer) { w.Any(cycle) },
		"a list in itself":    func(w *Writer) { w.Any(list) },
		"a channel":           func(w *Writer) { w.Any(make(chan int)) },
		"a broken RawMessage": func(w *Writer) { w.Any(json.RawMessage(`{`)) },
		"a broken Number":     func(w *Writer) { w.Any(json.Number("1x")) },
		"an injected Number":  func(w *Writer) { w.Any(json.Number(`1,"admin":true`)) },
		"an empty Number":     func(w *Writer) { w.Any(json.Number("")) },
		"a spaced Number":     func(w *Writer) { w.Any(json.Number(" 1")) },
		"NaN as a Number":     func(w *Writer) { w.Any(json.Number("NaN")) },
		"a function value":    func(w *Writer) { w.Any(map[string]any{"f": func() {}}) },
	} {
		w := NewWriter(nil)
		write(w)
		first := w.Err()
		if first == nil {
			t.Errorf("%s: no error, wrote %.40s", name, w.Bytes())
			continue
		}
		if !json.Valid(w.Bytes()) {
			t.Errorf("%s: %.60s… is not valid", name, w.Bytes())
		}
		if w.Fail(errors.New("a later one")); !errors.Is(w.Err(), first) {
			t.Errorf("%s: the first error did not stay", name)
		}
		if w.Reset(nil); w.Err() != nil || w.Len() > 0 {
			t.Errorf("%s: Reset keeps the error", name)
		}
	}
}

// Exactly 1,000 levels can be written, by every method.
func TestWriterDepth(t *testing.T) {
	for depth, ok := range map[int]bool{1000: true, 1001: false} {
		var v any
		w, deep := NewWriter(nil), false
		for range depth {
			v = []any{v}
			deep = deep || w.TooDeep()
			w.BeginArray()
		}
		for range depth {
			w.EndArray()
		}
		if (w.Err() == nil) != ok || deep == ok {
			t.Errorf("%d levels: %v, Deep %v", depth, w.Err(), deep)
		}
		w.Reset(nil)
		if w.Any(v); (w.Err() == nil) != ok {
			t.Errorf("%d levels of Any: %v", depth, w.Err())
		}
		w.Reset(nil)
		for range depth {
			w.BeginObject()
			w.Key("a")
		}
		if (w.Err() == nil) != ok {
			t.Errorf("%d objects: %v", depth, w.Err())
		}
	}
	w := NewWriter(nil)
	for range 2000 {
		w.BeginObject()
		w.EndObject()
	}
	if w.Err() != nil {
		t.Errorf("objects that are closed count: %v", w.Err())
	}
}

func TestWriterCommas(t *testing.T) {
	got := written(t, func(w *Writer) {
		w.BeginObject()
		w.Key("a")
		w.BeginArray()
		for i := range 3 {
			w.Element()
			w.Int(int64(i))
		}
		w.EndArray()
		w.Key("b")
		w.BeginObject()
		w.EndObject()
		w.KeyEscaped("{\"[")
		w.String("[{")
		w.Key("c")
		w.BeginArray()
		w.Element()
		w.String("[")
		w.Element()
		w.BeginArray()
		w.EndArray()
		w.EndArray()
		w.EndObject()
	})
	if want := `{"a":[0,1,2],"b":{},"{\"[":"[{","c":["[",[]]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSortedKeys(t *testing.T) {
	type name string
	keys := sortedKeys(map[name]int{"é": 1, "ab": 2, "": 3, "B": 4, "a": 5})
	if diff := cmp.Diff([]name{"", "B", "a", "ab", "é"}, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if got := sortedKeys(map[string]int(nil)); len(got) > 0 {
		t.Errorf("keys of a nil map: %v", got)
	}
}

// REQ-DE-15: a response that is too large ends while it is written, not when it is complete.
func TestLimitStopsTheOutput(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name  string
		write func(w *Writer)
	}{
		{"elements of an array", func(w *Writer) {
			w.BeginArray()
			for range 1_000_000 {
				if w.Element(); w.Err() != nil {
					break
				}
				w.String(long)
			}
			w.EndArray()
		}},
		{"members of an object", func(w *Writer) {
			w.BeginObject()
			for range 1_000_000 {
				w.Key("name")
				w.String(long)
			}
			w.EndObject()
		}},
		{"a dynamic list", func(w *Writer) { w.Any(slices.Repeat([]any{long}, 100_000)) }},
		{"a dynamic object", func(w *Writer) {
			members := map[string]any{}
			for i := range 1000 {
				members[strconv.Itoa(i)] = long
			}
			w.Any(members)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWriter(nil)
			w.SetLimit(10_000)
			tt.write(w)
			if !w.ExceedsLimit() || !errors.Is(w.Err(), errTooLong) || cap(w.Bytes()) > 20_000 {
				t.Errorf("wrote %d bytes into %d, error %v", w.Len(), cap(w.Bytes()), w.Err())
			}
		})
	}
}

// Exactly the limit is allowed.
func TestLimitAllowsItself(t *testing.T) {
	w := NewWriter(nil)
	w.SetLimit(len(`[1,23]`))
	w.Any([]any{1, 23})
	if w.ExceedsLimit() || w.Err() != nil || string(w.Bytes()) != `[1,23]` {
		t.Errorf("%s, %v", w.Bytes(), w.Err())
	}
}

// A time is spelled as the library spells it.
func TestTimesAreSpelledAsRFC3339(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 100_000 {
		at := time.Unix(
			random.Int64N(253402300800+62167219200)-62167219200,
			[]int64{0, 5e8, random.Int64N(1e9), 1, 1e3 * random.Int64N(1e6)}[random.IntN(5)],
		).UTC()
		if got, want := string(appendTime(nil, at)), at.Format(`"`+time.RFC3339Nano+`"`); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

// A map is written in the order of its names, for any number and length of names.
func TestStringMapsAreSorted(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for n := range 40 {
		m := make(map[string]string)
		for range n {
			m[strings.Repeat("ab", random.IntN(6))+string(rune('a'+random.IntN(26)))+strings.Repeat("é", random.IntN(3))] = "v"
		}
		w := NewWriter(nil)
		if w.StringMap(m); string(w.Bytes()) != encodeJSON(t, m) {
			t.Errorf("%s, want %s", w.Bytes(), encodeJSON(t, m))
		}
	}
}
