package wire

import (
	"encoding/base64"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string. ok is false when the value is something else, which is then a problem and skipped.
func (r *Reader) String() (s string, ok bool) {
	r.space()
	if r.pos >= len(r.data) || r.data[r.pos] != '"' {
		r.mismatch("string")
		return "", false
	}
	return r.text()
}

// Bool reads true or false.
func (r *Reader) Bool() (v, ok bool) {
	if r.Kind() != "boolean" {
		r.mismatch("boolean")
		return false, false
	}
	return r.boolean()
}

func (r *Reader) boolean() (v, ok bool) {
	if r.data[r.pos] == 't' {
		return true, r.word("true")
	}
	return false, r.word("false")
}

// Time reads an RFC 3339 date-time with its zone (MCP-AQL core §4.7.2).
func (r *Reader) Time() (t time.Time, ok bool) {
	if r.Kind() != "string" {
		r.mismatch("date-time")
		return time.Time{}, false
	}
	s, ok := r.text()
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || strings.Contains(s, ",") {
		r.wrongType("date-time", "string")
		return time.Time{}, false
	}
	return t, true
}

// Bytes reads binary data in standard base64 with padding (MCP-AQL core §4.7.4).
func (r *Reader) Bytes() (b []byte, ok bool) {
	if r.Kind() != "string" {
		r.mismatch("base64")
		return nil, false
	}
	s, ok := r.text()
	if !ok {
		return nil, false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		r.wrongType("base64", "string")
		return nil, false
	}
	return b, true
}

// text reads the string at pos, whose opening quote has been seen.
func (r *Reader) text() (string, bool) {
	if r.fault != nil {
		return "", false
	}
	start := r.pos + 1
	for i := start; i < len(r.data); i++ {
		switch c := r.data[i]; {
		case c == '"':
			if r.limits.MaxStringLength > 0 && i-start > r.limits.MaxStringLength {
				return r.tooLong(i - start)
			}
			r.from, r.to = r.pos, i+1
			r.pos = i + 1
			return r.data[start:i], true
		case c == '\\':
			return r.escaped(i)
		case c < ' ':
			r.pos = i
			r.malformed("a control character stands unescaped in a string")
			return "", false
		}
	}
	r.pos = len(r.data)
	r.malformed("")
	return "", false
}

func (r *Reader) tooLong(length int) (string, bool) {
	r.fail(Fault{Kind: StringTooLong, Limit: r.limits.MaxStringLength, Actual: length, Detail: "a string is too long"})
	return "", false
}

// escaped reads the rest of a string from its first backslash on.
func (r *Reader) escaped(i int) (string, bool) {
	out := append(make([]byte, 0, i-r.pos+32), r.data[r.pos+1:i]...)
	for i < len(r.data) {
		switch c := r.data[i]; {
		case c == '"':
			if r.limits.MaxStringLength > 0 && len(out) > r.limits.MaxStringLength {
				return r.tooLong(len(out))
			}
			r.from, r.to = r.pos, i+1
			r.pos = i + 1
			return string(out), true
		case c == '\\':
			char, size := r.escape(i)
			if size == 0 {
				return "", false
			}
			out = utf8.AppendRune(out, char)
			i += size
		case c < ' ':
			r.pos = i
			r.malformed("a control character stands unescaped in a string")
			return "", false
		default:
			out = append(out, c)
			i++
		}
	}
	r.pos = len(r.data)
	r.malformed("")
	return "", false
}

// escape reads the escape at i and returns its character and length; length 0 after a fault.
func (r *Reader) escape(i int) (rune, int) {
	if i+1 >= len(r.data) {
		r.pos = len(r.data)
		r.malformed("")
		return 0, 0
	}
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
	r.pos = i
	r.malformed("an unknown escape stands in a string")
	return 0, 0
}

func (r *Reader) unicodeEscape(i int) (rune, int) {
	char, ok := hex4(r.data, i+2)
	switch {
	case !ok:
		r.pos = i
		r.malformed(`'\u' is not followed by four hexadecimal digits`)
		return 0, 0
	case char == 0:
		r.pos = i
		r.fail(Fault{Kind: NUL, Detail: "a string holds the character U+0000"})
		return 0, 0
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
	r.pos = i
	r.fail(Fault{Kind: InvalidUTF8, Detail: "a string holds half a surrogate pair"})
	return 0, 0
}

func hex4(data string, i int) (rune, bool) {
	if i+4 > len(data) {
		return 0, false
	}
	var char rune
	for _, c := range []byte(data[i : i+4]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		char = char<<4 | rune(c)
	}
	return char, true
}
