package words

import (
	"regexp"
	"strings"
	"sync"
)

// Leak finds what a message to an agent must not disclose: a stack trace, a source file with a line, a Go type, an
// address in memory, the text of an error of a runtime, a database or a network, a connection string, a secret (MCP-AQL
// introspection §8.1.3). It returns what the first such part is, as in "a stack trace", and the part; both are empty
// if there is none. A sentence for people passes, whatever it mentions: "Seat 12A is taken at table 4" does.
func Leak(text string) (what, part string) {
	for i := range kinds {
		if part := kinds[i].find(text); part != "" {
			return kinds[i].what, part
		}
	}
	return "", ""
}

// StaticLeak returns the first part of a text in source that Leak finds, or that the protocol's conformance runner
// takes for a leak; empty if there is none. The runner's patterns have no word boundaries: in "What has" they find "at
// has". A text in source can avoid them. One that is made while a request runs cannot, so Leak does without them.
func StaticLeak(text string) string {
	if part := runnerLeaks.FindString(text); part != "" {
		return part
	}
	_, part := Leak(text)
	return part
}

// runnerLeaks are the patterns of the protocol's conformance runner, as they stand there.
var runnerLeaks = regexp.MustCompile(`(?i)typeerror|referenceerror|syntaxerror|at\s+\S+|/src/|/node_modules/` +
	`|\.ts:\d+|\.js:\d+`)

// kind is a kind of leaks.
type kind struct {
	what     string // as a log names it
	marks    []string
	patterns []pattern
}

// pattern is a regular expression for texts that have a mark. To look for a mark takes a hundredth of the time.
type pattern struct{ mark, expr string }

// find returns the first part of a text that is a leak of this kind; empty: there is none.
func (k *kind) find(text string) string {
	for _, mark := range k.marks {
		if strings.Contains(text, mark) {
			return mark
		}
	}
	for _, p := range k.patterns {
		if strings.Contains(text, p.mark) {
			if part := compile(p.expr).FindString(text); part != "" {
				return part
			}
		}
	}
	return ""
}

// compiled holds the patterns that some text has needed.
var compiled sync.Map // of expression to *regexp.Regexp

func compile(expr string) *regexp.Regexp {
	if known, ok := compiled.Load(expr); ok {
		return known.(*regexp.Regexp)
	}
	found := regexp.MustCompile("(?m)" + expr)
	compiled.Store(expr, found)
	return found
}
