package jsonvalue

import (
	"math/big"
	"strings"
	"testing"
)

// parseNumber takes JSON numbers exactly and nothing else, and is not made to compute enormous ones.
func FuzzParseNumber(f *testing.F) {
	for _, text := range []string{
		"0", "-1", "1.50", "1e3", "1e999999999", "9223372036854775808", "", " 1", "1 ", "0x10", "+1", "nul", "01", "1e-400",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, ok := ParseNumber(text)
		if !ok {
			return
		}
		if again, ok := new(big.Rat).SetString(text); !ok || again.Cmp(value) != 0 {
			t.Errorf("%q: got %s", text, value)
		}
		if strings.TrimLeft(text, "-0123456789.eE+") != "" {
			t.Errorf("%q is no JSON number", text)
		}
	})
}
