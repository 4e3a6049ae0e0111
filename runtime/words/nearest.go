package words

import (
	"cmp"
	"slices"
	"strings"
)

// longest is the length of the longest word that Nearest compares, in bytes. A longer word has no near neighbours and
// would make the comparison expensive.
const longest = 64

// Nearest returns the candidates that a misspelt word may have meant, at most n, the most likely first. Two words are
// near when few bytes have to be inserted, removed, replaced or swapped to make one of the other: one byte in
// candidates of up to three, and two, or a third of the bytes, in longer ones. Upper and lower case count as the same,
// and underscores do not count. Candidates that are equally near keep their order.
func Nearest(word string, candidates []string, n int) []string {
	if word == "" || len(word) > longest {
		return nil
	}
	type match struct {
		candidate string
		distance  int
	}
	var near []match
	for _, candidate := range candidates {
		bound := mostEdits(candidate)
		if len(candidate) > longest || abs(letters(candidate)-letters(word)) > bound {
			continue
		}
		if d := distance(word, candidate); d <= bound {
			near = append(near, match{candidate, d})
		}
	}
	slices.SortStableFunc(near, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, m := range near[:min(n, len(near))] {
		names = append(names, m.candidate)
	}
	return names
}

// Suggest returns the end of a message about a misspelt word: "; did you mean X?" with the candidate that the word most
// likely means; where none is near, "; there is A, B, C" with the first dozen; empty where there are no candidates.
func Suggest(word string, candidates []string) string {
	if near := Nearest(word, candidates, 1); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	const most = 12
	switch list := strings.Join(candidates[:min(most, len(candidates))], ", "); {
	case len(candidates) > most:
		return "; there is " + list + ", …"
	case len(candidates) > 0:
		return "; there is " + list
	}
	return ""
}

// mostEdits is how far a word may be from candidate.
func mostEdits(candidate string) int {
	if len(candidate) <= 3 {
		return 1
	}
	return max(2, len(candidate)/3)
}

// letters counts the bytes of word that are not underscores.
func letters(word string) int { return len(word) - strings.Count(word, "_") }

func abs(n int) int { return max(n, -n) }

// Distance counts the bytes to insert, remove, replace or swap with the next one to make b of a, as Nearest does. Words
// of more than 64 bytes have nothing near: the result is the sum of their lengths.
func Distance(a, b string) int {
	if len(a) > longest || len(b) > longest {
		return len(a) + len(b)
	}
	return distance(a, b)
}

// distance counts the bytes to insert, remove, replace or swap with a neighbour.
func distance(a, b string) int {
	// The rows of the table for all of a, for all but its last byte, and for all but its last two.
	var rows [3][longest + 1]int
	row, previous, before := &rows[0], &rows[1], &rows[2]
	for j := range len(b) {
		row[j+1] = row[j] + weight(b[j])
	}
	for i := range len(a) {
		row, previous, before = before, row, previous
		row[0] = previous[0] + weight(a[i])
		for j := range len(b) {
			replaced := previous[j]
			if lower(a[i]) != lower(b[j]) {
				replaced++
			}
			row[j+1] = min(replaced, previous[j+1]+weight(a[i]), row[j]+weight(b[j]))
			if i > 0 && j > 0 && lower(a[i]) == lower(b[j-1]) && lower(a[i-1]) == lower(b[j]) {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// weight is what it costs to insert or remove c.
func weight(c byte) int {
	if c == '_' {
		return 0
	}
	return 1
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
