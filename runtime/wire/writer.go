package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxWriterDepth ends the writing of values that contain themselves.
const maxWriterDepth = 1000

// Writer appends JSON to a buffer. Names and elements place their own commas. Its first error stays; what is written
// after it is not to be used.
type Writer struct {
	buf   []byte
	depth int
	err   error
}

// NewWriter returns a Writer that appends to buf.
func NewWriter(buf []byte) *Writer { return &Writer{buf: buf} }

// Reset makes w append to buf.
func (w *Writer) Reset(buf []byte) { *w = Writer{buf: buf} }

// Bytes returns what was written.
func (w *Writer) Bytes() []byte { return w.buf }

// Len returns how many bytes were written.
func (w *Writer) Len() int { return len(w.buf) }

// Err returns the first error: a number that JSON cannot spell, a time outside the years 0 to 9999, a value nested
// deeper than 1,000 levels, or a value that Any cannot write.
func (w *Writer) Err() error { return w.err }

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// BeginObject begins an object.
func (w *Writer) BeginObject() { w.begin('{') }

// EndObject ends an object.
func (w *Writer) EndObject() { w.end('}') }

// BeginArray begins an array.
func (w *Writer) BeginArray() { w.begin('[') }

// EndArray ends an array.
func (w *Writer) EndArray() { w.end(']') }

func (w *Writer) begin(c byte) {
	w.buf = append(w.buf, c)
	w.depth++
}

func (w *Writer) end(c byte) {
	w.buf = append(w.buf, c)
	w.depth--
}

// Deep reports whether the value is nested too deeply to go on, which is then the writer's error. Encoders of recursive
// types ask it before they descend.
func (w *Writer) Deep() bool {
	if w.depth < maxWriterDepth {
		return false
	}
	w.fail(errors.New("wire: the value is nested deeper than 1000 levels"))
	return true
}

// Key writes the name of a member. name needs no escaping.
func (w *Writer) Key(name string) {
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

// KeyEscaped writes the name of a member that may hold any character.
func (w *Writer) KeyEscaped(name string) {
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = appendString(w.buf, name)
	w.buf = append(w.buf, ':')
}

// Element announces an element of an array.
func (w *Writer) Element() {
	if w.buf[len(w.buf)-1] != '[' {
		w.buf = append(w.buf, ',')
	}
}

// String writes a string. HTML is not escaped; invalid UTF-8 becomes U+FFFD.
func (w *Writer) String(s string) { w.buf = appendString(w.buf, s) }

// Int writes an integer.
func (w *Writer) Int(v int64) { w.buf = strconv.AppendInt(w.buf, v, 10) }

// Uint writes an unsigned integer.
func (w *Writer) Uint(v uint64) { w.buf = strconv.AppendUint(w.buf, v, 10) }

// Float writes a number of bits bits (32 or 64) as encoding/json does.
func (w *Writer) Float(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.fail(fmt.Errorf("wire: JSON has no number %v", v))
		w.Null()
		return
	}
	w.buf = appendFloat(w.buf, v, bits)
}

// Bool writes true or false.
func (w *Writer) Bool(v bool) { w.buf = strconv.AppendBool(w.buf, v) }

// Null writes null.
func (w *Writer) Null() { w.buf = append(w.buf, "null"...) }

// Time writes a time in UTC, in RFC 3339 with as many fractional digits as it has (MCP-AQL core §4.7.2).
func (w *Writer) Time(t time.Time) {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		w.fail(fmt.Errorf("wire: year %d is outside 0 to 9999", year))
		w.Null()
		return
	}
	w.buf = append(w.buf, '"')
	w.buf = t.AppendFormat(w.buf, time.RFC3339Nano)
	w.buf = append(w.buf, '"')
}

// Bytes64 writes binary data in standard base64; nil is null, as in encoding/json.
func (w *Writer) Bytes64(b []byte) {
	if b == nil {
		w.Null()
		return
	}
	w.buf = append(w.buf, '"')
	w.buf = base64.StdEncoding.AppendEncode(w.buf, b)
	w.buf = append(w.buf, '"')
}

// Raw writes text that is JSON already.
func (w *Writer) Raw(text string) { w.buf = append(w.buf, text...) }

// Any writes a value of dynamic type. The kinds that Any of Reader returns are written here; everything else goes
// through encoding/json.
func (w *Writer) Any(v any) {
	if w.Deep() {
		w.Null()
		return
	}
	switch v := v.(type) {
	case nil:
		w.Null()
	case bool:
		w.Bool(v)
	case string:
		w.String(v)
	case float64:
		w.Float(v, 64)
	case int:
		w.Int(int64(v))
	case int64:
		w.Int(v)
	case json.Number:
		if r := NewReader(string(v), Limits{}); r.Kind() == "number" {
			if text, ok := r.number(); ok && len(text) == len(v) {
				w.Raw(text)
				return
			}
		}
		w.fail(errors.New("wire: a json.Number is not a number"))
		w.Null()
	case time.Time:
		w.Time(v)
	case []any:
		w.BeginArray()
		for _, element := range v {
			w.Element()
			w.Any(element)
		}
		w.EndArray()
	case map[string]any:
		w.BeginObject()
		for _, name := range SortedKeys(v) {
			w.KeyEscaped(name)
			w.Any(v[name])
		}
		w.EndObject()
	default:
		text, err := json.Marshal(v)
		if err != nil {
			w.fail(fmt.Errorf("wire: writing a value of dynamic type: %w", err))
			text = []byte("null")
		}
		w.buf = append(w.buf, text...)
	}
}

// SortedKeys returns the keys of m in order, which is the order in which maps are written.
func SortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func appendFloat(buf []byte, v float64, bits int) []byte {
	format := byte('f')
	if magnitude := math.Abs(v); magnitude != 0 {
		if bits == 64 && (magnitude < 1e-6 || magnitude >= 1e21) ||
			bits == 32 && (float32(magnitude) < 1e-6 || float32(magnitude) >= 1e21) {
			format = 'e'
		}
	}
	buf = strconv.AppendFloat(buf, v, format, -1, bits)
	if n := len(buf); format == 'e' && n >= 4 && buf[n-4] == 'e' && buf[n-2] == '0' {
		buf[n-2] = buf[n-1] // e-09 is spelled e-9
		buf = buf[:n-1]
	}
	return buf
}

const hexDigits = "0123456789abcdef"

// appendString quotes s as encoding/json does without its escaping of HTML.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			char, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case char == utf8.RuneError && size == 1:
				buf = append(append(buf, s[from:i]...), `\ufffd`...)
				from = i + size
			case char == '\u2028' || char == '\u2029':
				buf = append(append(buf, s[from:i]...), `\u202`...)
				buf = append(buf, hexDigits[char&0xf])
				from = i + size
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		buf = append(buf, s[from:i]...)
		switch c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\b':
			buf = append(buf, '\\', 'b')
		case '\f':
			buf = append(buf, '\\', 'f')
		case '\n':
			buf = append(buf, '\\', 'n')
		case '\r':
			buf = append(buf, '\\', 'r')
		case '\t':
			buf = append(buf, '\\', 't')
		default:
			buf = append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		i++
		from = i
	}
	return append(append(buf, s[from:]...), '"')
}
