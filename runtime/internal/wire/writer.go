package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxWriterDepth ends the writing of values that contain themselves.
const maxWriterDepth = 1000

// Writer appends JSON to a buffer. Names and elements place their own commas. Its first error stays; what is written
// after it is not to be used.
type Writer struct {
	buf     []byte
	depth   int
	limit   int     // bytes; 0: none
	mark    int     // bytes that stay when what follows is given up
	dropped int     // bytes written after the limit
	entries []entry // room for those of a map, which are written in order
	err     error
}

// NewWriter returns a Writer that appends to buf.
func NewWriter(buf []byte) *Writer { return &Writer{buf: buf} }

// Reset makes w append to buf, and forgets its error.
func (w *Writer) Reset(buf []byte) { *w = Writer{buf: buf, entries: w.entries} }

// SetLimit bounds the buffer, in bytes. What goes beyond it is an error as soon as a member or an element more is written,
// and memory is not taken for what follows.
func (w *Writer) SetLimit(bytes int) { w.limit = bytes }

// Bytes returns the buffer with what was written.
func (w *Writer) Bytes() []byte { return w.buf }

// Len returns the number of bytes that were written, also of those that a limit kept out of the buffer.
func (w *Writer) Len() int { return w.dropped + len(w.buf) }

// ExceedsLimit reports whether more was written than the limit allows.
func (w *Writer) ExceedsLimit() bool { return w.limit > 0 && w.Len() > w.limit }

// comma separates a member or an element from the one before it, if there is one.
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

// drop makes room when the limit is exceeded: what was written since Mark is not to be used any more.
//
//go:noinline
func (w *Writer) drop(open byte) {
	w.fail(errTooLong)
	w.dropped += len(w.buf) - w.mark
	w.buf = append(w.buf[:w.mark], open)
}

// Mark is a place in the output.
type Mark struct{ length, depth int }

// Mark returns the place that was reached. What was written so far stays, whatever becomes of what follows.
func (w *Writer) Mark() Mark {
	w.mark = len(w.buf)
	return Mark{len(w.buf), w.depth}
}

// Rewind takes back what was written since a mark, and forgets the error in it.
func (w *Writer) Rewind(to Mark) {
	w.buf, w.depth, w.mark = w.buf[:to.length], to.depth, to.length
	w.dropped, w.err = 0, nil
}

// errTooLong is the error of a Writer that was to write more than its limit.
var errTooLong = errors.New("wire: the output exceeds its limit")

// Err returns the first error: a number that JSON cannot spell, a time outside the years 0 to 9999, a value nested
// deeper than 1,000 levels, or a value that Any cannot write.
func (w *Writer) Err() error { return w.err }

// Fail makes err the writer's error unless it has one. Encoders report with it what has no JSON.
func (w *Writer) Fail(err error) { w.fail(err) }

//go:noinline
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
	if w.depth++; w.depth > maxWriterDepth {
		w.failTooDeep()
	}
}

func (w *Writer) end(c byte) {
	w.buf = append(w.buf, c)
	w.depth--
}

// TooDeep reports whether the value is nested too deeply to go on, which is then the writer's error. Encoders of recursive
// types ask it before they descend.
func (w *Writer) TooDeep() bool {
	if w.depth < maxWriterDepth {
		return false
	}
	w.failTooDeep()
	return true
}

//go:noinline
func (w *Writer) failTooDeep() {
	w.fail(errors.New("wire: the value is nested deeper than 1000 levels"))
}

