package words

import (
	"strings"
	"testing"
)

func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"Which todo":                           "Which todo",
		"Which todo. Never shown.":             "Which todo.",
		"Which\n todo.\nNever shown.":          "Which todo.",
		"Which todo\n\nNever shown.":           "Which todo",
		"The key, e.g. todo_1. Never shown.":   "The key, e.g. todo_1.",
		"Item no. 5 or later.":                 "Item no. 5 or later.",
		"One":                                  "One",
		"One. Two.":                            "One.",
		"One, e.g. Two. Three":                 "One, e.g. Two.",
		"Eins. Über zwei":                      "Eins.",
		"Calls no. 5 of them. See":             "Calls no. 5 of them.",
		"Version 1.2 works. See there":         "Version 1.2 works.",
		"Wraps\nlines\n\nNext paragraph":       "Wraps lines",
		"Goes on. even so, when small. Ends. ": "Goes on. even so, when small.",
		"Ends with dots...":                    "Ends with dots...",
		// B12
		"A code, i.e. Two letters. More":        "A code, i.e. Two letters.",
		"A code (e.g. DE). More":                "A code (e.g. DE).",
		"Sizes, colours etc. are kept. More":    "Sizes, colours etc. are kept.",
		"Sizes, colours, etc. More":             "Sizes, colours, etc.",
		"Sold in the U.S. Virgin Islands. More": "Sold in the U.S. Virgin Islands.",
		"One vs. Two. More":                     "One vs. Two.",
		"Needs version 1.2. More":               "Needs version 1.2.",
		"See example.com. More":                 "See example.com.",
		"Is it open? More":                      "Is it open?",
		"Removes it (for good.) More":           "Removes it (for good.)",
		"Says \"done.\" More":                   "Says \"done.\"",
		"J. Smith wrote it. More":               "J. Smith wrote it.",
	} {
		if got := FirstSentence(text); got != want {
			t.Errorf("the first sentence of %q is %q, want %q", text, got, want)
		}
	}
}

// T-112: what cannot be seen, or changes how other characters look, is escaped; everything else stays.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"größer, 大きい, 😀, e\u0301":        "größer, 大きい, 😀, e\u0301",
		"zero\u200bwidth\u200d\ufeff":    `zero\u200bwidth\u200d\ufeff`,
		"\u202eturned\u2066\u061c":       `\u202eturned\u2066\u061c`,
		"\x1b[31mred\x1b]8;;\x07\u009b":  `\u001b[31mred\u001b]8;;\u0007\u009b`,
		"a\r\n\tb\u2028\u2029\u0085":     `a\u000d\u000a\u0009b\u2028\u2029\u0085`,
		"a\u00a0b\u3000c\u00adc":         `a\u00a0b\u3000c\u00adc`,
		"\u3164\u115f\u2800\ufe0f\u034f": `\u3164\u115f\u2800\ufe0f\u034f`,
		"a\U000e0041\U000e0101":          `a\U000e0041\U000e0101`,
		"\xff":                           "\uFFFD",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"six me":             "six me",
		"seven m":            "seven …",
		"äöüßéè":             "äöüßéè",
		"äöüßéèà":            "äöüßéè…",
		"a\nb":               `a\u000ab`,
		"a\u202eb":           `a\u202eb`,
		"a\x1b[31m":          `a\u001b[31m`,
		"\xff":               "\uFFFD",
		"\xff\xff\xff\xffab": "\uFFFD\uFFFD\uFFFD\uFFFDab",
	} {
		if got := Clip(text, 6); got != want {
			t.Errorf("%q clipped to six characters is %q, want %q", text, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 items", 1: "1 item", 2: "2 items"} {
		if got := Count(n, "item"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// C12, T-55: a reader sees where a value in a sentence begins and ends, whatever the value is.
func TestQuote(t *testing.T) {
	for _, tt := range []struct {
		value string
		mark  rune
		want  string
	}{
		{"n1", 0, "n1"},
		{"", 0, ""},
		{"ann@example.com", 0, "ann@example.com"},
		{"Pat Smith", 0, "“Pat Smith”"},
		{"Pat Smith", '\'', "Pat Smith"},
		{"x? Nothing is deleted. Approve", 0, "“x? Nothing is deleted. Approve”"},
		{"x'? Nothing is deleted. Approve 'y", '\'', "“x'? Nothing is deleted. Approve 'y”"},
		{"x” and “y", 0, `“x\u201d and \u201cy”`},
		{"x” and “y", '”', `“x\u201d and \u201cy”`},
		{`x" and "y`, '\'', `x" and "y`},
		{"x” and “y", '"', `“x\u201d and \u201cy”`}, // marks that look alike
		{"x’ and ‘y", '\'', "“x’ and ‘y”"},
		{"x' and 'y", '’', "“x' and 'y”"},
		{"x´ and ʼy", '`', "“x´ and ʼy”"},
		{"x》 and 《y", '»', "“x》 and 《y”"},
		{"Ann's", '"', "Ann's"},
		{"x\"y", 0, `“x\u0022y”`},
		{"x\u3000y", 0, `x\u3000y`},
		{"x\u202ey\n", 0, `x\u202ey\u000a`},
		{strings.Repeat("x ", 50), 0, "“" + strings.Repeat("x ", 20) + "…”"},
	} {
		if got := Quote(tt.value, 40, tt.mark); got != tt.want {
			t.Errorf("%q before %q: %q, want %q", tt.value, tt.mark, got, tt.want)
		}
	}
}
