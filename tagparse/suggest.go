package tagparse

import "strings"

// Suggest returns the candidate that a misspelt word most likely means. Case does not count; a word that is nothing like
// any candidate has no suggestion.
func Suggest(word string, candidates []string) (string, bool) {
	const longest = 40
	if word == "" || len(word) > longest {
		return "", false
	}
	best, bestDistance := "", 0
	for _, candidate := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(candidate))
		if d <= max(1, len(candidate)/3) && (best == "" || d < bestDistance) {
			best, bestDistance = candidate, d
		}
	}
	return best, best != ""
}

// distance is the number of bytes to insert, remove, replace or swap with a neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
