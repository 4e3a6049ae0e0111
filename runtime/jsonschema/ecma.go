package jsonschema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
)

// ecma translates a Go expression into one that Go and the validators of JSON Schema (ECMA-262 with the flag u) read
// alike: Go has (?i), \pL, \z and [[:alpha:]], and its dot matches anything but a line feed. An expression that both
// read alike is returned as it is. It returns false if there is no such translation, as for the begin and the end of a
// line inside a text.
func ecma(expression string) (string, bool) {
	if readAlike().MatchString(expression) {
		return expression, true
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return "", false // the scanner has refused it
	}
	s := speller{ok: true}
	s.spell(parsed)
	return s.text.String(), s.ok
}

// readAlike matches expressions that consist only of what both read alike.
var readAlike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join([]string{
		`[A-Za-z0-9 _\-:;,!"#%&'@/=<>~` + "`" + `^$|)+*?\x{a0}-\x{d7ff}\x{e000}-\x{10ffff}]`, // the same in both
		`\((?:\?:|[^?]|\z)`, // a group, with what follows it
		`\\[dDwWbBtnrfv./()\[\]{}+*?^$|\\]`,
		`\{[0-9]+(?:,[0-9]*)?\}`,
		`\[\^?(?:` + classPart + `)+-?\]`,
	}, "|") + `)*$`)
})

// classPart matches a part of a character class: a range, a character, or a class escape that does not begin a range.
const classPart = `[A-Za-z0-9 _:;,!"#%'@/=<>.$|)(+*?{}](?:-[A-Za-z0-9])?|\\[dDwW]|\\[tnrfv./()\[\]{}+*?^$|\\\-]`

// speller writes an expression that was parsed.
type speller struct {
	text strings.Builder
	ok   bool
}

func (s *speller) spell(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		s.text.WriteString(`[^\s\S]`)
	case syntax.OpEmptyMatch:
		s.text.WriteString(`(?:)`)
	case syntax.OpLiteral:
		s.literal(re)
	case syntax.OpCharClass:
		s.class(re.Rune)
	case syntax.OpAnyCharNotNL:
		s.text.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		s.text.WriteString(`[\s\S]`)
	case syntax.OpBeginText:
		s.text.WriteByte('^')
	case syntax.OpEndText:
		s.text.WriteByte('$')
	case syntax.OpWordBoundary:
		s.text.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		s.text.WriteString(`\B`)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			s.part(sub, sub.Op == syntax.OpAlternate)
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				s.text.WriteByte('|')
			}
			s.spell(sub)
		}
	case syntax.OpCapture:
		s.part(re.Sub[0], true)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		s.repeat(re)
	default:
		s.ok = false
	}
}

func (s *speller) part(re *syntax.Regexp, group bool) {
	if !group {
		s.spell(re)
		return
	}
	s.text.WriteString("(?:")
	s.spell(re)
	s.text.WriteByte(')')
}

func (s *speller) repeat(re *syntax.Regexp) {
	sub := re.Sub[0]
	switch {
	case sub.Op == syntax.OpCharClass, sub.Op == syntax.OpAnyChar, sub.Op == syntax.OpAnyCharNotNL,
		sub.Op == syntax.OpCapture, sub.Op == syntax.OpLiteral && len(sub.Rune) == 1:
		s.spell(sub)
	default:
		s.part(sub, true)
	}
	switch {
	case re.Op == syntax.OpStar:
		s.text.WriteByte('*')
	case re.Op == syntax.OpPlus:
		s.text.WriteByte('+')
	case re.Op == syntax.OpQuest:
		s.text.WriteByte('?')
	case re.Max < 0:
		fmt.Fprintf(&s.text, "{%d,}", re.Min)
	case re.Min == re.Max:
		fmt.Fprintf(&s.text, "{%d}", re.Min)
	default:
		fmt.Fprintf(&s.text, "{%d,%d}", re.Min, re.Max)
	}
}

func (s *speller) literal(re *syntax.Regexp) {
	for _, r := range re.Rune {
		if re.Flags&syntax.FoldCase == 0 || unicode.SimpleFold(r) == r {
			s.char(r, false)
			continue
		}
		s.text.WriteByte('[')
		s.char(r, true)
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			s.char(other, true)
		}
		s.text.WriteByte(']')
	}
}

// class writes a character class. One that contains the first and the last character is written as a negated class.
func (s *speller) class(ranges []rune) {
	n := len(ranges)
	if n == 2 && ranges[0] == 0 && ranges[1] == unicode.MaxRune {
		s.text.WriteString(`[\s\S]`)
		return
	}
	s.text.WriteByte('[')
	if n > 2 && ranges[0] == 0 && ranges[n-1] == unicode.MaxRune {
		s.text.WriteByte('^')
		for i := 1; i+1 < n; i += 2 {
			s.between(ranges[i]+1, ranges[i+1]-1)
		}
	} else {
		for i := 0; i < n; i += 2 {
			s.between(ranges[i], ranges[i+1])
		}
	}
	s.text.WriteByte(']')
}

// between writes a range without the surrogates, which are not characters.
func (s *speller) between(low, high rune) {
	const firstSurrogate, lastSurrogate = 0xd800, 0xdfff
	if low <= lastSurrogate && high >= firstSurrogate {
		if low < firstSurrogate {
			s.between(low, firstSurrogate-1)
		}
		if high > lastSurrogate {
			s.between(lastSurrogate+1, high)
		}
		return
	}
	s.char(low, true)
	if high > low {
		if high > low+1 {
			s.text.WriteByte('-')
		}
		s.char(high, true)
	}
}

// char writes one character, inside or outside a class.
func (s *speller) char(r rune, class bool) {
	switch {
	case strings.ContainsRune(`./()[]{}+*?^$|\`, r), class && r == '-':
		s.text.WriteByte('\\')
		s.text.WriteRune(r)
	case r == '\n':
		s.text.WriteString(`\n`)
	case r == '\t':
		s.text.WriteString(`\t`)
	case r == '\r':
		s.text.WriteString(`\r`)
	case r < ' ' || r >= 0x7f && r < 0xa0:
		fmt.Fprintf(&s.text, `\x%02x`, r)
	default:
		s.text.WriteRune(r)
	}
}
