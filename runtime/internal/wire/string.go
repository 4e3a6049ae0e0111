package wire

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// use is what the caller does with a string that is read.
type use uint8

const (
	validates use = iota // nothing: the result may be empty
	borrows              // uses it as long as the input
	retains              // may use it longer than the input
)

// text reads the string at pos, which begins with a quote.
func (r *Reader) text(as use) (string, bool) { return r.textTo(plainEnd(r.data, r.pos+1), as) }

// textTo is text for a caller that knows where the string has its first quote, backslash or control character.
func (r *Reader) textTo(i int, as use) (string, bool) {
	start := r.pos + 1
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

// longInput is the length up to which strings share the memory of the input. With a longer input, one string that a
// handler stores would hold too much memory.
const longInput = 128 << 10

// Retain returns s, a part of the input, in memory that does not hold a long input. What String and Any return is
// retained already; what Name, Text and Raw return is not.
func (r *Reader) Retain(s string) string {
	if len(r.data) <= longInput || s == "" {
		return s
	}
	return owned(append(r.reserve(len(s), arenaOfLong), s...))
}

// owned returns bytes as a string. The bytes must not change any more.
func owned(bytes []byte) string { return unsafe.String(unsafe.SliceData(bytes), len(bytes)) }

// badString is the fault of a string that does not end, or has a control character at i.
//
//go:noinline
func (r *Reader) badString(i int) (string, bool) {
	r.pos = i
	r.malformed("a control character stands unescaped in a string")
	return "", false
}

// maxPlaces is the number of escapes of a string whose places are remembered from checking it for unescaping it.
const maxPlaces = 8

// readEscaped reads the string at pos, of which the first backslash is at i. It checks and measures the string before
// it unescapes it, so that a string that is refused takes no memory.
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

// The size of an arena, in bytes.
const (
	arenaSize   = 256     // for strings with escapes
	arenaOfLong = 4 << 10 // for all strings of a long input
)

// reserve returns an empty slice with a capacity of length bytes. If the arena is full, it allocates one of chunk
// bytes or more.
func (r *Reader) reserve(length, chunk int) []byte {
	begin := len(r.arena)
	if cap(r.arena)-begin < length {
		r.arena, begin = make([]byte, 0, max(length, chunk)), 0
	}
	r.arena = r.arena[:begin+length]
	return r.arena[begin : begin : begin+length]
}

// unescape returns data[start:end], a valid string whose first escapes are at places, without escapes: length bytes.
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
		case len(places) == maxPlaces: // there may be more
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

// escape reads the escape at i and returns its character and its length, which is 0 after a fault.
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

// unicodeEscape reads the escape at i, which begins with \u, and the one after it if both are a surrogate pair.
func (r *Reader) unicodeEscape(i int) (rune, int) {
	char, ok := hex4(r.data, i+2)
	switch {
	case !ok:
		return r.badEscape(i, `'\u' is not followed by four hexadecimal digits`)
	case char == 0 && !r.tolerant:
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
	if r.tolerant {
		return utf8.RuneError, 6
	}
	return r.refusedEscape(i, InvalidUTF8, "a string holds half a surrogate pair")
}

// badEscape is the fault of an escape that is not JSON, or that the end of the input cuts off.
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

// refusedEscape is the fault of an escape that is JSON but not accepted.
//
//go:noinline
func (r *Reader) refusedEscape(i int, kind FaultKind, detail string) (rune, int) {
	r.pos = i
	r.fail(Fault{Kind: kind, Detail: detail})
	return 0, 0
}

// hex4 parses the four hexadecimal digits at i.
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
