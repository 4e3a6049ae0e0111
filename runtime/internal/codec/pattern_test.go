package codec

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"testing"
)

// patternExpressions are expressions of every kind, by what is special about them.
var patternExpressions = map[string][]string{
	"nothing":    {``, `^$`, `^`, `$`, `^^`, `$$`, `$^`, `\A\z`, `(?:)`, `()`, `(|)`, `^(?:)$`},
	"characters": {`a`, `^a`, `a$`, `^a$`, `abc`, `^abc$`, `a\.b`, `\x61`, `\x{61}`, `\Qa.b\E`, `\n`, `\t`},
	"alternatives": {
		`a|b`, `^(a|b)$`, `^(|a)$`, `(a|)b`, `a||b`, `ab|abc$`, `^ab|cd$`, `(a|ab)(c|bcd)(d*)$`, `^(red|green|blue)$`,
		`(^a|b)c`, `a$|^b`,
	},
	"repeats": {
		`a*`, `^a*$`, `^a+?b$`, `^a+$`, `^a?$`, `^(ab)+$`, `(a|b)*c$`, `^(a*)*$`, `^(a|b*)+$`, `^(?:a?){20}a{20}$`, `^a*?$`,
		`^(?U:a+)b$`,
	},
	"counts": {
		`a{3}`, `^a{0}$`, `^a{0,2}$`, `^a{2,}$`, `\d{3,5}x`, `^(ab){1,3}$`, `^[a-z][a-z0-9-]{2,62}$`, `^(a{2}){3}$`,
	},
	"beginnings": {`\Aab\z`, `a^b`, `^a$b`, `^^a$$`, `(^|a)b`, `b(a|$)`, `(?:^a)*b`, `^(a$|b)`, `(?:a|^)(?:b|$)`},
	"lines": {
		`(?m)^a$`, `(?m)^`, `(?m)$`, `(?m)^$`, `(?m)a$`, `(?m)^b`, `(?m)a$\n^b`, `(?m)\Aa$`, `(?m)^a\z`, `(?m)(^a$\n?)+\z`,
		`(?m:^a)$`, `(?m)$^`,
	},
	"words": {
		`\bword\b`, `\b`, `\B`, `^\b`, `\b$`, `^\B$`, `a\b`, `\ba`, `\Ba\B`, `\b\B`, `^(\w+\b ?)+$`, `(?m)\b$`, `é\b`,
		`\bé`, `\Bé\B`,
	},
	"classes": {
		`^\w+$`, `^\d$`, `^\D$`, `^\s$`, `^\S+$`, `^\W+$`, `[a-z]`, `[^a-z]`, `^[^/]+$`, `^[[:alpha:]]+$`, `[[:^digit:]]`,
		`^[\d\-.]+$`, `^[]a]$`, `^[^^]$`,
	},
	"any character": {
		`^.$`, `^.+$`, `(?s)^.+$`, `(?s)^.$`, `x.*y`, `^.{2}$`, `(?s).`, `^(?s:.)$`, `^[\x00-\x{10FFFF}]$`,
		`[^\x00-\x{10FFFF}]`,
	},
	"case": {
		`(?i)^hello$`, `(?i)k`, `(?i)s+x`, `(?i)^[k-s]+$`, `(?i:a)b`, `(?i)é`, `(?i)[^k]`, `(?i)^ǆ$`, `(?i)^σ$`,
	},
	"beyond ASCII": {
		`é`, `^[à-ÿ]+$`, `^[^é]*$`, `^\p{L}+$`, `^\pN$`, `^\P{L}+$`, `^\p{Greek}+$`, `[^\x00-\x7f]`, `^[日-本]$`,
		`^\x{10FFFF}$`,
		`^[\x{D800}-\x{DFFF}]$`, `^\x{FFFD}$`, `^[^\x{FFFD}]+$`, `^\x{FFFD}{2}$`, `^[\p{L}\p{N}][\p{L}\p{N} _-]{0,20}$`,
		`^(?:日|本)+$`, `^[a\x{D800}]$`, `^[a\x{FFFD}]$`,
	},
	"usual": {
		`^[a-z][a-z0-9-]*$`, `^[a-z0-9]+(?:-[a-z0-9]+)*$`,
		`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`, `^#[0-9a-fA-F]{6}$`,
		`^[^@\s]+@[^@\s]+\.[^@\s]+$`, `^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`, `^https?://`, `\.(?:png|jpe?g)$`,
		`^\+?[1-9]\d{1,14}$`, `^\d{4}-\d{2}-\d{2}$`,
	},
	"large": {
		`^[a-z]{1,300}$`, `[ab]*a[ab]{12}$`, `^a{1000}$`, `^\p{L}{1,200}[a-z]{0,200}$`, `(?:(?:(?:a{10}){10}){10}|b){1}`,
	},
}

