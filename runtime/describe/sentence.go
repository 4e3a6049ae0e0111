package describe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// notes joins sentences, each ended before the next begins.
type notes struct{ text strings.Builder }

func (n *notes) add(sentence string) {
	sentence = strings.TrimSpace(sentence)
	if sentence == "" {
		return
	}
	if before := n.text.String(); before != "" {
		if !strings.HasPrefix(sentence, "[") && !strings.ContainsAny(before[len(before)-1:], ".!?:]") {
			n.text.WriteByte('.')
		}
		n.text.WriteByte(' ')
	}
	n.text.WriteString(sentence)
}

func (n *notes) String() string { return n.text.String() }

// FirstSentence is the text up to the first full stop that ends a sentence, or the end of the first paragraph, on one
// line.
func FirstSentence(text string) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	words := strings.Fields(paragraph)
	for i, word := range words[:max(len(words)-1, 0)] {
		next, _ := utf8.DecodeRuneInString(words[i+1])
		// A stop inside the word is an abbreviation ("e.g."); a small letter or a digit ("no. 5") goes on.
		if strings.HasSuffix(word, ".") && strings.Count(word, ".") == 1 && !unicode.IsLower(next) && !unicode.IsDigit(next) {
			return strings.Join(words[:i+1], " ")
		}
	}
	return strings.Join(words, " ")
}
