package aql

import (
	"cmp"
	"slices"
	"strings"
)

// nearest returns up to n candidates that a misspelt word may have meant, the most likely first.
func nearest(word string, candidates []string, n int) []string {
	type scored struct {
		name     string
		distance int
	}
	// A long word has no near neighbours and would make the comparison expensive.
	if len(word) > longestWord {
		return nil
	}
	var near []scored
	for _, candidate := range candidates {
		most := max(2, len(candidate)/3)
		if length := letters(candidate); len(candidate) > longestWord || max(length, letters(word))-min(length, letters(word)) > most {
			continue
		}
		if d := distance(word, candidate); d <= most {
			near = append(near, scored{candidate, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, s := range near[:min(n, len(near))] {
		names = append(names, s.name)
	}
	return names
}

// longestWord is the longest name that is compared, in bytes.
const longestWord = 64

// letters counts the bytes that count.
func letters(word string) int { return len(word) - strings.Count(word, "_") }

// distance counts the bytes to insert, remove or replace; letters that differ only in case, and '_', count nothing.
func distance(a, b string) int {
	var rows [2][longestWord + 1]int
	previous, current := &rows[0], &rows[1]
	for j := range b {
		previous[j+1] = previous[j] + weight(b[j])
	}
	for i := range len(a) {
		current[0] = previous[0] + weight(a[i])
		for j := range len(b) {
			replace := previous[j]
			if fold(a[i]) != fold(b[j]) {
				replace++
			}
			current[j+1] = min(replace, previous[j+1]+weight(a[i]), current[j]+weight(b[j]))
		}
		previous, current = current, previous
	}
	return previous[len(b)]
}

func weight(c byte) int {
	if c == '_' {
		return 0
	}
	return 1
}

func fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// mostSearches is for how many unknown operations of one request it is looked which ones may have been meant.
const mostSearches = 20

// closest lists up to ten operations that a name may have meant; when none is near, the first ten.
func (x *exchange) closest(name string) []string {
	names := x.adapter.names
	if x.searched++; x.searched <= mostSearches {
		if near := nearest(name, names, 10); len(near) > 0 {
			return near
		}
	}
	return names[:min(10, len(names))]
}
