package loop

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The short way of the characters of ASCII leads where the long one does, whatever was before.
func TestShortWayOfASCII(t *testing.T) {
	all := cmp.AllowUnexported(normalizer{}, text{}, struct{ latin, other bool }{})
	for _, before := range []string{
		"", " ", "a", "Z", "7", "_", "-", "é", "语", "я", "я_", "я-", "\u200b", "a\u200b", "\u200d", "\n",
	} {
		for c := byte('!'); c <= '~'; c++ {
			var short, long normalizer
			short.space, long.space = true, true
			for _, r := range before {
				short.add(r)
				long.add(r)
			}
			short.addASCII(c)
			long.add(rune(c))
			if diff := cmp.Diff(long, short, all); diff != "" {
				t.Errorf("%q behind %q (-long +short)\n%s", c, before, diff)
			}
		}
	}
}
