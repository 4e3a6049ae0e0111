//go:build !race

// The race detector empties the pools of package regexp at random.

package codec

import "testing"

func TestPatternMatchAllocatesNothing(t *testing.T) {
	for _, expression := range []string{`^[a-z][a-z0-9-]{2,62}$`, `^[\p{L}\p{N}-]+$`, `(?m)\bboard$`} {
		p := compilePattern(t, expression)
		for _, text := range []string{"quarterly-report-2026-for-the-board", "vierteljährlich-für-日本", "\xff"} {
			if allocated := testing.AllocsPerRun(100, func() { p.match(text) }); allocated > 0 {
				t.Errorf("%s on %q: %v allocations", expression, text, allocated)
			}
		}
	}
}
