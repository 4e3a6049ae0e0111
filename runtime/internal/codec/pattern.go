package codec

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// pattern is a regular expression of package regexp. It is safe for concurrent use, and must not be copied.
//
// An adapter may have thousands of patterns, of which few are used: each is compiled when it is first matched. A simple
// one, such as ^[a-z][a-z0-9-]{2,62}$, is matched byte by byte, about ten times as fast as regexp does it.
type pattern struct {
	expression string
	once       sync.Once
	runs       []run          // of a simple expression
	general    *regexp.Regexp // of every other one
}

// newPattern checks an expression. The error is that of regexp.Compile.
func newPattern(expression string) (*pattern, error) {
	// The parser refuses everything that regexp.Compile refuses.
	if _, err := syntax.Parse(expression, syntax.Perl); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	return &pattern{expression: expression}, nil
}

// match reports whether s contains a match of the expression, as the method MatchString of regexp.Regexp does.
func (p *pattern) match(s string) bool {
	p.once.Do(p.compile)
	if p.general != nil {
		return p.general.MatchString(s)
	}
	return matchRuns(p.runs, s)
}

func (p *pattern) compile() {
	var simple bool
	if p.runs, simple = simpleRuns(p.expression); !simple {
		p.general = regexp.MustCompile(p.expression) // newPattern has checked it
	}
}

// run is a part of a simple expression: a set of ASCII characters, and how many of them may follow each other.
type run struct {
	set      [256]bool // by byte
	min, max int       // max is negative where there is no maximum
}

// matchRuns reports whether s consists of the runs. Each run takes as many bytes as it can: simpleRuns has made sure
// that no other choice could match.
func matchRuns(runs []run, s string) bool {
	for i := range runs {
		r := &runs[i]
		most := len(s)
		if r.max >= 0 {
			most = min(most, r.max)
		}
		n := 0
		for n < most && r.set[s[n]] {
			n++
		}
		if n < r.min {
			return false
		}
		s = s[n:]
	}
	return s == ""
}

// simpleRuns returns the runs of an expression, and whether it is simple: anchored at both ends, made of characters and
// sets of characters in ASCII with counts, and without a choice of where one run ends and the next begins.
func simpleRuns(expression string) (runs []run, simple bool) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil || parsed.Op != syntax.OpConcat {
		return nil, false
	}
	parts, last := parsed.Sub, len(parsed.Sub)-1
	if parts[0].Op != syntax.OpBeginText || parts[last].Op != syntax.OpEndText {
		return nil, false
	}
	for _, part := range parts[1:last] {
		if runs, simple = appendRuns(runs, part); !simple {
			return nil, false
		}
	}
	for i := range runs {
		if r := &runs[i]; r.min != r.max && i+1 < len(runs) && !r.endsBefore(&runs[i+1]) {
			return nil, false
		}
	}
	return runs, true
}

// endsBefore reports whether the first character of next cannot belong to r.
func (r *run) endsBefore(next *run) bool {
	for i := range r.set {
		if r.set[i] && next.set[i] {
			return false
		}
	}
	return next.min > 0
}

// appendRuns appends the runs of a literal or of a set, with its count if it has one.
func appendRuns(runs []run, part *syntax.Regexp) ([]run, bool) {
	least, most := 1, 1
	switch part.Op {
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		most = -1
	case syntax.OpQuest:
		least = 0
	case syntax.OpRepeat:
		least, most = part.Min, part.Max
	}
	if len(part.Sub) == 1 { // what the count is for
		part = part.Sub[0]
	}
	switch {
	case part.Op == syntax.OpCharClass:
		return appendRun(runs, part.Rune, least, most)
	case part.Op != syntax.OpLiteral, part.Flags&syntax.FoldCase != 0, len(part.Rune) > 1 && (least != 1 || most != 1):
		return nil, false
	}
	ok := true
	for i := 0; i < len(part.Rune) && ok; i++ {
		runs, ok = appendRun(runs, []rune{part.Rune[i], part.Rune[i]}, least, most)
	}
	return runs, ok
}

// appendRun appends a run of the characters in ranges, which lists the first and the last character of each.
func appendRun(runs []run, ranges []rune, least, most int) ([]run, bool) {
	r := run{min: least, max: most}
	for pair := range slices.Chunk(ranges, 2) {
		if pair[1] >= utf8.RuneSelf {
			return nil, false
		}
		for c := pair[0]; c <= pair[1]; c++ {
			r.set[c] = true
		}
	}
	return append(runs, r), true
}
