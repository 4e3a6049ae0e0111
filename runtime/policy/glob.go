package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longestPattern bounds patterns, in bytes: with the texts that they are held against it bounds the time that takes.
const longestPattern = 256

// matches reports whether a pattern matches the whole of a text. It goes back to the last * alone, which is enough
// because an earlier one that took more could only leave less to the later ones: the time is bounded by the product of
// the lengths.
func matches(pattern, text string) bool {
	p, t := 0, 0
	star, resume := -1, 0 // behind the last *, and how far it has taken the text
	for t < len(text) {
		size := 1
		if text[t] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(text[t:])
		}
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
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

// everything reports whether a pattern matches every text, even the empty one.
func everything(pattern string) bool { return pattern != "" && strings.Trim(pattern, "*") == "" }

// patternFault says what is wrong with a pattern, and how many characters into it. What other tools take for more than a
// character is refused: here it would silently match nothing.
func patternFault(pattern string) (fault string, offset int) {
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
		if !strconv.IsPrint(r) {
			return fmt.Sprintf("%q cannot be printed; write ? for it", r), i
		}
		switch r {
		case '{', '}':
			return fmt.Sprintf(`"%c" does not list alternatives here; write a pattern for each`, r), i
		case '[', ']':
			return fmt.Sprintf(`"%c" does not begin or end a set of characters here; write ? for any one character, or a pattern for each`, r), i
		case '!':
			return `"!" does not negate here; put the pattern under not, or write ? where the text has a !`, i
		case '^':
			return `"^" neither negates nor anchors here; put the pattern under not, or leave it out`, i
		case '\\':
			return `"\" escapes nothing here; write ? where the text has a special character`, i
		case '*':
			if i+1 < len(characters) && characters[i+1] == '*' {
				return `"**" means no more than * here; write *`, i
			}
		}
	}
	return "", 0
}