// Key writes the name of a member. name needs no escaping.
func (w *Writer) Key(name string) {
	w.comma('{')
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

// Field writes the name of a member of an object whose members are few: it has its comma in front, and quotes and colon
// already. first says that the comma is not needed.
func (w *Writer) Field(name string, first bool) {
	if first {
		name = name[1:]
	}
	w.buf = append(w.buf, name...)
}

// KeyEscaped writes the name of a member that may hold any character.
func (w *Writer) KeyEscaped(name string) {
	w.comma('{')
	w.buf = append(appendString(w.buf, name), ':')
}

// Element announces an element of an array.
func (w *Writer) Element() { w.comma('[') }

// String writes a string as encoding/json does without its escaping of HTML: invalid UTF-8 becomes U+FFFD.
func (w *Writer) String(s string) { w.buf = appendString(w.buf, s) }

// Int writes an integer.
func (w *Writer) Int(v int64) { w.buf = strconv.AppendInt(w.buf, v, 10) }

// Uint writes an unsigned integer.
func (w *Writer) Uint(v uint64) { w.buf = strconv.AppendUint(w.buf, v, 10) }

// Float writes a number of bits bits (32 or 64; 0 means 64) as encoding/json does. NaN and the infinities are errors.
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

// Time writes a time in UTC, in RFC 3339 with as many fractional digits as it has (MCP-AQL core §4.7.2). A year outside 0
// to 9999 is an error.
func (w *Writer) Time(t time.Time) {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		w.fail(fmt.Errorf("wire: year %d is outside 0 to 9999", year))
		w.Null()
		return
	}
	w.buf = appendTime(w.buf, t)
}

// Base64 writes binary data in standard base64 (MCP-AQL core §4.7.4); nil is null, as in encoding/json.
func (w *Writer) Base64(b []byte) {
	if b == nil {
		w.Null()
		return
	}
	w.buf = append(w.buf, '"')
	w.buf = base64.StdEncoding.AppendEncode(w.buf, b)
	w.buf = append(w.buf, '"')
}

// Raw writes text that is one JSON value already.
func (w *Writer) Raw(text string) { w.buf = append(w.buf, text...) }

// StringMap writes a map in the order of its keys; nil is null.
func (w *Writer) StringMap(m map[string]string) {
	if m == nil {
		w.Null()
		return
	}
	w.BeginObject()
	entries := w.entries[:0]
	for name, value := range m {
		entries = append(entries, entry{prefix(name), name, value})
	}
	var order [fewEntries]uint8
	if len(entries) > fewEntries {
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	} else {
		sortFew(entries, &order)
	}
	for i := range entries {
		e := &entries[i]
		if len(entries) <= fewEntries {
			e = &entries[order[i]]
		}
		if w.KeyEscaped(e.name); w.err != nil {
			break
		}
		w.String(e.value)
	}
	w.EndObject()
	clear(entries)
	if cap(entries) <= maxReusedEntries {
		w.entries = entries
	}
}

// entry is an entry of a map, on its way to its place.
type entry struct {
	prefix      uint64 // of the name
	name, value string
}

// prefix is the beginning of a name as a number, which is less where the name comes before.
func prefix(name string) uint64 {
	n := len(name)
	if n >= 8 {
		return bits.ReverseBytes64(load64(name))
	}
	if n >= 4 { // the last four bytes, without those that are among the first four
		return uint64(load32(name))<<32 | uint64(load32(name[n-4:])<<(8*(8-n)))
	}
	var p uint64
	for i := range n {
		p |= uint64(name[i]) << (56 - 8*i)
	}
	return p
}

// word32 returns four bytes as one number, the first byte highest.
func load32(d string) uint32 {
	_ = d[3]
	return uint32(d[0])<<24 | uint32(d[1])<<16 | uint32(d[2])<<8 | uint32(d[3])
}

// fewEntries is the number of entries up to which their order is found by looking at each pair.
const fewEntries = 12

// sortFew tells the order of few entries, by their places. Maps are mostly small, and names mostly differ at their beginning.
func sortFew(entries []entry, order *[fewEntries]uint8) {
	for i := range entries {
		e := &entries[i]
		j := i
		for ; j > 0; j-- {
			before := &entries[order[j-1]]
			if before.prefix < e.prefix || before.prefix == e.prefix && before.name <= e.name {
				break
			}
			order[j] = order[j-1]
		}
		order[j] = uint8(i)
	}
}

// mostEntries is the number of entries for which a Writer keeps its room.
const maxReusedEntries = 1024

// sortedKeys returns the keys of m in order, which is the order in which maps are written.
func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := slices.AppendSeq(make([]K, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
