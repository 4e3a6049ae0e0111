// Package decompose writes characters as others that look or mean the same: a ligature as its letters, a wide or
// mathematical letter as the plain one, a letter with an accent as the letter and the accent.
//
// That is the compatibility decomposition of Unicode (UAX #15, NFKD) of single characters. The table has what
// golang.org/x/text knows, and a test compares them, so that no adapter needs that module.
package decompose

import (
	"slices"
	"unicode/utf8"
)

// The syllables of Hangul are decomposed by arithmetic (Unicode §3.12).
const (
	hangulFirst, hangulLast   = 0xac00, 0xd7a3
	leadFirst, vowelFirst     = 0x1100, 0x1161
	trailBefore               = 0x11a7 // the first trailing consonant comes after it
	trailCount, syllableCount = 28, 588
)

// Append appends the decomposition of a character to dst, or the character itself where it has none. It brings the
// marks of several characters into no order.
func Append(dst []byte, r rune) []byte {
	if r < characters[0] {
		return utf8.AppendRune(dst, r)
	}
	if hangulFirst <= r && r <= hangulLast {
		n := r - hangulFirst
		dst = utf8.AppendRune(dst, leadFirst+n/syllableCount)
		dst = utf8.AppendRune(dst, vowelFirst+n%syllableCount/trailCount)
		if trail := n % trailCount; trail > 0 {
			dst = utf8.AppendRune(dst, trailBefore+trail)
		}
		return dst
	}
	i, found := slices.BinarySearch(characters[:], r)
	if !found {
		return utf8.AppendRune(dst, r)
	}
	start := uint16(0)
	if i > 0 {
		start = ends[i-1]
	}
	return append(dst, texts[start:ends[i]]...)
}
