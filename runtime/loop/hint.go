package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/internal/decompose"
)

// text is a hint or a pattern as they are compared: without what nobody sees, in small letters, with one space between
// words, and each character as the plain ones that look like it (Unicode's NFKC, with marks apart from their letters).
type text struct {
	exact string // with the marks of letters
	plain string // without: an é is an e, and so is an e with a stroke through it
	// hidden is how many characters nobody would have seen.
	hidden int
	broken bool // there was a line break in it
	mixed  bool // there is a word in it of two scripts that look alike
}

// normalize returns the text that a hint is compared as.
func normalize(s string) text {
	var t text
	exact, plain := make([]byte, 0, len(s)), make([]byte, 0, len(s))
	var one [64]byte
	space := true // before the first character there is none
	var scripts int
	for _, r := range s { // what is not UTF-8 is U+FFFD
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			t.broken = true
		case invisible(r):
			t.hidden++
			continue
		}
		for _, part := range string(decompose.Append(one[:0], r)) {
			if unicode.IsSpace(part) {
				if !space {
					exact, plain = append(exact, ' '), append(plain, ' ')
				}
				space, scripts = true, 0
				continue
			}
			if invisible(part) {
				continue
			}
			small := unicode.ToLower(unicode.ToUpper(part)) // an undotted i is an i
			exact = utf8.AppendRune(exact, small)
			if unicode.In(small, unicode.Mn, unicode.Me) {
				continue
			}
			space = false
			plain = utf8.AppendRune(plain, small)
			if !wordly(small) {
				scripts = 0
			}
			scripts |= scriptOf(small)
			t.mixed = t.mixed || scripts&latin != 0 && scripts != latin
		}
	}
	t.exact, t.plain = strings.TrimSuffix(string(exact), " "), strings.TrimSuffix(string(plain), " ")
	return t
}

// invisible reports whether nobody sees a character, and no space in its place.
func invisible(r rune) bool {
	switch {
	case unicode.IsSpace(r):
		return false
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return true
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		r == '\u2800' // a pattern of Braille without dots
}

// The scripts whose letters are taken for one another.
const (
	latin = 1 << iota
	greek
	cyrillic
	armenian
	cherokee
)

func scriptOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		if unicode.IsLetter(r) {
			return latin
		}
		return 0
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Armenian, r):
		return armenian
	case unicode.Is(unicode.Cherokee, r):
		return cherokee
	}
	return 0
}

// wordly reports whether a character is one of words.
func wordly(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// empty reports whether there is nothing to see.
func (t *text) empty() bool { return t.plain == "" }

// starts calls visit with the offsets of s at which a word, or what is none, begins, until it returns false.
func starts(s string, visit func(offset int) bool) {
	inWord := false
	for i, r := range s {
		word := wordly(r)
		if (!inWord || !word) && r != ' ' && !visit(i) {
			return
		}
		inWord = word
	}
}

// digest identifies the hint. Hints that look the same have the same.
func (t *text) digest() string {
	sum := sha256.Sum256([]byte(t.exact))
	return hex.EncodeToString(sum[:16])
}

// Digest identifies what a hint says, to find repetitions. Hints that look the same have the same digest, so that it
// is nothing to bind a decision to.
func Digest(hint string) string {
	t := normalize(hint)
	return t.digest()
}

// Readable reports whether there is something in a hint that a person would see.
func Readable(hint string) bool {
	t := normalize(hint)
	return !t.empty()
}
