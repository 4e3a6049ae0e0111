package store_test

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
)

func TestPrefixEnd(t *testing.T) {
	for prefix, want := range map[string]string{
		"": "", "a": "b", "token/": "token0", "a\xff": "b", "a\xff\xff": "b", "\xff": "", "\xff\xff": "", "é": "\xc3\xaa",
	} {
		if got := store.PrefixEnd(prefix); string(got) != want {
			t.Errorf("PrefixEnd(%q) is %q, want %q", prefix, got, want)
		}
	}
}
