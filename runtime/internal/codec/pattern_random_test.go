package codec

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"
)

// A random expression matches what regexp matches. Half of the expressions are anchored runs, of which most are simple.
func TestRandomExpressions(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	simple, matches, tries := 0, 0, 0
	for i := range 5000 {
		expression, text := randomRuns(random), randomRunText
		if i%2 == 0 {
			expression, text = randomExpression(random, 1+random.IntN(4)).String(), randomText
		}
		want, err := regexp.Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		p := compilePattern(t, expression)
		for range 30 {
			s := text(random)
			matched := want.MatchString(s)
			if p.match(s) != matched {
				t.Fatalf("%q on %q: %v", expression, s, !matched)
			}
			if tries++; matched {
				matches++
			}
		}
		if p.general == nil {
			simple++
		}
	}
	if simple < 1000 || simple > 4000 || matches < tries/10 || matches > tries*9/10 {
		t.Errorf("%d expressions were simple, and %d of %d strings matched: this tests little", simple, matches, tries)
	}
}

// randomRuns returns an expression of sets with counts between anchors.
func randomRuns(r *rand.Rand) string {
	sets := []string{`a`, `b`, `-`, `ab`, `[a-b]`, `[ab-]`, `[^\x00-a\x7f-\x{10FFFF}]`, `\d`, `(?:a)`}
	counts := []string{``, ``, `*`, `+`, `?`, `+?`, `{0}`, `{1}`, `{2}`, `{0,2}`, `{1,3}`, `{2,}`}
	expression := "^"
	for range r.IntN(5) {
		expression += sets[r.IntN(len(sets))] + counts[r.IntN(len(counts))]
	}
	return expression + "$"
}

func randomRunText(r *rand.Rand) string {
	const some = "aaaaabbbbb--1\x7f\n\xc3\xa9\xff" // é and a byte that is not UTF-8 among them
	text := make([]byte, r.IntN(6))
	for i := range text {
		text[i] = some[r.IntN(len(some))]
	}
	return string(text)
}

// patternLetters are those of random expressions and strings: some that conditions, folding and encoding treat in
// ways of their own.
var patternLetters = []rune{
	'a', 'b', 'K', '\u212a', 'é', 'É', '1', '_', '\n', ' ', '日', utf8.RuneError, '\U0001f600', utf8.MaxRune,
}

func randomExpression(r *rand.Rand, depth int) *syntax.Regexp {
	flags := syntax.Flags(0)
	if r.IntN(6) == 0 {
		flags = syntax.FoldCase
	}
	if r.IntN(3) == 0 {
		flags |= syntax.NonGreedy
	}
	re := &syntax.Regexp{Flags: flags}
	sub := func() *syntax.Regexp { return randomExpression(r, depth-1) }
	if depth <= 0 {
		switch r.IntN(16) {
		case 0:
			re.Op = syntax.OpEmptyMatch
		case 1:
			re.Op = syntax.OpBeginText
		case 2:
			re.Op = syntax.OpEndText
		case 3:
			re.Op = syntax.OpBeginLine
		case 4:
			re.Op = syntax.OpEndLine
		case 5:
			re.Op = syntax.OpWordBoundary
		case 6:
			re.Op = syntax.OpNoWordBoundary
		case 7:
			re.Op = syntax.OpAnyChar
		case 8:
			re.Op = syntax.OpAnyCharNotNL
		case 9, 10, 11:
			return parsed(randomClass(r))
		default:
			re.Op = syntax.OpLiteral
			for range 1 + r.IntN(2) {
				re.Rune = append(re.Rune, patternLetters[r.IntN(len(patternLetters))])
			}
		}
		return re
	}
	switch r.IntN(10) {
	case 0, 1:
		re.Op = syntax.OpAlternate
		re.Sub = []*syntax.Regexp{sub(), sub()}
	case 2:
		re.Op, re.Sub = syntax.OpStar, []*syntax.Regexp{sub()}
	case 3:
		re.Op, re.Sub = syntax.OpPlus, []*syntax.Regexp{sub()}
	case 4:
		re.Op, re.Sub = syntax.OpQuest, []*syntax.Regexp{sub()}
	case 5:
		re.Op, re.Sub = syntax.OpRepeat, []*syntax.Regexp{sub()}
		re.Min = r.IntN(3)
		re.Max = max(1, re.Min) + r.IntN(3)
		if r.IntN(3) == 0 {
			re.Max = -1
		}
	case 6:
		re.Op, re.Sub, re.Cap = syntax.OpCapture, []*syntax.Regexp{sub()}, 1
	case 7:
		re.Op = syntax.OpConcat
		re.Sub = []*syntax.Regexp{{Op: syntax.OpBeginText}, sub(), {Op: syntax.OpEndText}}
	default:
		re.Op = syntax.OpConcat
		for range 2 + r.IntN(2) {
			re.Sub = append(re.Sub, sub())
		}
	}
	return re
}

func randomClass(r *rand.Rand) string {
	named := []string{`\d`, `\w`, `\W`, `\s`, `[[:alpha:]]`, `\p{L}`, `\P{L}`, `\p{Han}`, `[^é]`, `[^\n]`}
	if r.IntN(2) == 0 {
		return named[r.IntN(len(named))]
	}
	var class strings.Builder
	class.WriteString("[")
	if r.IntN(3) == 0 {
		class.WriteString("^")
	}
	for range 1 + r.IntN(3) {
		low, high := patternLetters[r.IntN(len(patternLetters))], patternLetters[r.IntN(len(patternLetters))]
		class.WriteString(string(min(low, high)) + "-" + string(max(low, high)))
	}
	return class.String() + "]"
}

func parsed(expression string) *syntax.Regexp {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return re
}

func randomText(r *rand.Rand) string {
	var text strings.Builder
	for range r.IntN(8) {
		if r.IntN(12) == 0 {
			text.WriteByte(byte(0x80 + r.IntN(0x80))) // mostly not UTF-8
			continue
		}
		text.WriteRune(patternLetters[r.IntN(len(patternLetters))])
	}
	return text.String()
}

// FuzzPattern compares every match and every error with regexp's.
func FuzzPattern(f *testing.F) {
	for _, expressions := range patternExpressions {
		for i, expression := range expressions {
			f.Add(expression, patternTexts[(7*i)%len(patternTexts)])
			f.Add(expression, patternTexts[(13*i+5)%len(patternTexts)])
		}
	}
	f.Add(`\C`, "a")
	f.Add(`[b-a]`, "a")
	f.Fuzz(func(t *testing.T, expression, text string) {
		if len(expression) > 300 {
			t.Skip("this finds large programs only")
		}
		want, err := regexp.Compile(expression)
		p, failed := newPattern(expression)
		if err != nil {
			if failed == nil || failed.Error() != "pattern: "+err.Error() {
				t.Fatalf("%q: error %v, want %v", expression, failed, err)
			}
			return
		}
		if failed != nil {
			t.Fatalf("%q: %v", expression, failed)
		}
		if p.match(text) != want.MatchString(text) {
			t.Fatalf("%q on %q: %v", expression, text, p.match(text))
		}
	})
}
