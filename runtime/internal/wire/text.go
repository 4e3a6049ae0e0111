package wire

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// use says what becomes of a string that is read.
type use uint8

const (
	validates use = iota // only its soundness matters: the result may be empty
	borrows              // it is looked at while the input is
	retains              // it may outlive the input
)

// text reads the string at pos, whose opening quote has been seen.
func (r *Reader) text(as use) (string, bool) {
	start := r.pos + 1
	i := plainEnd(r.data, start)
	if i < len(r.data) {
		switch r.data[i] {
		case '"':
			if r.limits.MaxStringLength > 0 && i-start > r.limits.MaxStringLength {
				return r.tooLong(i - start)
			}
			r.from, r.to, r.pos = r.pos, i+1, i+1
			if as == retains && len(r.data) > longInput {
				return r.Retain(r.data[start:i]), true
			}
			return r.retained[start:i], true
		case '\\':
			return r.readEscaped(i, as != validates)
		}
	}
	return r.badString(i)
}

// longInput is the length from which on the strings of an input do not share its memory: one that is kept for long would
// keep all of it.
const longInput = 128 << 10

// Retain returns s, a part of the input, in memory of its own where the input is long: something that is stored keeps no more
// than a few KiB beside it alive. String and Any do so themselves; Name, Text and Raw do not.
func (r *Reader) Retain(s string) string {
	if len(r.data) <= longInput || s == "" {
		return s
	}
	return owned(append(r.reserve(len(s), arenaOfLong), s...))
}

// owned is bytes that nobody will change any more.
func owned(bytes []byte) string { return unsafe.String(unsafe.SliceData(bytes), len(bytes)) }

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns the offset of the first quote, backslash or control character in data from i on, or len(data). It looks at
// sixteen bytes at a time, and leaves long strings to plainFar.
func plainEnd(data string, i int) int {
	for far := i + 48; i+16 <= len(data); i += 16 {
		if i >= far {
			return plainEndFar(data, i)
		}
		d := data[i : i+16]
		if first, second := specials(load64(d)), specials(load64(d[8:])); first|second != 0 {
			if first != 0 {
				return i + bits.TrailingZeros64(first)/8
			}
			return i + 8 + bits.TrailingZeros64(second)/8
		}
	}
	for ; i < len(data); i++ {
		if special[data[i]] {
			return i
		}
	}
	return i
}

// window is how far plainFar looks ahead. What it finds ends the look, so that a string full of escapes is not searched to
// its end for each of them.
const window = 256

// plainFar is plain for long strings: the library searches single bytes faster than code in Go can.
func plainEndFar(data string, i int) int {
	for i < len(data) {
		end := min(i+window, len(data))
		limit := end
		if at := strings.IndexByte(data[i:end], '"'); at >= 0 {
			end = i + at
		}
		if at := strings.IndexByte(data[i:end], '\\'); at >= 0 {
			end = i + at
		}
		if i = controlEnd(data, i, end); i < limit {
			return i
		}
	}
	return i
}

// uncontrolled returns the offset of the first control character in data[i:end], or end.
func controlEnd(data string, i, end int) int {
	for ; i+16 <= end; i += 16 {
		d := data[i : i+16]
		first, second := load64(d), load64(d[8:])
		if ((first-ones*' ')&^first|(second-ones*' ')&^second)&highs != 0 {
			break
		}
	}
	for i < end && data[i] >= ' ' {
		i++
	}
	return i
}

