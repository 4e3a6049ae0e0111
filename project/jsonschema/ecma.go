package jsonschema

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// ecma spells an expression of Go so that expressions of JSON Schema (ECMA-262) and of Go itself both read it as it was meant:
// those of Go have (?i), \pL, \z and [[:alpha:]], and a dot that is anything but a line feed. What both read alike stays as it
// was written.
func ecma(expression string) string {
	if expression == "" || readAlike(expression) {
		return expression
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return expression // the scanner has refused it
	}
	var b strings.Builder
	spell(&b, parsed.Simplify())
	return b.String()
}

// readAlike reports whether an expression holds nothing that the two read in two ways.
func readAlike(expression string) bool {
	class := false
	for i := 0; i < len(expression); i++ {
		switch c := expression[i]; {
		case c == '\\':
			i++
			if i == len(expression) || !strings.ContainsRune(`dDwWbBtnrfv.-/()[]{}+*?^$|\`, rune(expression[i])) {
				return false
			}
			if class && strings.ContainsRune("bB", rune(expression[i])) {
				return false
			}
		case class:
			if c == '[' {
				return false
			}
			class = c != ']'
		case c == '[':
			class = true
			if rest := expression[i+1:]; strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "^]") {
				return false
			}
		case c == '.', c == '(' && strings.HasPrefix(expression[i:], "(?") && !strings.HasPrefix(expression[i:], "(?:"):
			return false
		}
	}
	return true
}

func spell(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		b.WriteString(`[^\x00-` + "\U0010FFFF" + `]`)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 && unicode.SimpleFold(r) != r {
				b.WriteByte('[')
				spellRune(b, r)
				for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
					spellRune(b, other)
				}
				b.WriteByte(']')
				continue
			}
			spellRune(b, r)
		}
	case syntax.OpCharClass:
		spellClass(b, re.Rune)
	case syntax.OpAnyCharNotNL:
		b.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		b.WriteString(`[\s\S]`)
	case syntax.OpBeginText:
		b.WriteByte('^')
	case syntax.OpEndText:
		b.WriteByte('$')
	case syntax.OpBeginLine:
		b.WriteString(`(?:^|\n)`) // of no use in a pattern of one value, and close enough to it
	case syntax.OpEndLine:
		b.WriteString(`(?:$|\n)`)
	case syntax.OpWordBoundary:
		b.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		b.WriteString(`\B`)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			spellPart(b, sub, sub.Op == syntax.OpAlternate)
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				b.WriteByte('|')
			}
			spell(b, sub)
		}
	case syntax.OpCapture:
		spellPart(b, re.Sub[0], true)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		sub := re.Sub[0]
		single := sub.Op == syntax.OpCharClass || sub.Op == syntax.OpLiteral && len(sub.Rune) == 1 || sub.Op == syntax.OpCapture || sub.Op == syntax.OpAnyChar || sub.Op == syntax.OpAnyCharNotNL
		spellPart(b, sub, !single)
		b.WriteString(map[syntax.Op]string{syntax.OpStar: "*", syntax.OpPlus: "+", syntax.OpQuest: "?"}[re.Op])
	}
}

func spellPart(b *strings.Builder, re *syntax.Regexp, group bool) {
	if !group {
		spell(b, re)
		return
	}
	b.WriteString("(?:")
	spell(b, re)
	b.WriteByte(')')
}

// spellClass spells ranges of characters. Those that are more than half of all are spelled by what they leave out.
func spellClass(b *strings.Builder, ranges []rune) {
	b.WriteByte('[')
	if n := len(ranges); n > 0 && ranges[0] == 0 && ranges[n-1] == unicode.MaxRune && n > 2 {
		b.WriteByte('^')
		for i := 1; i+1 < n; i += 2 {
			spellRange(b, ranges[i]+1, ranges[i+1]-1)
		}
	} else {
		for i := 0; i < n; i += 2 {
			spellRange(b, ranges[i], ranges[i+1])
		}
	}
	b.WriteByte(']')
}

func spellRange(b *strings.Builder, low, high rune) {
	spellRune(b, low)
	if high > low {
		if high > low+1 {
			b.WriteByte('-')
		}
		spellRune(b, high)
	}
}

// spellRune spells one character, inside of a class or outside.
func spellRune(b *strings.Builder, r rune) {
	const hex = "0123456789abcdef"
	switch {
	case strings.ContainsRune(`.-/()[]{}+*?^$|\`, r):
		b.WriteByte('\\')
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == '\r':
		b.WriteString(`\r`)
	case r < ' ' || r >= 0x7f && r < 0xa0:
		b.WriteString(`\x` + string(hex[r>>4]) + string(hex[r&15]))
	default:
		b.WriteRune(r)
	}
}