var patternTexts = []string{
	``, `a`, `b`, `c`, `ab`, `abc`, `ba`, `aa`, `aaa`, `bc`, `ac`, `abab`, `abcd`, `A`, `k`, `K`, `s`, `sx`, "a\n", "\n",
	"\n\n", "a\nb", "b\na\nc", "\na", "b\n", `hello`, `HeLLo`,
	"\u212a", "\u017fx", `é`, `É`, `éa`, `aé`, `ï`, `÷`, `Ǆ`, `ǅ`, `ς`, `Ωμέγα`, `word`, `a word b`, `sword`, `word,`,
	`wordé`, `éword`, ` `, ` a`, `a `, `-`, `_`,
	`abc-def-9`, `-abc`, `abc-`, `550e8400-e29b-41d4-a716-446655440000`, `550e8400-e29b-41d4-a716-44665544000`,
	`#a1B2c3`, `#a1B2c`, `a@b.c`, `a@b`, `a@@b.c`,
	`v1.2.3-rc.1`, `1.2.3`, `1.2`, `http://x`, `xhttps://`, `a.jpeg`, `a.jpg `, `+4912345`, `2026-11-21`, `日本`, `日`,
	`x日y`, "x\ny", `٣`, `x1-本 é_9`, "\U0010ffff",
	"\U0010fffe", strings.Repeat("a", 20), strings.Repeat("a", 41), strings.Repeat("a", 63), strings.Repeat("a", 64),
	strings.Repeat("a", 1000),
	strings.Repeat("ab", 40) + "c", strings.Repeat("日", 200), `123x`, `12x`, `/`, `red`, `redgreen`, `]`, `^`, "\x00",
	"\x7f", "\u0080",
	// What is not UTF-8, in the ways there are.
	"\xff", "a\xffb", "日\xe6", "\xe6\x97", "\xe6\x97a", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5", "\x80",
	"a\x80", "\xff\xff", "\ufffd", "\ufffd\ufffd", "\xffword",
}

func compilePattern(t testing.TB, expression string) *pattern {
	t.Helper()
	p, err := newPattern(expression)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A pattern matches what package regexp matches.
func TestPatternMatchesAsRegexp(t *testing.T) {
	for kind, expressions := range patternExpressions {
		t.Run(kind, func(t *testing.T) {
			for _, expression := range expressions {
				p, want := compilePattern(t, expression), regexp.MustCompile(expression)
				for _, text := range patternTexts {
					if got := p.match(text); got != want.MatchString(text) {
						t.Errorf("%q on %q: %v", expression, text, got)
					}
				}
			}
		})
	}
}

// Which expressions are matched without regexp: those in which every text can be divided in one way only.
func TestSimpleExpressions(t *testing.T) {
	for _, tt := range []struct {
		name        string
		expressions []string
		simple      bool
	}{
		{
			"sets with counts",
			[]string{
				`^[a-z]+$`, `^[a-z]*$`, `^[a-z]?$`, `^[a-z]{2,62}$`, `^[a-z]{2,}$`, `^[a-z]{4}$`, `^[a-z]{1}$`, `^\w+$`,
				`\A\d{0,3}?\z`,
			},
			true,
		},
		{"characters", []string{`^a$`, `^todo_[a-z0-9]{4}$`, `^a*$`, `^v\d+$`, `^(?:ab)$`, `^([a-z])$`}, true},
		{"runs whose ends are seen", []string{`^[a-z][a-z0-9-]*$`, `^[a-z]+-[0-9]+$`, `^\d{4}-\d{2}-\d{2}$`, `^a?b$`}, true},
		{"not anchored", []string{`a`, `^a`, `a$`, `^`, `$`, `^a$|b`, `(?m)^a$`}, false},
		{"a choice", []string{`^a*a$`, `^a?[a-c]$`, `^a*b?a$`, `^[a-z]{0,3}[a-z0-9]*$`, `^a|b$`, `^(ab|cd)$`}, false},
		{"counted sequences", []string{`^(?:ab)+$`, `^(?:ab){2}$`, `^([a-z]+)$`, `^(?:a{2}){3}$`}, false},
		{"beyond ASCII", []string{`^[^a]$`, `^.$`, `^é$`, `^[a-é]$`, `^\p{L}+$`}, false},
		{"folded case", []string{`(?i)^k$`, `(?i)^[k]$`, `(?i)^ab+$`, `(?i)^a$`}, false},
		{"conditions inside", []string{`^a\b$`, `^^a$$`, `^a^b$`}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, expression := range tt.expressions {
				if _, simple := simpleRuns(expression); simple != tt.simple {
					t.Errorf("%s: simple %t", expression, simple)
				}
			}
		})
	}
}

// What regexp refuses is refused with its words.
func TestPatternErrorsAreRegexps(t *testing.T) {
	for _, expression := range []string{
		`(`, `a)`, `[`, `[b-a]`, `a**`, `a{1001}`, `(?=x)`, `\1`, `\C`, `\p{Nonsense}`, `(?<n`, "\xff", `\`,
		`(a{1000}){1000}`, strings.Repeat(`(`, 2000) + strings.Repeat(`)`, 2000),
	} {
		_, want := regexp.Compile(expression)
		p, err := newPattern(expression)
		var known *syntax.Error
		if p != nil || want == nil || !errors.As(err, &known) || err.Error() != "pattern: "+want.Error() {
			t.Errorf("%.20q: %v, want %v", expression, err, want)
		}
	}
}

// The start of an adapter pays for parsing alone.
func TestPatternsAreCompiledAtFirstUse(t *testing.T) {
	for expression, general := range map[string]bool{`^[a-z]+$`: false, `[a-z]+`: true} {
		p := compilePattern(t, expression)
		if p.runs != nil || p.general != nil {
			t.Errorf("%s: compiled before use", expression)
		}
		p.match("")
		if (p.runs == nil) != general || (p.general != nil) != general {
			t.Errorf("%s: after use, %d runs and general %t", expression, len(p.runs), p.general != nil)
		}
	}
}

// A pattern may be met by many requests at once, also the first time.
func TestPatternIsSafeForConcurrentUse(t *testing.T) {
	for _, expression := range []string{`^[a-z]+\b$`, `^[a-z]{1,300}$`} {
		p := compilePattern(t, expression)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if !p.match("abc") || p.match("aBc") {
					t.Errorf("%s: wrong answer", expression)
				}
			})
		}
		all.Wait()
	}
}
