package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longestPattern bounds patterns, in bytes, and with it the time that matching takes.
const longestPattern = 256

// Matches reports whether a pattern matches the whole of a text: see Rule.
func Matches(pattern, text string) bool { return matches(pattern, text) }

// matches reports whether a pattern matches the whole of a text. It backtracks to the last * only. That is enough: an
// earlier * that matched more would leave less to the later ones. The time is bounded by the product of the lengths.
func matches(pattern, text string) bool {
	p, t := 0, 0
	star, resume := -1, 0 // offset after the last *, and the end of what it matches
	for t < len(text) {
		size := 1
		if text[t] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(text[t:])
		}
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			if p == len(pattern) {
				return true
			}
			star, resume = p, t
			continue
		case p < len(pattern) && pattern[p] == '?':
			p++
			t += size
			continue
		case p < len(pattern) && strings.HasPrefix(pattern[p:], text[t:t+size]):
			p += size
			t += size
			continue
		case star < 0:
			return false
		}
		_, size = utf8.DecodeRuneInString(text[resume:])
		resume += size
		p, t = star, resume
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchesAny reports whether one of the patterns matches.
func matchesAny(patterns []string, text string) bool {
	for _, p := range patterns {
		if matches(p, text) {
			return true
		}
	}
	return false
}

// matchesAll reports whether a pattern matches every text, even the empty one.
func matchesAll(pattern string) bool { return pattern != "" && strings.Trim(pattern, "*") == "" }

// checkPattern returns what is wrong with a pattern and at which character; empty: nothing. Characters that have a
// meaning in the patterns of other tools are refused: here they match themselves, and the pattern would silently match
// nothing.
func checkPattern(pattern string) (fault string, offset int) {
	switch {
	case pattern == "":
		return "the pattern is empty and would match nothing", 0
	case len(pattern) > longestPattern:
		return fmt.Sprintf("the pattern is longer than %d bytes", longestPattern), 0
	case !utf8.ValidString(pattern):
		return "the pattern is not valid UTF-8", 0
	}
	characters := []rune(pattern)
	for i, r := range characters {
		next := rune(0)
		if i+1 < len(characters) {
			next = characters[i+1]
		}
		if fault := checkCharacter(r, next); fault != "" {
			return fault, i
		}
	}
	return "", 0
}

// checkCharacter returns what is wrong with a character of a pattern, which another one follows.
func checkCharacter(r, next rune) string {
	switch {
	case !strconv.IsPrint(r):
		return fmt.Sprintf("%q cannot be printed; write ? for it", r)
	case r == '{' || r == '}':
		return fmt.Sprintf(`"%c" does not list alternatives here; write a pattern for each`, r)
	case r == '[' || r == ']':
		return fmt.Sprintf(`"%c" does not begin or end a set of characters here; write ? for any one character, `+
			`or a pattern for each`, r)
	case r == '!':
		return `"!" does not negate here; put the pattern under not, or write ? where the text has a !`
	case r == '^':
		return `"^" neither negates nor anchors here; put the pattern under not, or leave it out`
	case r == '\\':
		return `"\" escapes nothing here; write ? where the text has a special character`
	case r == '*' && next == '*':
		return `"**" means no more than * here; write *`
	}
	return ""
}
