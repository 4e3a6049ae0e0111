// Package pattern matches strings against regular expressions as package regexp does, faster: an expression becomes a table,
// in which every character of a string is one look-up. What a table of modest size cannot express is left to regexp.
package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
)

// Pattern is a compiled expression. It is safe for concurrent use, and must not be copied.
//
// Its table is made when a string is first matched: an adapter may have thousands of patterns, of which a run uses few.
type Pattern struct {
	expression string
	once       sync.Once
	machine    *machine
	general    *regexp.Regexp // where the expression has no machine
}

// Compile compiles an expression of package regexp. The error is regexp's.
func Compile(expression string) (*Pattern, error) {
	// Everything that regexp.Compile refuses is refused by the parser.
	if _, err := syntax.Parse(expression, syntax.Perl); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	return &Pattern{expression: expression}, nil
}

// String returns the expression.
func (p *Pattern) String() string { return p.expression }

// Match reports whether the expression matches somewhere in s, as regexp's MatchString does: bytes that are not UTF-8 count
// as U+FFFD each.
func (p *Pattern) Match(s string) bool {
	p.once.Do(p.prepare)
	if p.machine != nil {
		return p.machine.match(s)
	}
	return p.general.MatchString(s)
}

func (p *Pattern) prepare() {
	if p.machine = newMachine(p.expression); p.machine == nil {
		p.general = regexp.MustCompile(p.expression) // which the parser has accepted
	}
}
