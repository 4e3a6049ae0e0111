package aql

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/words"
)

// Sanitize is what an adapter does with the characters in its answers that nobody sees, or that change how others look:
// control characters with the escape sequences of terminals, marks that change the direction of text, and characters
// without width, in which stored text can hide instructions to an agent. Tabs and line breaks stay.
//
// Joiners and selectors of variants are among them, so emoji of several characters, and some words of scripts that need
// joiners, look different.
type Sanitize string

// What an adapter does with such characters in answers.
const (
	// SanitizeNone leaves answers as they are.
	SanitizeNone Sanitize = ""
	// SanitizeEscape shows each as an escape, such as \u200b.
	SanitizeEscape Sanitize = "escape"
	// SanitizeRemove removes them from strings. In the names of members they are escaped, or two could become one.
	SanitizeRemove Sanitize = "remove"
)

// check fails on a value that does not exist.
func (s Sanitize) check() error {
	switch s {
	case SanitizeNone, SanitizeEscape, SanitizeRemove:
		return nil
	}
	return fmt.Errorf("sanitize %q is none of %s, %s", s, SanitizeEscape, SanitizeRemove)
}

// sanitized returns a reply with sanitized strings. One that has become too large is a failure.
func (x *exchange) sanitized(reply Reply) Reply {
	clean := x.adapter.options.Sanitize.answer(reply.JSON)
	if limit := x.adapter.options.Limits.ResponseSize; len(clean) > limit && len(clean) > len(reply.JSON) {
		failed := tooLarge("response_size", limit, len(clean), "bytes")
		switch m := &x.message; {
		case !bytes.HasPrefix(reply.JSON, []byte(successOpen)):
			failed.Message += ": the failure is too large to be shown"
		case m.batch != nil:
			failed.Message += ": the operations of the batch have run or failed, or wait for a confirmation. " + lookFirst
		case m.operation != nil:
			failed = hasRun(failed, &m.request, "is too large")
		}
		return x.fail(failed)
	}
	reply.JSON, reply.Execution = clean, reply.Execution.sanitized(x.adapter.options.Sanitize)
	return reply
}

// answer returns valid JSON with sanitized strings and names of members. It returns text itself if there is nothing to
// do.
func (s Sanitize) answer(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r == '\\' || r > '~' }) {
		return text
	}
	c := sanitizer{mode: s, in: text}
	for c.at < len(text) {
		quote := bytes.IndexByte(text[c.at:], '"')
		if quote < 0 {
			break
		}
		c.at += quote + 1
		end := c.at + endOfString(text[c.at:])
		c.name = isName(text[end:])
		c.string(end)
		c.at = end + 1
	}
	if c.out == nil {
		return text
	}
	return append(c.out, text[c.copied:]...)
}

// endOfString returns where the string ends whose text is in front.
func endOfString(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(text)
}

// isName reports whether the string that ends in front of text is the name of a member.
func isName(text []byte) bool {
	rest := bytes.TrimLeft(text[min(1, len(text)):], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// sanitizer rewrites JSON.
type sanitizer struct {
	mode   Sanitize
	in     []byte
	at     int    // what is looked at
	name   bool   // a name of a member is
	out    []byte // what comes of in[:copied]; nil: in is as it was so far
	copied int
}

// string rewrites the text of a string from at to end.
func (c *sanitizer) string(end int) {
	for c.at < end {
		r, size := spelled(c.in[c.at:end])
		next := c.in[c.at+size : end]
		switch {
		case r == '\r' && bytes.HasPrefix(next, []byte(`\n`)):
		case words.IsHidden(r):
			c.replace(r, size)
		case r == '\\' && c.name && len(next) > 0 && (next[0] == 'u' || next[0] == 'U'):
			c.replace(r, size) // what looks like an escape is none; two names stay two
		}
		c.at += size
	}
}

// replace writes the escape of a character of a size in the input, or nothing.
func (c *sanitizer) replace(r rune, size int) {
	c.out = append(c.out, c.in[c.copied:c.at]...)
	if c.out == nil {
		c.out = []byte{}
	}
	c.copied = c.at + size
	switch {
	case c.mode == SanitizeRemove && !c.name:
	case r > 0xffff:
		c.out = fmt.Appendf(c.out, `\\U%08x`, r)
	default:
		c.out = fmt.Appendf(c.out, `\\u%04x`, r)
	}
}

// spelled reads the character in front of the text of a JSON string, and how many bytes spell it.
func spelled(text []byte) (r rune, size int) {
	if text[0] != '\\' || len(text) < 2 {
		return utf8.DecodeRune(text)
	}
	if text[1] != 'u' {
		if at := strings.IndexByte(`bfnrt`, text[1]); at >= 0 {
			return rune("\b\f\n\r\t"[at]), 2
		}
		return rune(text[1]), 2
	}
	r = codeUnit(text)
	if utf16.IsSurrogate(r) && len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if pair := utf16.DecodeRune(r, codeUnit(text[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, min(6, len(text))
}

// codeUnit reads \uXXXX.
func codeUnit(text []byte) rune {
	if len(text) < 6 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
