// Package pattern matches strings against regular expressions as package regexp does, faster: an expression becomes a table
// once, in which every byte of a string is one look-up. What a table of modest size cannot express is left to regexp.
package pattern

import (
	"fmt"
	"regexp"
	"unicode/utf8"
)

// Pattern is a compiled expression. It is safe for concurrent use.
type Pattern struct {
	expression *regexp.Regexp
	machine    *machine // nil: the expression has none
}

// Compile compiles an expression of package regexp. The error is regexp's.
func Compile(expression string) (*Pattern, error) {
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	return &Pattern{compiled, newMachine(expression)}, nil
}

// String returns the expression.
func (p *Pattern) String() string { return p.expression.String() }

// Match reports whether the expression matches somewhere in s, as regexp's MatchString does.
func (p *Pattern) Match(s string) bool {
	m := p.machine
	if m == nil {
		return p.expression.MatchString(s)
	}
	if s == "" {
		return m.empty
	}
	state := m.start
	for i := 0; i < len(s) && state > matched; {
		if c := s[i]; c < utf8.RuneSelf {
			state = m.next[int(state)+int(m.class[c])]
			i++
			continue
		}
		char, size := utf8.DecodeRuneInString(s[i:])
		if state = m.next[int(state)+m.classes-1]; state == unclear || char == utf8.RuneError && size == 1 {
			return p.expression.MatchString(s)
		}
		i += size
	}
	return state == matched || state > matched && m.final[int(state)/m.classes]
}
