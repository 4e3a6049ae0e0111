package search

import (
	"slices"
	"strings"
	"sync"
)

// expansion is a term that a word of a query may mean.
type expansion struct {
	term    int32
	quality float32 // how likely: 1 where the word is the term
}

// ignored are the words that say nothing of what is searched.
var ignored = sync.OnceValue(func() map[string]bool {
	words := make(map[string]bool)
	for word := range strings.FieldsSeq("a an the of to for in on at by with and or from into as is are be i me my we " +
		"our you your it its this that these those want need would like can could should please how do does what which " +
		"there some any one his her their s t") {
		words[word] = true
	}
	return words
})

// expand returns what the words of a query may mean. A word that means nothing known has no expansions.
func (ix *Index) expand(query string) [][]expansion {
	spoken, all := splitQuery(query)
	if len(spoken) == 0 {
		spoken = all
	}
	spoken = spoken[:min(len(spoken), mostWords)]
	var expanded [][]expansion
	for i := 0; i < len(spoken); i++ {
		if i+1 < len(spoken) { // two words that are one elsewhere
			if term, known := ix.terms[stem(spoken[i]+spoken[i+1])]; known {
				both := []expansion{{term, 1}}
				expanded = append(expanded,
					append(slices.Clone(both), ix.meanings(spoken[i])...), append(both, ix.meanings(spoken[i+1])...))
				i++
				continue
			}
		}
		found := ix.meanings(spoken[i])
		if halves := ix.halves(spoken[i]); found == nil && halves != nil {
			expanded = append(expanded, halves...)
			continue
		}
		expanded = append(expanded, found)
	}
	return expanded
}

// splitQuery returns the different words of a query: those that are not ignored, and all.
func splitQuery(query string) (spoken, all []string) {
	var reader wordReader
	for reader.read(query); reader.next() && len(all) < 4*mostWords; {
		word := string(reader.bytes)
		if slices.Contains(all, word) {
			continue
		}
		all = append(all, word)
		if !ignored()[word] {
			spoken = append(spoken, word)
		}
	}
	return spoken, all
}

// meanings returns the terms that a word may mean.
func (ix *Index) meanings(word string) []expansion {
	var found []expansion
	stemmed := stem(word)
	exact, known := ix.terms[stemmed]
	if known {
		found = append(found, expansion{exact, 1})
	}
	for _, other := range synonyms()[stemmed] {
		if term, there := ix.terms[other]; there {
			found = append(found, expansion{term, sameMeaning})
		}
	}
	if found != nil {
		return found
	}
	found = ix.spelling.begin(stemmed)
	return append(found, ix.spelling.near(stemmed)...)
}

// halves returns the two terms of which a word is put together; nil: there are none.
func (ix *Index) halves(word string) [][]expansion {
	const shortest = 3
	for i := shortest; i <= len(word)-shortest; i++ {
		first, known := ix.terms[stem(word[:i])]
		second, knownToo := ix.terms[stem(word[i:])]
		if known && knownToo {
			return [][]expansion{{{first, 1}}, {{second, 1}}}
		}
	}
	return nil
}
