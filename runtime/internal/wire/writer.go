package wire

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// maxWriterDepth bounds the nesting of what is written where no limit does, since values may contain themselves.
const maxWriterDepth = 1000

// Writer appends JSON to a buffer. It sets the commas. After its first error, the buffer is not valid JSON.
type Writer struct {
	buf     []byte
	depth   int
	levels  int     // the greatest depth
	limit   int     // bytes; 0: none
	mark    int     // bytes before the last Mark
	dropped int     // bytes that were dropped because of the limit
	entries []entry // memory for sorting a map
	checker *Reader // memory for checking JSON; nil: there was none yet
	err     error
}

// NewWriter returns a Writer that appends to buf.
func NewWriter(buf []byte) *Writer { return &Writer{buf: buf, levels: maxWriterDepth} }

// Reset makes w append to buf, without error and limits.
func (w *Writer) Reset(buf []byte) {
	*w = Writer{buf: buf, levels: maxWriterDepth, entries: w.entries, checker: w.checker}
}

// SetLimit bounds the buffer, in bytes; 0 means that there is no limit. The next member or element that is written to
// a buffer beyond the limit is an error, and the buffer does not grow from then on.
func (w *Writer) SetLimit(bytes int) { w.limit = bytes }

// Detach copies the memory of w. What a copy of w, made before, goes on to write is then its own.
func (w *Writer) Detach() { w.buf, w.entries, w.checker = bytes.Clone(w.buf), nil, nil }

// Limit returns the limit of the buffer; 0: there is none.
func (w *Writer) Limit() int { return w.limit }

// SetMaxDepth bounds the levels of objects and arrays; 0 means 1,000. What Raw writes is not counted.
func (w *Writer) SetMaxDepth(levels int) { w.levels = cmp.Or(levels, maxWriterDepth) }

// Bytes returns the buffer with what was written.
func (w *Writer) Bytes() []byte { return w.buf }

// Len returns the number of bytes that were written, with those that were dropped because of the limit.
func (w *Writer) Len() int { return w.dropped + len(w.buf) }

// ExceedsLimit reports whether more bytes were written than the limit allows.
func (w *Writer) ExceedsLimit() bool { return w.limit > 0 && w.Len() > w.limit }

// comma writes a comma unless the object or array, which the byte open begins, is empty so far.
func (w *Writer) comma(open byte) {
	last := len(w.buf) - 1
	if w.limit > 0 && last >= w.limit {
		w.drop(open)
		return
	}
	if w.buf[last] != open {
		w.buf = append(w.buf, ',')
	}
}

// drop makes the limit an error, and drops what was written since the last Mark.
//
//go:noinline
func (w *Writer) drop(open byte) {
	w.Fail(errTooLong)
	w.dropped += len(w.buf) - w.mark
	w.buf = append(w.buf[:w.mark], open)
}

// largeText is the number of bytes from which on a text is not written where it would exceed the limit. A shorter one
// is, and the limit is found out at the next member or element.
const largeText = 4 << 10

// Refuses reports whether so many more bytes, of one value, are too many. They are counted and not to be written, and
// the limit is an error.
func (w *Writer) Refuses(bytes int) bool {
	if bytes < largeText || w.limit == 0 || len(w.buf)+bytes <= w.limit {
		return false
	}
	w.Fail(errTooLong)
	w.dropped += bytes
	return true
}

// Mark is a place in the output.
type Mark struct{ length, depth int }

// Mark returns the current place in the output. What was written before it is not dropped because of the limit.
func (w *Writer) Mark() Mark {
	w.mark = len(w.buf)
	return Mark{len(w.buf), w.depth}
}

// Rewind removes what was written since a mark, and the error.
func (w *Writer) Rewind(to Mark) {
	w.buf, w.depth, w.mark = w.buf[:to.length], to.depth, to.length
	w.dropped, w.err = 0, nil
}

// ErrTooDeep is the error of a Writer that is to write more levels of objects and arrays than it may.
var ErrTooDeep = errors.New("wire: the value is nested too deeply")

