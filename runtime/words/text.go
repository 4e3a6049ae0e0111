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

// Printable returns text with U+FFFD in place of what does not print: line breaks, control characters, marks that
// change the direction of the text, and bytes that are not UTF-8.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, text)
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
