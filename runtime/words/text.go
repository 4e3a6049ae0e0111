package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FirstSentence returns the first sentence of text on one line, with the mark that ends it. A paragraph without one is
// a sentence. The full stop of an abbreviation ("e.g.", "U.S."), one before a small letter and one before a digit
// ("no. 5") end no sentence.
func FirstSentence(text string) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	words := strings.Fields(paragraph)
	for i, word := range words[:max(len(words)-1, 0)] {
		next, _ := utf8.DecodeRuneInString(words[i+1])
		if endsSentence(word) && !unicode.IsLower(next) && !unicode.IsDigit(next) {
			return strings.Join(words[:i+1], " ")
		}
	}
	return strings.Join(words, " ")
}

// endsSentence reports whether a word before another one can be the last of a sentence.
func endsSentence(word string) bool {
	word = strings.TrimRight(word, `)"'`+"\u2019\u201d")
	if strings.HasSuffix(word, "!") || strings.HasSuffix(word, "?") {
		return true
	}
	stem, ok := strings.CutSuffix(word, ".")
	if !ok || strings.HasSuffix(stem, ".") {
		return false
	}
	stem = strings.TrimLeft(stem, `("'`+"\u2018\u201c")
	switch strings.ToLower(stem) {
	case "vs", "cf", "approx", "incl", "excl", "resp", "viz", "eg", "ie", "dr", "mr", "mrs", "ms", "prof", "st":
		return false
	}
	last := stem[strings.LastIndexByte(stem, '.')+1:] // of e.g, U.S, 1.2
	letter, size := utf8.DecodeRuneInString(last)
	return size < len(last) || !unicode.IsLetter(letter)
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

// IsHidden reports whether a character of a text of several lines cannot be seen, or changes how others look: one that
// Printable escapes, except tabs, line breaks, blanks of any width, and characters that fonts may not have.
func IsHidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r >= ' ' && r <= '~':
		return false
	}
	return unicode.IsOneOf([]*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, invisible}, r) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) // marks of numbers, which are seen
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

// Quote returns a value as Clip does, for a sentence in which a person must see where it begins and ends: between “ and
// ”, unless it is one word, or nothing in it looks like the quotation mark that follows it in the sentence, 0 for none.
func Quote(value string, most int, mark rune) string {
	shown := Clip(value, most)
	if mark != 0 && !strings.ContainsAny(shown, alike(mark)) || mark == 0 && !strings.ContainsFunc(shown, separates) {
		return shown
	}
	var out strings.Builder
	out.WriteRune('“')
	for _, r := range shown {
		if strings.ContainsRune(doubleMarks, r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteRune('”')
	return out.String()
}

// doubleMarks are the characters that look like the ends of a quotation between “ and ”.
const doubleMarks = "\"“”„‟″‶〝〞〟＂ˮ״"

// alike returns the characters that look like a quotation mark, with itself.
func alike(mark rune) string {
	for _, marks := range []string{doubleMarks, "'`´‘’‚‛′‵＇｀ʹʻʼʽˈˊˋ‹›׳ꞌ", "«»《》≪≫⟪⟫"} {
		if strings.ContainsRune(marks, mark) {
			return marks
		}
	}
	return string(mark)
}

// separates reports whether a character can make one value look like several words, or like a word and a sentence.
func separates(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Quotation_Mark, r) || strings.ContainsRune(doubleMarks, r)
}

// Count returns a number with a noun, such as "1 item" or "3 items".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
