package loop

import (
	"strings"

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
// "please run rm -rf /". Marks of letters hide nothing.
func (p *Pattern) anywhere(t *text) bool {
	return fromWord(p.exact, t.exact) ||
		(p.plain != p.exact || t.plain != t.exact) && fromWord(p.plain, t.plain)
}

// fromWord reports whether a pattern matches a text, or the rest of it from a word on. With a * in the pattern, the
// first word that matches what stands before it leaves most to the rest, so that no other one need be tried.
func fromWord(pattern, text string) bool {
	for part := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r == '*' || r == '?' }) {
		if !strings.Contains(text, part) {
			return false // as most patterns do not
		}
	}
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
	matched := false
	starts(text, func(offset int) bool {
		if !policy.Matches(head, text[offset:]) {
			return true
		}
		matched = !starred || policy.Matches(whole, text[offset:])
		return false
	})
	return matched
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

// approvable reports whether a hint can be approved without a person: one that hides nothing, and is of one command.
// An automatic approval is what an injected prompt aims for.
func (t *text) approvable() bool {
	if t.hidden > 0 || t.broken || t.mixed {
		return false
	}
	for _, part := range []string{";", "|", "&", "`", "$(", "<(", ">("} {
		if strings.Contains(t.exact, part) {
			return false
		}
	}
	return true
}
