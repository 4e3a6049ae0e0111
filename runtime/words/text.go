package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FirstSentence returns the first sentence of text on one line, with the full stop that ends it. A paragraph without
// one is a sentence. A full stop inside a word ("e.g."), before a small letter or before a digit ("no. 5") ends no
// sentence.
func FirstSentence(text string) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	words := strings.Fields(paragraph)
	for i, word := range words[:max(len(words)-1, 0)] {
		next, _ := utf8.DecodeRuneInString(words[i+1])
		if strings.HasSuffix(word, ".") && strings.Count(word, ".") == 1 && !unicode.IsLower(next) && !unicode.IsDigit(next) {
			return strings.Join(words[:i+1], " ")
		}
	}
	return strings.Join(words, " ")
}

// Printable returns text as a person can judge it: an escape such as \u202e stands in place of each character that
// misleads, because it cannot be seen or changes how others look. Those are line breaks, control characters with the
// escape sequences of terminals, marks that change the direction of text, characters without width, and spaces other
// than the usual one. Bytes that are not UTF-8 are U+FFFD. Every text that a person decides by passes here.
func Printable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, Misleads) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case !Misleads(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// Misleads reports whether a character cannot be seen, or changes how others look.
func Misleads(r rune) bool {
	return r >= utf8.RuneSelf && unicode.Is(invisible, r) || !unicode.IsPrint(r)
}

// invisible are characters that Unicode counts among those that print, and that most fonts do not show: joiners,
// fillers and selectors of variants, which can hide text in text.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x2800, 0x2800, 1},
		{0x3164, 0x3164, 1}, {0xfe00, 0xfe0f, 1}, {0xffa0, 0xffa0, 1},
	},
	R32: []unicode.Range32{{0xe0100, 0xe01ef, 1}},
}

// Clip returns the Printable form of text, and of a longer one the first most characters with an ellipsis behind them.
// The result does not share memory with text.
func Clip(text string, most int) string {
	count := 0
	for i := range text {
		if count++; count > most {
			return Printable(text[:i]) + "…"
		}
	}
	return strings.Clone(Printable(text))
}

// Count returns a number with a noun, such as "1 item" or "3 items".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
