package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// wordReader splits a text into words in small letters without accents. Words end where a letter or digit does not
// follow, and where a capital does in names such as createInvoice or HTTPServer. Scripts that put no blanks between
// words are read in pairs of characters.
type wordReader struct {
	text  string
	bytes []byte // the word
	pair  rune   // the character before, of a script without blanks; zero: none
}

func (w *wordReader) read(text string) { w.text, w.pair = text, 0 }

// next reads the next word, and reports whether there is one.
func (w *wordReader) next() bool {
	w.bytes = w.bytes[:0]
	var before rune // in the word; zero: none
	for len(w.text) > 0 {
		r, size := utf8.DecodeRuneInString(w.text)
		switch {
		case isWithoutBlanks(r):
			if len(w.bytes) > 0 {
				return true
			}
			w.text = w.text[size:]
			if w.readPair(r) {
				return true
			}
			continue
		case r >= utf8.RuneSelf && unicode.Is(unicode.Mn, r): // an accent of its own
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			w.pair = 0
			if len(w.bytes) > 0 {
				return true
			}
		case unicode.IsUpper(r) && before != 0 && (!unicode.IsUpper(before) || followsSmall(w.text[size:])):
			return true
		default:
			w.pair = 0
			w.bytes = appendPlain(w.bytes, r)
			before = r
		}
		w.text = w.text[size:]
	}
	return len(w.bytes) > 0
}

// readPair makes a word of r and the character before it, or of r alone where no other one stands beside it.
func (w *wordReader) readPair(r rune) bool {
	before := w.pair
	w.pair = r
	follower, _ := utf8.DecodeRuneInString(w.text)
	switch {
	case before != 0:
		w.bytes = utf8.AppendRune(utf8.AppendRune(w.bytes, before), r)
		return true
	case !isWithoutBlanks(follower):
		w.bytes = utf8.AppendRune(w.bytes, r)
		return true
	}
	return false
}

func isWithoutBlanks(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer)
}

func followsSmall(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}

// appendPlain appends a small letter without its accent.
func appendPlain(word []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(word, byte(r))
	}
	r = unicode.ToLower(r)
	if plain, known := withoutAccent()[r]; known {
		return append(word, plain...)
	}
	return utf8.AppendRune(word, r)
}

// withoutAccent has the letters that stand for accented ones.
var withoutAccent = sync.OnceValue(func() map[rune]string {
	letters := make(map[rune]string)
	for line := range strings.FieldsSeq("a:àáâãäåāăą c:çćĉċč d:ďđð e:èéêëēĕėęě g:ĝğġģ h:ĥħ i:ìíîïĩīĭįı j:ĵ k:ķ l:ĺļľŀł " +
		"n:ñńņňŉ o:òóôõöøōŏő r:ŕŗř s:śŝşšș t:ţťŧț u:ùúûüũūŭůűų w:ŵ y:ýÿŷ z:źżž ss:ß ae:æ oe:œ th:þ " +
		"α:ά ε:έ η:ή ι:ί ο:ό υ:ύ ω:ώ σ:ς и:й е:ё") {
		plain, accented, _ := strings.Cut(line, ":")
		for _, r := range accented {
			letters[r] = plain
		}
	}
	return letters
})

func stem(word string) string { return string(stemmed([]byte(word))) }

// stemmed returns what words of one root have in common: create, creates, created, creating and creation are one, and
// so are company and companies. It changes the bytes of the word. The endings are those of English.
func stemmed(word []byte) []byte {
	w := word
	if n := len(w); n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i' {
		w = w[:n-1]
	}
	const root = 4
	switch {
	case ends(w, "ing") && len(w) > 5 && hasVowel(w[:len(w)-3]):
		w = w[:len(w)-3]
	case ends(w, "ed") && len(w) > 4 && hasVowel(w[:len(w)-2]):
		w = w[:len(w)-2]
	case ends(w, "ation") && len(w) >= root+len("ation"):
		w = w[:len(w)-5]
	case (ends(w, "tion") || ends(w, "sion")) && len(w) > 6:
		w = w[:len(w)-3]
	}
	if ends(w, "ate") && len(w) >= root+len("ate") {
		w = w[:len(w)-3]
	} else if ends(w, "at") && len(w) >= root+len("at") { // of -ated and -ating
		w = w[:len(w)-2]
	}
	if n := len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	if n := len(w); n > 2 && w[n-1] == w[n-2] && w[n-1] < utf8.RuneSelf && !isVowel(w[n-1]) {
		w = w[:n-1]
	}
	if n := len(w); n > 2 && w[n-1] == 'y' {
		w[n-1] = 'i'
	}
	return w
}

func ends(word []byte, ending string) bool {
	return len(word) >= len(ending) && string(word[len(word)-len(ending):]) == ending
}

func hasVowel(word []byte) bool {
	for _, c := range word {
		if isVowel(c) {
			return true
		}
	}
	return false
}

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}
