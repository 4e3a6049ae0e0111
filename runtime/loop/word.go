package loop

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a character is in words. A word is of one kind: where a script has no spaces between words, a command
// stands right behind the text about it.
type kind int

const (
	noWord kind = iota
	latinWord
	otherWord // of another script
)

func kindOf(r rune) kind {
	switch {
	case r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return noWord
	case r < utf8.RuneSelf:
		return latinWord
	}
	if script := scriptOf(r); script == "" || script == latin {
		return latinWord
	}
	return otherWord
}

// edges finds where a word, or what is none, begins. A word also begins behind the underscores before it, which markup
// has around words.
type edges struct {
	// within says that a word begins behind each underscore.
	within bool
	before kind
	marked bool // a word begins behind the underscore before
}

// begins reports whether something begins with the next character.
func (e *edges) begins(r rune) bool {
	k := kindOf(r)
	begins := r != ' ' && (k == noWord || k != e.before || e.marked && r != '_')
	e.before, e.marked = k, r == '_' && (begins || e.marked || e.within)
	return begins
}

// words calls visit with the words of a text, and once more with those in underscores, without these.
func words(s string, visit func(word string)) {
	start, before := 0, noWord
	end := func(at int) {
		if before == noWord {
			return
		}
		word := s[start:at]
		visit(word)
		if bare := strings.Trim(word, "_"); bare != word {
			visit(bare)
		}
	}
	for i, r := range s {
		if k := kindOf(r); k != before {
			end(i)
			start, before = i, k
		}
	}
	end(len(s))
}