// errTooLong is the error of a Writer that exceeds its limit.
var errTooLong = errors.New("wire: the output exceeds its limit")

// Err returns the first error: a number that JSON cannot spell, a time outside of the years 0 to 9999, a value nested
// deeper than SetMaxDepth allows, a value that Any cannot write, too many bytes, or what Fail was called with.
func (w *Writer) Err() error { return w.err }

// Fail makes err the error of w unless it has one.
//
//go:noinline
func (w *Writer) Fail(err error) {
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
	if w.depth++; w.depth > w.levels {
		w.failTooDeep()
	}
}

func (w *Writer) end(c byte) {
	w.buf = append(w.buf, c)
	w.depth--
}

// TooDeep reports whether another level would be nested too deeply, and makes that the error. Encoders of types that
// may contain themselves must call it before they write a level.
func (w *Writer) TooDeep() bool {
	if w.depth < w.levels {
		return false
	}
	w.failTooDeep()
	return true
}

//go:noinline
func (w *Writer) failTooDeep() {
	w.Fail(fmt.Errorf("%w: the limit is %d levels", ErrTooDeep, w.levels))
}

// Key writes the name of a member. The name must not need escapes.
func (w *Writer) Key(name string) {
	w.comma('{')
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

// Field writes the name of a member, which is spelled with a comma, quotes and a colon: ,"name":. first leaves out
// the comma. Field does not look at the limit, so it is for objects with few members.
func (w *Writer) Field(spelled string, first bool) {
	if first {
		spelled = spelled[1:]
	}
	w.buf = append(w.buf, spelled...)
}

// KeyEscaped writes the name of a member, which may need escapes.
func (w *Writer) KeyEscaped(name string) {
	w.comma('{')
	if len(name) >= largeText && w.Refuses(len(name)) {
		name = ""
	}
	w.buf = append(appendString(w.buf, name), ':')
}

// Element begins an element of an array.
func (w *Writer) Element() { w.comma('[') }

// String writes a string as encoding/json does without escaping HTML. Invalid UTF-8 becomes U+FFFD.
func (w *Writer) String(s string) {
	if len(s) >= largeText && w.Refuses(len(s)) {
		s = ""
	}
	w.buf = appendString(w.buf, s)
}

// Int writes an integer.
func (w *Writer) Int(v int64) { w.buf = strconv.AppendInt(w.buf, v, 10) }

// Uint writes an unsigned integer.
func (w *Writer) Uint(v uint64) { w.buf = strconv.AppendUint(w.buf, v, 10) }

// Float writes a number of bits bits (32 or 64; 0 means 64) as encoding/json does. NaN and infinities are errors.
func (w *Writer) Float(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.Fail(fmt.Errorf("wire: JSON has no number %v", v))
		w.Null()
		return
	}
	w.buf = appendFloat(w.buf, v, bits)
}

// Bool writes true or false.
func (w *Writer) Bool(v bool) { w.buf = strconv.AppendBool(w.buf, v) }

// Null writes null.
func (w *Writer) Null() { w.buf = append(w.buf, "null"...) }

// Time writes a time in UTC, in RFC 3339 with as many fractional digits as it needs (MCP-AQL core §4.7.2). A time
// outside of the years 0 to 9999 is an error.
func (w *Writer) Time(t time.Time) {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		w.Fail(fmt.Errorf("wire: year %d is outside 0 to 9999", year))
		w.Null()
		return
	}
	w.buf = appendTime(w.buf, t)
}

// Base64 writes binary data in standard base64 (MCP-AQL core §4.7.4). Unlike encoding/json, it writes nil as empty
// data.
func (w *Writer) Base64(b []byte) {
	if w.Refuses(base64.StdEncoding.EncodedLen(len(b))) {
		b = nil
	}
	w.buf = append(w.buf, '"')
	w.buf = base64.StdEncoding.AppendEncode(w.buf, b)
	w.buf = append(w.buf, '"')
}

// Raw writes the text of a JSON value.
func (w *Writer) Raw(text string) { w.buf = append(w.buf, text...) }
