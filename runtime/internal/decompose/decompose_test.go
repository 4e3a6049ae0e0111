package decompose_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/internal/decompose"
)

func TestAppend(t *testing.T) {
	for text, want := range map[string]string{
		"rm":     "rm",
		"ｒｍ":     "rm",                 // wide
		"𝓭𝕣":     "dr",                 // mathematical
		"ﬁ":      "fi",                 // a ligature
		"Å":      "A\u030a",            // the unit of length
		"é":      "e\u0301",            // with an accent
		"ⅳ":      "iv",                 // a numeral
		"한":      "\u1112\u1161\u11ab", // a syllable
		"하":      "\u1112\u1161",
		"힣":      "\u1112\u1175\u11c2",
		"\u00a0": " ",
		"﷼":      "ریال",
		"日本":     "日本",
	} {
		var got []byte
		for _, r := range text {
			got = decompose.Append(got, r)
		}
		if string(got) != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// What comes out is UTF-8, and is its own decomposition.
func TestDecompositionsAreComplete(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		once := decompose.Append(nil, r)
		var twice []byte
		for _, part := range string(once) {
			twice = decompose.Append(twice, part)
		}
		if !utf8.Valid(once) || string(once) != string(twice) {
			t.Fatalf("%U is %q, and then %q", r, once, twice)
		}
	}
}
