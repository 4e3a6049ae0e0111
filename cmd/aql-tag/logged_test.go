package main

import (
	"strings"
	"testing"
)

// Of what a command logs, the beginning and the end are shown, and that something between them is not.
func TestLogged(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":  {"", ""},
		"one line": {"no such flag\n", "  | no such flag\n"},
		"all of what is short enough": {
			strings.Repeat("a line\n", 600), strings.Repeat("  | a line\n", 600),
		},
		"both ends of more": {
			"no such flag\n" + strings.Repeat(".", longestBegin-14) + "\n" + strings.Repeat("a line of usage\n", 1000),
			"  | no such flag\n  | " + strings.Repeat(".", longestBegin-14) + "\n  | …\n  | …" +
				strings.Repeat("a line of usage\n  | ", longestEnd/16-1) + "a line of usage\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, 1 << 20} {
				var l logged
				for rest := tt.text; rest != ""; {
					n, err := l.Write([]byte(rest[:min(size, len(rest))]))
					if err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				var got strings.Builder
				if l.print(&got); got.String() != tt.want {
					t.Errorf("written in parts of %d bytes: %q", size, got.String())
				}
			}
		})
	}
}
