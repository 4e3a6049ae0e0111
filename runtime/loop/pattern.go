package loop

import (
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/policy"
)

// Pattern is a pattern of actions. As in the rules of a policy, * matches any number of characters and ? matches one.
type Pattern struct {
	written string
	text
}

// Patterns prepares patterns.
func Patterns(written ...string) []Pattern {
	list := make([]Pattern, len(written))
	for i, w := range written {
		list[i] = Pattern{written: w, text: normalize(w)}
	}
	return list
}

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.written }

// whole reports whether the pattern matches all of a hint.
func (p *Pattern) whole(t *text) bool { return policy.Matches(p.exact, t.exact) }

// anywhere reports whether the pattern matches a hint, or what it has from a word on: the pattern "rm -rf*" finds
// "please run rm -rf /". Marks of letters hide nothing, and neither do escapes and invisible characters: each of these
// may be nothing, or the space between two words.
func (p *Pattern) anywhere(t *text) bool {
	if p.in(t) {
		return true
	}
	for i := range t.unescaped {
		if p.in(&t.unescaped[i]) {
			return true
		}
	}
	return false
}

// in reports what anywhere does of one reading of a hint.
func (p *Pattern) in(t *text) bool {
	return found(p.exact, t.exact, t.exactGaps) ||
		(p.plain != p.exact || t.plain != t.exact) && found(p.plain, t.plain, t.plainGaps)
}

// found reports whether a pattern matches a text, which also may have gaps, or the rest of it from a word on.
func found(pattern, text, gaps string) bool {
	for part := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r == '*' || r == '?' || r == ' ' }) {
		if !strings.Contains(text, part) {
			return false // as most patterns do not
		}
	}
	if gaps != "" {
		return throughGaps(pattern, gaps)
	}
	return fromWord(pattern, text)
}

// edgesFor returns where what a pattern matches can begin. A pattern of several words also finds what stands behind an
// underscore within a word. For a pattern of one word that would be a part of a name: "list_deleted" deletes nothing.
func edgesFor(pattern string) edges { return edges{within: strings.Contains(pattern, " ")} }

// fromWord reports whether a pattern matches a text, or the rest of it from a word on. With a * in the pattern, the
// first word that matches what stands before it leaves most to the rest, so that no other one need be tried.
func fromWord(pattern, text string) bool {
	head, _, starred := strings.Cut(pattern, "*")
	if pattern == "" {
		return false
	}
	if head == "" {
		return policy.Matches(pattern, text)
	}
	whole := pattern
	if starred {
		head += "*"
	}
	words := edgesFor(pattern)
	for offset, r := range text {
		if words.begins(r) && policy.Matches(head, text[offset:]) {
			return !starred || policy.Matches(whole, text[offset:])
		}
	}
	return false
}

// throughGaps reports what fromWord does of a text with gaps, each of which is nothing or a space. It follows all ways
// through the pattern at once.
func throughGaps(pattern, text string) bool {
	if pattern == "" {
		return false
	}
	signs := []rune(pattern)
	at, next := make([]bool, len(signs)+1), make([]bool, len(signs)+1)
	// reach adds an offset of the pattern, and those behind each * there, which may match nothing.
	reach := func(set []bool, i int) {
		for set[i] = true; i < len(signs) && signs[i] == '*'; set[i] = true {
			i++
		}
	}
	words := edgesFor(pattern)
	for _, r := range text {
		if words.begins(r) {
			reach(at, 0)
		}
		clear(next)
		seen := r
		if r == gap {
			copy(next, at)
			seen = ' '
		}
		for i, reached := range at[:len(signs)] {
			switch {
			case !reached:
			case signs[i] == '*':
				reach(next, i)
			case signs[i] == '?', signs[i] == seen:
				reach(next, i+1)
			}
		}
		at, next = next, at
	}
	return at[len(signs)]
}

// first returns the first of the patterns that matches; nil: none does.
func first(list []Pattern, matches func(*Pattern) bool) *Pattern {
	for i := range list {
		if matches(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// approves reports whether the pattern, which matches all of a hint, approves of it without a person: the hint hides
// nothing, is of one command, and has no characters outside ASCII but those of the pattern. An automatic approval is
// what an injected prompt aims for.
func (p *Pattern) approves(t *text, hint string) bool {
	if t.hidden > 0 || t.broken || t.mixed || strings.ContainsAny(t.plain, ";|&`$<>\\") {
		return false
	}
	for _, r := range hint {
		if r >= utf8.RuneSelf && !strings.ContainsRune(p.written, r) {
			return false
		}
	}
	return true
}
