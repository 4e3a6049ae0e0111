package reference

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// Query makes a random search: words and phrases, some of which are in texts, and some cut out of them.
func (s *Schema) Query(r *rand.Rand) string {
	var query strings.Builder
	for range r.IntN(4) {
		part := []rune(Texts[r.IntN(len(Texts))])
		if r.IntN(2) == 0 && len(part) > 0 {
			from := r.IntN(len(part))
			part = part[from : from+1+r.IntN(len(part)-from)]
		}
		if r.IntN(4) == 0 {
			query.WriteString(`"` + string(part) + `"`)
		} else {
			query.WriteString(string(part))
		}
		query.WriteString([]string{" ", "  ", "\t", ""}[r.IntN(4)])
	}
	return query.String()
}

// Search returns the elements that a search finds: those of which one of the Searched texts contains one of the words,
// and all of them if there is no word.
func (s *Schema) Search(t testing.TB, all []Element, query string) []Element {
	t.Helper()
	words := wordsOf(query)
	if len(words) == 0 {
		return all
	}
	var found []Element
	for _, e := range all {
		if slices.ContainsFunc(words, func(word string) bool { return s.Says(e, word) }) {
			found = append(found, e)
		}
	}
	return found
}

// Says reports whether one of the Searched texts of an element contains a word.
func (s *Schema) Says(e Element, word string) bool {
	for _, path := range s.Searched {
		texts, isList := e.At(path).([]any)
		if text := e.At(path); !isList && text != nil {
			texts = []any{text}
		}
		if slices.ContainsFunc(texts, func(text any) bool { return strings.Contains(folded(text), folded(word)) }) {
			return true
		}
	}
	return false
}

// wordsOf are the words of a search: what stands between blanks, or between quotation marks. The last of these may be
// missing.
func wordsOf(query string) (words []string) {
	var word []rune
	phrase := false
	end := func() {
		if text := strings.TrimSpace(string(word)); text != "" {
			words = append(words, text)
		}
		word = nil
	}
	for _, c := range query {
		switch {
		case c == '"':
			end()
			phrase = !phrase
		case !phrase && unicode.IsSpace(c):
			end()
		default:
			word = append(word, c)
		}
	}
	end()
	return words
}