// specials marks, by its highest bit, the lowest byte of w that is a quote, a backslash or a control character. Above that
// one the marks mean nothing.
func specials(w uint64) uint64 {
	quote, backslash := w^ones*'"', w^ones*'\\'
	return ((w-ones*' ')&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
}

// word64 returns eight bytes as one number, the first byte lowest.
func load64(d string) uint64 {
	_ = d[7]
	return uint64(d[0]) | uint64(d[1])<<8 | uint64(d[2])<<16 | uint64(d[3])<<24 |
		uint64(d[4])<<32 | uint64(d[5])<<40 | uint64(d[6])<<48 | uint64(d[7])<<56
}

// special tells the bytes that cannot stand for themselves in a string.
var special = [256]bool{
	0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true,
	13: true, 14: true, 15: true, 16: true, 17: true, 18: true, 19: true, 20: true, 21: true, 22: true, 23: true, 24: true,
	25: true, 26: true, 27: true, 28: true, 29: true, 30: true, 31: true, '"': true, '\\': true,
}

// brokenText is the fault of a string that does not end, or holds a control character at i.
//
//go:noinline
func (r *Reader) badString(i int) (string, bool) {
	r.pos = i
	r.malformed("a control character stands unescaped in a string")
	return "", false
}

// mostPlaces is the number of escapes of a string that are kept while it is checked, so as not to look for them twice.
const maxPlaces = 8

// escaped reads the string at pos, whose first backslash is at i. It checks and measures the string before it unescapes
// anything, so that a string that is refused costs nothing.
func (r *Reader) readEscaped(i int, keep bool) (string, bool) {
	var places [maxPlaces]int // of the first escapes
	start, length, count := r.pos+1, i-r.pos-1, 0
	for i < len(r.data) && r.data[i] == '\\' {
		if count < len(places) {
			places[count] = i
		}
		count++
		char, size := r.escape(i)
		if size == 0 {
			return "", false
		}
		i += size
		length += utf8.RuneLen(char)
		next := plainEnd(r.data, i)
		length += next - i
		i = next
	}
	if i >= len(r.data) || r.data[i] != '"' {
		return r.badString(i)
	}
	if r.limits.MaxStringLength > 0 && length > r.limits.MaxStringLength {
		return r.tooLong(length)
	}
	r.from, r.to, r.pos = r.pos, i+1, i+1
	if !keep {
		return "", true
	}
	return r.unescape(start, i, length, places[:min(count, len(places))]), true
}

// What is allocated for strings at a time, in bytes: for those that had escapes, and for all strings of a long input.
const (
	arenaSize   = 256
	arenaOfLong = 4 << 10
)

// reserve returns empty memory for a string of so many bytes.
func (r *Reader) reserve(length, chunk int) []byte {
	begin := len(r.arena)
	if cap(r.arena)-begin < length {
		r.arena, begin = make([]byte, 0, max(length, chunk)), 0
	}
	r.arena = r.arena[:begin+length]
	return r.arena[begin : begin : begin+length]
}

// unescape returns the sound string data[start:end], whose first escapes are at places, as length bytes without escapes.
func (r *Reader) unescape(start, end, length int, places []int) string {
	var out []byte
	if r.ownBytes != nil && !r.preserving {
		out = r.ownBytes[start:start:end] // unescaping never makes text longer
	} else {
		out = r.reserve(length, min(arenaSize, len(r.data)-start))
	}
	for n := 0; ; n++ {
		i := end
		switch {
		case n < len(places):
			i = places[n]
		case len(places) == maxPlaces: // and perhaps more
			i = plainEnd(r.data, start)
		}
		out = append(out, r.data[start:i]...)
		if i == end {
			return owned(out)
		}
		char, size := r.escape(i)
		out = utf8.AppendRune(out, char)
		start = i + size
	}
}

// escape reads the escape at i and returns its character and length; length 0 after a fault.
func (r *Reader) escape(i int) (rune, int) {
	if i+1 < len(r.data) {
		switch c := r.data[i+1]; c {
		case '"', '\\', '/':
			return rune(c), 2
		case 'b':
			return '\b', 2
		case 'f':
			return '\f', 2
		case 'n':
			return '\n', 2
		case 'r':
			return '\r', 2
		case 't':
			return '\t', 2
		case 'u':
			return r.unicodeEscape(i)
		}
	}
	return r.badEscape(i, "an unknown escape stands in a string")
}

func (r *Reader) unicodeEscape(i int) (rune, int) {
	char, ok := hex4(r.data, i+2)
	switch {
	case !ok:
		return r.badEscape(i, `'\u' is not followed by four hexadecimal digits`)
	case char == 0:
		return r.refusedEscape(i, NUL, "a string holds the character U+0000")
	case !utf16.IsSurrogate(char):
		return char, 6
	}
	if strings.HasPrefix(r.data[i+6:], `\u`) {
		if low, ok := hex4(r.data, i+8); ok {
			if pair := utf16.DecodeRune(char, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return r.refusedEscape(i, InvalidUTF8, "a string holds half a surrogate pair")
}

// badEscape is the fault of an escape that JSON does not know, or that the end of the input cuts off.
//
//go:noinline
func (r *Reader) badEscape(i int, detail string) (rune, int) {
	r.pos = i
	if rest := r.data[i+1:]; rest == "" || rest[0] == 'u' && len(rest) < 5 && hexOnly(rest[1:]) {
		r.pos = len(r.data)
	}
	r.malformed(detail)
	return 0, 0
}

//go:noinline
func (r *Reader) refusedEscape(i int, kind FaultKind, detail string) (rune, int) {
	r.pos = i
	r.fail(Fault{Kind: kind, Detail: detail})
	return 0, 0
}

func hex4(data string, i int) (rune, bool) {
	if i+4 > len(data) {
		return 0, false
	}
	var char rune
	for _, c := range []byte(data[i : i+4]) {
		digit, ok := hex(c)
		if !ok {
			return 0, false
		}
		char = char<<4 | rune(digit)
	}
	return char, true
}

func hex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}

func hexOnly(s string) bool {
	for _, c := range []byte(s) {
		if _, ok := hex(c); !ok {
			return false
		}
	}
	return true
}
