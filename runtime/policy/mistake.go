package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// Mistake is one thing that is wrong with a policy.
type Mistake struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1; 0: the policy was made in Go
	Column  int    `json:"column,omitempty"` // from 1, in characters
	Rule    string `json:"rule,omitempty"`   // its name, or "number 3" where it has none; empty: no rule's mistake
	Message string `json:"message"`
}

// Error is `file:line:column: message`, or the name of the rule in place of the position.
func (m Mistake) Error() string {
	switch {
	case m.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Message)
	case m.Rule != "":
		return "rule " + m.Rule + ": " + m.Message
	}
	return m.Message
}

// Mistakes is everything that is wrong with a policy, in the order of the file. Parse and Bind fail with it.
type Mistakes []Mistake

// Error has a line for each mistake.
func (m Mistakes) Error() string {
	var b strings.Builder
	for i, mistake := range m {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(mistake.Error())
	}
	return b.String()
}

// mostMistakes is how many mistakes Err keeps; a file with more of them is likely no policy at all.
const mostMistakes = 100

// Err returns the mistakes as an error, and nil if there are none: in the order of the file, without repetitions, and
// no more than the first hundred with the number of the others.
func (m Mistakes) Err() error {
	if len(m) == 0 {
		return nil
	}
	m = m.sorted()
	if len(m) > mostMistakes {
		last := m[mostMistakes]
		last.Message = fmt.Sprintf("and %d more mistakes, from here on", len(m)-mostMistakes)
		m = append(m[:mostMistakes:mostMistakes], last)
	}
	return m
}

// sorted returns the mistakes in the order of the file, without repetitions.
func (m Mistakes) sorted() Mistakes {
	m = slices.Clone(m)
	slices.SortStableFunc(m, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(m)
}

// Mistake returns a mistake in a part of the policy, with the rule and the place in the file. offset is that of
// Source.Position.
func (p *Policy) Mistake(part Part, offset int, message string) Mistake {
	m := Mistake{Message: message}
	if part.Rule >= 0 {
		if part.Rule < len(p.Rules) {
			m.Rule = clip(p.Rules[part.Rule].Name)
		}
		if m.Rule == "" {
			m.Rule = fmt.Sprintf("number %d", part.Rule+1)
		}
	}
	if p.Source != nil {
		m.File = p.Source.Name()
		m.Line, m.Column = p.Source.Position(part, offset)
	} else if part.Key != "" {
		m.Message = part.path() + ": " + message
	}
	return m
}

// findings collects the mistakes of one policy.
type findings struct {
	policy *Policy
	list   Mistakes
	unread map[Part]bool // parts that could not be read, and need no second mistake for being empty
	// incomplete are the rules with such a part.
	incomplete map[int]bool
	// warnings are what may be meant otherwise, but does not keep the policy from being used.
	warnings Mistakes
}

func (f *findings) warn(part Part, format string, args ...any) {
	f.warnings = append(f.warnings, f.policy.Mistake(part, -1, fmt.Sprintf(format, args...)))
}

func (f *findings) add(part Part, format string, args ...any) { f.addIn(part, -1, format, args...) }

// addIn adds a mistake that begins so many characters into the text of a part; less than 0: it is the whole value.
func (f *findings) addIn(part Part, offset int, format string, args ...any) {
	f.list = append(f.list, f.policy.Mistake(part, offset, fmt.Sprintf(format, args...)))
}

// suggest returns "; did you mean X?" for the candidate that a misspelt word most likely means, or else a list of the
// candidates.
func suggest[S ~string](word string, candidates []S) string {
	return words.Suggest(word, texts(candidates))
}

// nearest returns the candidate that a word most likely means.
func nearest[S ~string](word string, candidates []S) (S, bool) {
	near := words.Nearest(word, texts(candidates), 1)
	if len(near) == 0 {
		return "", false
	}
	return S(near[0]), true
}

func texts[S ~string](list []S) []string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = string(s)
	}
	return texts
}

// longestQuote bounds what a message quotes, in characters.
const longestQuote = 60

// clip makes a text of one short line.
func clip(text string) string { return words.Clip(text, longestQuote) }
