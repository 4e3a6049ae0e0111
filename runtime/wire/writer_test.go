package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

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

// REQ-RS-09: the same bytes as encoding/json without its escaping of HTML.
func FuzzWriterString(f *testing.F) {
	for _, seed := range []string{"", "plain", "<a>&\"\\\b\f\n\r\t\x00\x1f\x7f", "é\u2028\u2029😀", "\xff\xc0x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w := NewWriter(nil)
		w.String(s)
		if want := encodeJSON(t, s); string(w.Bytes()) != want {
			t.Errorf("%q: %s, want %s", s, w.Bytes(), want)
		}
	})
}

func FuzzWriterFloat(f *testing.F) {
	for _, seed := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-7, 1e21, 123456789.125, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		w := NewWriter(nil)
		w.Float(v, 64)
		if want := encodeJSON(t, v); string(w.Bytes()) != want {
			t.Errorf("%v: %s, want %s", v, w.Bytes(), want)
		}
		if narrow := float32(v); !math.IsInf(float64(narrow), 0) {
			w.Reset(nil)
			w.Float(float64(narrow), 32)
			if want := encodeJSON(t, narrow); string(w.Bytes()) != want {
				t.Errorf("float32 %v: %s, want %s", narrow, w.Bytes(), want)
			}
		}
	})
}

// REQ-DE-04: times are in UTC with Z.
func TestWriterTime(t *testing.T) {
	w := NewWriter(nil)
	w.Time(time.Date(2026, 3, 1, 10, 0, 0, 5000, time.FixedZone("", 3600)))
	if got := string(w.Bytes()); got != `"2026-03-01T09:00:00.000005Z"` || w.Err() != nil {
		t.Errorf("got %s, %v", got, w.Err())
	}
}

// What JSON cannot carry is an error, never invalid output.
func TestWriterErrors(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	for name, write := range map[string]func(*Writer){
		"NaN":              func(w *Writer) { w.Float(math.NaN(), 64) },
		"infinity":         func(w *Writer) { w.Float(math.Inf(-1), 32) },
		"year 10000":       func(w *Writer) { w.Time(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) },
		"a cycle":          func(w *Writer) { w.Any(cycle) },
		"a channel":        func(w *Writer) { w.Any(make(chan int)) },
		"a broken Number":  func(w *Writer) { w.Any(json.Number("1x")) },
		"an injected one":  func(w *Writer) { w.Any(json.Number(`1,"admin":true`)) },
		"an empty Number":  func(w *Writer) { w.Any(json.Number("")) },
		"a spaced Number":  func(w *Writer) { w.Any(json.Number(" 1")) },
		"a function value": func(w *Writer) { w.Any(map[string]any{"f": func() {}}) },
	} {
		w := NewWriter(nil)
		write(w)
		if w.Err() == nil {
			t.Errorf("%s: no error, wrote %.40s", name, w.Bytes())
		}
	}
}

func TestWriterCommas(t *testing.T) {
	w := NewWriter(nil)
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
	if got, want := string(w.Bytes()), `{"a":[0,1,2],"b":{},"{\"[":"[{","c":["[",[]]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
