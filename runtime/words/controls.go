package words

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// IsControl reports whether a character has no place in a text that is written for people and agents: control characters
// with the escape sequences of terminals, those that change the direction of writing, separators of lines, and the tags
// and selectors in which a text can hide another one. Tabs and line breaks are none, nor are the joiners and selectors
// of emoji and of scripts that need them.
func IsControl(r rune) bool {
	switch {
	case r == '\n', r == '\t', r >= ' ' && r <= '~':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x206f:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// Visible returns a text with an escape in place of each character that IsControl finds, as JSON writes it: \u202e. A
// JSON text stays the same value.
func Visible(text string) string {
	if !strings.ContainsFunc(text, IsControl) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case !IsControl(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// WithoutControls returns a text without the characters that IsControl finds.
func WithoutControls(text string) string {
	if !strings.ContainsFunc(text, IsControl) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if IsControl(r) {
			return -1
		}
		return r
	}, text)
}
