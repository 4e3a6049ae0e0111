package words

import "testing"

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
	} {
		if got := FirstSentence(text); got != want {
			t.Errorf("the first sentence of %q is %q, want %q", text, got, want)
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
		"a\nb":               "a\uFFFDb",
		"a\u202eb":           "a\uFFFDb",
		"a\x1b[31m":          "a\uFFFD[31m",
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
