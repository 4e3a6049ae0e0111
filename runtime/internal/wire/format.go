package wire

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// appendFloat appends a number as encoding/json spells it.
func appendFloat(buf []byte, v float64, bits int) []byte {
	if bits != 32 {
		bits = 64
	}
	format := byte('f')
	if magnitude := math.Abs(v); magnitude != 0 {
		if bits == 64 && (magnitude < 1e-6 || magnitude >= 1e21) ||
			bits == 32 && (float32(magnitude) < 1e-6 || float32(magnitude) >= 1e21) {
			format = 'e'
		}
	}
	buf = strconv.AppendFloat(buf, v, format, -1, bits)
	if n := len(buf); format == 'e' && n >= 4 && buf[n-4] == 'e' && buf[n-2] == '0' {
		buf[n-2] = buf[n-1] // e-09 becomes e-9
		buf = buf[:n-1]
	}
	return buf
}

const hexDigits = "0123456789abcdef"

// appendString appends s as encoding/json quotes it without escaping HTML.
func appendString(buf []byte, s string) []byte {
	from, to := len(buf), len(buf)+len(s)+len(`""`)
	if to > cap(buf) {
		buf = slices.Grow(buf, len(s)+len(`""`))
	}
	quoted := buf[from:to]
	if !copyPlain(quoted[1:len(quoted)-1], s) {
		return appendEscaped(buf, s)
	}
	quoted[0], quoted[len(quoted)-1] = '"', '"'
	return buf[:to]
}

// copyPlain copies s to dst, which has its length, and reports whether s is ASCII that needs no escapes in a JSON
// string. It copies what it has looked at, in words, of which the last may overlap.
func copyPlain(dst []byte, s string) bool {
	n := len(s)
	switch {
	case n >= 8:
		lastFrom, lastTo := s[n-8:], dst[n-8:]
		for ; len(s) > 8 && len(dst) >= 8; s, dst = s[8:], dst[8:] {
			w := load64(s)
			if specials(w)|w&highs != 0 {
				return false
			}
			binary.LittleEndian.PutUint64(dst, w)
		}
		w := load64(lastFrom)
		binary.LittleEndian.PutUint64(lastTo, w)
		return specials(w)|w&highs == 0
	case n >= 4:
		first, last := load32(s), load32(s[n-4:])
		binary.BigEndian.PutUint32(dst, first)
		binary.BigEndian.PutUint32(dst[n-4:], last)
		w := uint64(first)<<32 | uint64(last)
		return specials(w)|w&highs == 0
	default:
		for i := range n {
			c := s[i]
			if special[c] || c >= utf8.RuneSelf {
				return false
			}
			dst[i] = c
		}
		return true
	}
}

// appendEscaped is appendString for a string that may need escapes.
func appendEscaped(buf []byte, s string) []byte {
	buf = append(buf, '"')
	from := 0
	for i := plainEnd(s, 0); i < len(s); i = plainEnd(s, from) {
		buf = append(appendText(buf, s[from:i]), '\\')
		switch c := s[i]; c {
		case '"', '\\':
			buf = append(buf, c)
		case '\b':
			buf = append(buf, 'b')
		case '\f':
			buf = append(buf, 'f')
		case '\n':
			buf = append(buf, 'n')
		case '\r':
			buf = append(buf, 'r')
		case '\t':
			buf = append(buf, 't')
		default:
			buf = append(buf, 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		from = i + 1
	}
	return append(appendText(buf, s[from:]), '"')
}

// appendText appends a text that has no quotes, backslashes and control characters. It escapes invalid UTF-8, and the
// two characters that end lines in JavaScript.
func appendText(buf []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			if i++; i+8 <= len(s) && load64(s[i:i+8])&highs == 0 {
				i += 8
			}
			continue
		}
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
	}
	return append(buf, s[from:]...)
}
