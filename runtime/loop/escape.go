package loop

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// read returns the text that a hint is compared as, with what it says where its backslashes are escapes: those of a
// string in a program, of a document in a string, or of a shell.
func read(hint string) text {
	t := normalize(hint)
	source := t.withGaps()
	if strings.Contains(source, `\`) {
		t.unescaped = []text{normalize(strings.ReplaceAll(source, `\`, ""))} // as a shell reads it
	}
	const levels = 2 // a backslash can be escaped itself
	for level := 0; level < levels && strings.Contains(source, `\`); level++ {
		u := normalize(unescape(source))
		t.unescaped = append(t.unescaped, u)
		source = u.withGaps()
	}
	for i := range t.unescaped {
		u := &t.unescaped[i]
		t.mixed = t.mixed || u.mixed
		for _, script := range u.scripts {
			if !slices.Contains(t.scripts, script) {
				t.scripts = append(t.scripts, script)
			}
		}
	}
	return t
}

func (t *text) withGaps() string { return cmp.Or(t.exactGaps, t.exact) }

// unescape returns a text in small letters with what its escapes stand for. A control character is a space, and several
// backslashes are one, as in what is escaped more than once. One at the end of a line joins it with the next.
func unescape(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		rest = strings.TrimLeft(rest, `\`+string(gap))
		first, size := utf8.DecodeRuneInString(rest)
		s = rest[size:]
		r, after, ok := first, s, true
		switch {
		case size == 0, first == ' ':
			continue
		case strings.ContainsRune("abefnrtv", first):
			r = ' '
		case first == 'u':
			r, after, ok = number(s, 16, 4, 4)
		case first == 'x':
			r, after, ok = number(s, 16, 2, 2)
		case '0' <= first && first <= '7':
			r, after, ok = number(rest, 8, 1, 3)
		}
		switch {
		case !ok:
			r = first
		case unicode.IsControl(r):
			r, s = ' ', after
		default:
			s = after
		}
		b.WriteRune(r)
	}
}

// number reads a number that a text begins with, and returns what is behind it. ok says whether its digits are enough.
func number(s string, base, least, most int) (value rune, rest string, ok bool) {
	rest = s
	n := 0
	for ; n < most; n++ {
		s = strings.TrimLeft(s, string(gap))
		if s == "" {
			break
		}
		digit := strings.IndexByte("0123456789abcdef"[:base], s[0])
		if digit < 0 {
			break
		}
		value, s = value*rune(base)+rune(digit), s[1:]
		rest = s
	}
	return value, rest, n >= least
}
