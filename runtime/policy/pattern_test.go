package policy_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/policy"
)

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "A", false}, {"a", "ab", false}, {"a", "", false},
		{"*", "", true}, {"*", "anything/at.all", true}, {"a*", "a", true}, {"a*", "ba", false},
		{"*_todo", "delete_todo", true}, {"*_todo", "delete_todos", false}, {"d*_t*o", "delete_to_todo", true},
		{"?", "", false}, {"?", "é", true}, {"?", "ab", false}, {"a?c", "aéc", true}, {"*?", "", false}, {"?*", "a", true},
		{"*é", "ééé", true}, {"a*b*c", "aXbYbZc", true}, {"a*b*c", "aXcYb", false}, {"*", "\xff", true}, {"?", "\xff", true},
		{"a.c", "abc", false}, {"*a*a*a*a*a*b", strings.Repeat("a", 10_000), false},
	} {
		if got := policy.Matches(tt.pattern, tt.text); got != tt.want {
			t.Errorf("%q matches %.40q: %v", tt.pattern, tt.text, got)
		}
	}
}

// reference is the definition of patterns, as short as it goes.
func reference(pattern, text []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(text) == 0
	case pattern[0] == '*':
		return reference(pattern[1:], text) || len(text) > 0 && reference(pattern, text[1:])
	}
	return len(text) > 0 && (pattern[0] == '?' || pattern[0] == text[0]) && reference(pattern[1:], text[1:])
}

func FuzzPattern(f *testing.F) {
	f.Add("a*b?c", "aXXbYc")
	f.Add("*é*", "aéb")
	f.Add("**?", "日本")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		got := policy.Matches(pattern, text)
		// The reference takes exponential time.
		if len(pattern) > 12 || len(text) > 24 || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		if want := reference([]rune(pattern), []rune(text)); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, text, got, want)
		}
	})
}
