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

// mostMistakes is how many mistakes are told; the rest of a file with more of them is likely no policy at all.
const mostMistakes = 100

// findings collects the mistakes of one policy.
type findings struct {
	policy *Policy
	list   Mistakes
	failed map[place]bool // keys whose values could not be read, and that need no second mistake for being empty
	broken map[int]bool   // rules with such a key
}

func (f *findings) add(at place, format string, args ...any) { f.addIn(at, -1, format, args...) }

// addIn adds a mistake that stands so many characters into the text at a place; less than 0: it is the whole value.
func (f *findings) addIn(at place, offset int, format string, args ...any) {
	m := Mistake{Message: fmt.Sprintf(format, args...)}
	if at.rule >= 0 {
		if at.rule < len(f.policy.Rules) {
			m.Rule = clip(f.policy.Rules[at.rule].Name)
		}
		if m.Rule == "" {
			m.Rule = fmt.Sprintf("number %d", at.rule+1)
		}
	}
	if f.policy.places != nil {
		p := f.policy.find(at)
		m.File, m.Line, m.Column = f.policy.name, p.line, p.column
		if p.verbatim && offset >= 0 {
			m.Column += p.quote + offset
		}
	} else if at.key != "" {
		m.Message = at.path() + ": " + m.Message
	}
	f.list = append(f.list, m)
}

// find is where something stands, or the nearest thing around it that has a place.
func (p *Policy) find(at place) textPlace {
	around := []place{at, at.at(-1)}
	if at.key != "" {
		key, _, _ := strings.Cut(at.key, ".")
		around = append(around, at.sibling(key), at.sibling(""))
	}
	if at.when >= 0 {
		around = append(around, ofRule(at.rule, "when").at(at.when), ofRule(at.rule, "when"))
	}
	if at.rule >= 0 {
		around = append(around, ofRule(at.rule, ""), ofPolicy("rules"))
	}
	for _, candidate := range around {
		if found, ok := p.places[candidate]; ok {
			return found
		}
	}
	return textPlace{line: 1, column: 1}
}

// path is a place as it is written in Go policies' mistakes.
func (p place) path() string {
	text := p.key
	if p.item >= 0 {
		text = fmt.Sprintf("%s[%d]", text, p.item)
	}
	if p.when >= 0 {
		text = fmt.Sprintf("when[%d].%s", p.when, text)
	}
	return text
}

// fail notes that a key's value could not be read.
func (f *findings) fail(at place) {
	if f.failed == nil {
		f.failed, f.broken = make(map[place]bool), make(map[int]bool)
	}
	f.failed[at.at(-1)] = true
	f.broken[at.rule] = true
}

// err is the error of what was found, nil where that is nothing.
func (f *findings) err() error {
	if len(f.list) == 0 {
		return nil
	}
	slices.SortStableFunc(f.list, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	f.list = slices.Compact(f.list)
	if len(f.list) > mostMistakes {
		last := f.list[mostMistakes]
		last.Message = fmt.Sprintf("and %d more mistakes, from here on", len(f.list)-mostMistakes)
		f.list = append(f.list[:mostMistakes:mostMistakes], last)
	}
	return f.list
}

// meant is "; did you mean X?" for the candidate that a misspelt word most likely means, or else a list of what there is.
func meant[S ~string](word string, candidates []S) string {
	if found, ok := nearest(word, candidates); ok {
		return fmt.Sprintf("; did you mean %s?", found)
	}
	const most = 12
	if len(candidates) == 0 {
		return ""
	}
	var list []string
	for _, c := range candidates[:min(most, len(candidates))] {
		list = append(list, string(c))
	}
	if len(candidates) > most {
		list = append(list, "…")
	}
	return "; there is " + strings.Join(list, ", ")
}

// nearest returns the candidate that a word most likely means.
func nearest[S ~string](word string, candidates []S) (S, bool) {
	names := make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = string(c)
	}
	found := words.Nearest(word, names, 1)
	if len(found) == 0 {
		return "", false
	}
	return S(found[0]), true
}
