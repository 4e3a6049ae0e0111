package search

import (
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// spelling finds terms that are spelt nearly like a word.
type spelling struct {
	sorted  []spelt
	lengths [][]spelt // by length
}

// spelt is a term, with the set of its letters.
type spelt struct {
	text    string
	letters uint64
	term    int32
}

// longestTerm is the length in bytes up to which terms have near ones.
const longestTerm = 32

func newSpelling(terms map[string]int32) spelling {
	s := spelling{sorted: make([]spelt, 0, len(terms)), lengths: make([][]spelt, longestTerm+1)}
	for _, text := range slices.Sorted(maps.Keys(terms)) {
		one := spelt{text, lettersOf(text), terms[text]}
		s.sorted = append(s.sorted, one)
		if len(text) <= longestTerm {
			s.lengths[len(text)] = append(s.lengths[len(text)], one)
		}
	}
	return s
}

// lettersOf returns the set of the letters of a text. Others than those of English share the places of digits.
func lettersOf(text string) uint64 {
	var set uint64
	for i := range len(text) {
		set |= 1 << (text[i] & 63)
	}
	return set
}

// begin returns the terms that begin with a text.
func (s *spelling) begin(text string) []expansion {
	const shortest = 3
	if len(text) < shortest {
		return nil
	}
	at, _ := slices.BinarySearchFunc(s.sorted, text, func(one spelt, text string) int {
		return strings.Compare(one.text, text)
	})
	var found []expansion
	for ; at < len(s.sorted) && len(found) < mostNear && strings.HasPrefix(s.sorted[at].text, text); at++ {
		found = append(found, expansion{s.sorted[at].term, beginning})
	}
	return found
}

// near returns the terms that one or two edits make of a text: bytes that are inserted, removed, replaced or swapped
// with the next one. Where one is enough, those of two are not.
func (s *spelling) near(text string) []expansion {
	edits := 2
	switch {
	case len(text) < 3 || len(text) > longestTerm:
		return nil
	case len(text) < 7:
		edits = 1
	}
	letters := lettersOf(text)
	var once, twice []expansion
	for length := max(len(text)-edits, 1); length <= min(len(text)+edits, longestTerm); length++ {
		for _, one := range s.lengths[length] {
			if bits.OnesCount64(one.letters^letters) > 2*edits {
				continue
			}
			switch distance := words.Distance(text, one.text); {
			case distance > edits:
			case distance == 1 && len(once) < mostNear:
				once = append(once, expansion{one.term, oneEdit})
			case distance == 2 && len(twice) < mostNear:
				twice = append(twice, expansion{one.term, twoEdits})
			}
		}
	}
	if once != nil {
		return once
	}
	return twice
}
