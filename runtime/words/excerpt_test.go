package words_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/words"
)

// An excerpt has both ends of a text, and says how much is between them.
func TestExcerpt(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"empty":                       {"", ""},
		"as long as may be":           {"0123456789", "0123456789"},
		"longer":                      {"0123456789ab", "012345… (2 bytes left out) …89ab"},
		"no character is cut through": {"01234ää56ä89", "01234… (6 bytes left out) …ä89"},
		"bytes that are no text": {
			"\xff12345" + strings.Repeat("x", 90) + "678\xfe", "\ufffd12345… (90 bytes left out) …678\ufffd",
		},
		"bytes that begin no characters": {strings.Repeat("\x80", 20), "… (20 bytes left out) …"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := words.Excerpt(tt.text, 10); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
