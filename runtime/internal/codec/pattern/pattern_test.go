package pattern

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"testing"
)

// sound are expressions of every kind, by what is special about them.
var sound = map[string][]string{
	"nothing":       {``, `^$`, `^`, `$`, `^^`, `$$`, `$^`, `\A\z`, `(?:)`, `()`, `(|)`, `^(?:)$`},
	"characters":    {`a`, `^a`, `a$`, `^a$`, `abc`, `^abc$`, `a\.b`, `\x61`, `\x{61}`, `\Qa.b\E`, `\n`, `\t`},
	"alternatives":  {`a|b`, `^(a|b)$`, `^(|a)$`, `(a|)b`, `a||b`, `ab|abc$`, `^ab|cd$`, `(a|ab)(c|bcd)(d*)$`, `^(red|green|blue)$`, `(^a|b)c`, `a$|^b`},
	"repeats":       {`a*`, `^a*$`, `^a+?b$`, `^a+$`, `^a?$`, `^(ab)+$`, `(a|b)*c$`, `^(a*)*$`, `^(a|b*)+$`, `^(?:a?){20}a{20}$`, `^a*?$`, `^(?U:a+)b$`},
	"counts":        {`a{3}`, `^a{0}$`, `^a{0,2}$`, `^a{2,}$`, `\d{3,5}x`, `^(ab){1,3}$`, `^[a-z][a-z0-9-]{2,62}$`, `^(a{2}){3}$`},
	"beginnings":    {`\Aab\z`, `a^b`, `^a$b`, `^^a$$`, `(^|a)b`, `b(a|$)`, `(?:^a)*b`, `^(a$|b)`, `(?:a|^)(?:b|$)`},
	"lines":         {`(?m)^a$`, `(?m)^`, `(?m)$`, `(?m)^$`, `(?m)a$`, `(?m)^b`, `(?m)a$\n^b`, `(?m)\Aa$`, `(?m)^a\z`, `(?m)(^a$\n?)+\z`, `(?m:^a)$`, `(?m)$^`},
	"words":         {`\bword\b`, `\b`, `\B`, `^\b`, `\b$`, `^\B$`, `a\b`, `\ba`, `\Ba\B`, `\b\B`, `^(\w+\b ?)+$`, `(?m)\b$`, `é\b`, `\bé`, `\Bé\B`},
	"classes":       {`^\w+$`, `^\d$`, `^\D$`, `^\s$`, `^\S+$`, `^\W+$`, `[a-z]`, `[^a-z]`, `^[^/]+$`, `^[[:alpha:]]+$`, `[[:^digit:]]`, `^[\d\-.]+$`, `^[]a]$`, `^[^^]$`},
	"any character": {`^.$`, `^.+$`, `(?s)^.+$`, `(?s)^.$`, `x.*y`, `^.{2}$`, `(?s).`, `^(?s:.)$`, `^[\x00-\x{10FFFF}]$`, `[^\x00-\x{10FFFF}]`},
	"case":          {`(?i)^hello$`, `(?i)k`, `(?i)s+x`, `(?i)^[k-s]+$`, `(?i:a)b`, `(?i)é`, `(?i)[^k]`, `(?i)^ǆ$`, `(?i)^σ$`},
	"beyond ASCII": {`é`, `^[à-ÿ]+$`, `^[^é]*$`, `^\p{L}+$`, `^\pN$`, `^\P{L}+$`, `^\p{Greek}+$`, `[^\x00-\x7f]`, `^[日-本]$`, `^\x{10FFFF}$`, `^[\x{D800}-\x{DFFF}]$`,
		`^\x{FFFD}$`, `^[^\x{FFFD}]+$`, `^\x{FFFD}{2}$`, `^[\p{L}\p{N}][\p{L}\p{N} _-]{0,20}$`, `^(?:日|本)+$`, `^[a\x{D800}]$`, `^[a\x{FFFD}]$`},
	"usual": {`^[a-z][a-z0-9-]*$`, `^[a-z0-9]+(?:-[a-z0-9]+)*$`, `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`, `^#[0-9a-fA-F]{6}$`,
		`^[^@\s]+@[^@\s]+\.[^@\s]+$`, `^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`, `^https?://`, `\.(?:png|jpe?g)$`, `^\+?[1-9]\d{1,14}$`, `^\d{4}-\d{2}-\d{2}$`},
	"large": {`^[a-z]{1,300}$`, `[ab]*a[ab]{12}$`, `^a{1000}$`, `^\p{L}{1,200}[a-z]{0,200}$`, `(?:(?:(?:a{10}){10}){10}|b){1}`},
}

var texts = []string{
	``, `a`, `b`, `c`, `ab`, `abc`, `ba`, `aa`, `aaa`, `bc`, `ac`, `abab`, `abcd`, `A`, `k`, `K`, `s`, `sx`, "a\n", "\n", "\n\n", "a\nb", "b\na\nc", "\na", "b\n", `hello`, `HeLLo`,
	"\u212a", "\u017fx", `é`, `É`, `éa`, `aé`, `ï`, `÷`, `Ǆ`, `ǅ`, `ς`, `Ωμέγα`, `word`, `a word b`, `sword`, `word,`, `wordé`, `éword`, ` `, ` a`, `a `, `-`, `_`,
	`abc-def-9`, `-abc`, `abc-`, `550e8400-e29b-41d4-a716-446655440000`, `550e8400-e29b-41d4-a716-44665544000`, `#a1B2c3`, `#a1B2c`, `a@b.c`, `a@b`, `a@@b.c`,
	`v1.2.3-rc.1`, `1.2.3`, `1.2`, `http://x`, `xhttps://`, `a.jpeg`, `a.jpg `, `+4912345`, `2026-11-21`, `日本`, `日`, `x日y`, "x\ny", `٣`, `x1-本 é_9`, "\U0010ffff",
	"\U0010fffe", strings.Repeat("a", 20), strings.Repeat("a", 41), strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 1000),
	strings.Repeat("ab", 40) + "c", strings.Repeat("日", 200), `123x`, `12x`, `/`, `red`, `redgreen`, `]`, `^`, "\x00", "\x7f", "\u0080",
	// What is not UTF-8, in the ways there are.
	"\xff", "a\xffb", "日\xe6", "\xe6\x97", "\xe6\x97a", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5", "\x80", "a\x80", "\xff\xff", "\ufffd", "\ufffd\ufffd", "\xffword",
}

func compile(t testing.TB, expression string) *Pattern {
	t.Helper()
	p, err := Compile(expression)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every verdict is that of package regexp.
func TestMatchIsRegexp(t *testing.T) {
	for kind, expressions := range sound {
		t.Run(kind, func(t *testing.T) {
			for _, expression := range expressions {
				p, want := compile(t, expression), regexp.MustCompile(expression)
				for _, text := range texts {
					if got := p.Match(text); got != want.MatchString(text) {
						t.Errorf("%q on %q: %v", expression, text, got)
					}
				}
			}
		})
	}
}

// Everything has a table, except what needs a large one.
func TestOnlyLargeExpressionsAreLeftToRegexp(t *testing.T) {
	for kind, expressions := range sound {
		for _, expression := range expressions {
			if got, want := newMachine(expression) != nil, kind != "large"; got != want {
				t.Errorf("%s %s: %v", kind, expression, got)
			}
		}
	}
}

// A table and the time it takes to make are bounded, whatever the expression.
func TestTablesAreSmall(t *testing.T) {
	for name, expression := range map[string]string{
		"states that explode":            `[ab]*a[ab]{40}$`,
		"a count of the largest size":    `^(?:[a-z]{0,1000})$`,
		"counts in counts":               `(((a{0,10}){0,10}){0,10})`,
		"optional and then required":     `(?:a?){300}a{300}`,
		"as many sets as instructions":   `^` + strings.Repeat(`[a-c\x{100}-\x{200}]?[b-d\x{150}-\x{300}]?`, 100) + `$`,
		"a long list of words":           `^(?:` + strings.Repeat(`alpha|beta|gamma|`, 400) + `x)$`,
		"every letter, again and again":  strings.Repeat(`\p{L}\p{N}?\p{Greek}*`, 60),
		"a character of each kind":       allCharacters(5000),
		"words in lines":                 `(?m)` + strings.Repeat(`\b\w*\b$?^?`, 100),
		"repeats of repeats of repeats":  `(?:(?:(?:a|b)*|c)*|d)*` + strings.Repeat(`(?:x*y*)*`, 100),
		"a program of hundred thousands": `(?:abcdefghijklmnopqrstuvwxyz){1000}(?:abcdefghijklmnopqrstuvwxyz){1000}`,
	} {
		t.Run(name, func(t *testing.T) {
			program, err := programOf(expression)
			if err != nil {
				t.Fatal(err)
			}
			b := newBuilder(program)
			made := b.make()
			if m := &b.machine; len(m.next) > mostEntries || len(b.states) > mostStates || len(b.sets) > mostClasses+1 {
				t.Errorf("%d entries, %d states, %d sets", len(m.next), len(b.states), len(b.sets))
			}
			if most := mostSteps + 3*len(program.Inst); b.steps > most {
				t.Errorf("%d steps, want at most %d", b.steps, most)
			}
			t.Logf("%d instructions, %d steps, %d states: %v", len(program.Inst), b.steps, len(b.states), made)
		})
	}
}

func allCharacters(n rune) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(regexp.QuoteMeta(string('!' + 2*i)))
	}
	return text.String()
}

// A string is read no further than to where its verdict is known.
func TestVerdictsAreEarly(t *testing.T) {
	for _, tt := range []struct {
		expression, decided string
		want                uint16
	}{
		{`^[a-z]+$`, "A", rejected},
		{`^abc`, "abc", accepted},
		{`(?s)^a.*$`, "a", accepted},
		{`a*`, "", accepted},
		{`a^b`, "", rejected},
		{`^a{0,2}$`, "aaa", rejected},
		{`^(ab|cd)[^\x00-\x{10FFFF}]`, "", rejected},
		{`\bab\b`, "ab ", accepted},
		{`(?s)^a(b|.*)$`, "a", accepted},
	} {
		m := newMachine(tt.expression)
		state := m.start
		for _, char := range tt.decided {
			if state < verdicts {
				t.Errorf("%s on %q: decided early", tt.expression, tt.decided)
				break
			}
			state = m.next[int(state)+int(m.ascii[char])]
		}
		if state != tt.want {
			t.Errorf("%s on %q: state %d, want %d", tt.expression, tt.decided, state, tt.want)
		}
	}
}

// What regexp refuses is refused with its words.
func TestErrorsAreRegexps(t *testing.T) {
	for _, expression := range []string{`(`, `a)`, `[`, `[b-a]`, `a**`, `a{1001}`, `(?=x)`, `\1`, `\C`, `\p{Nonsense}`, `(?<n`, "\xff", `\`, `(a{1000}){1000}`, strings.Repeat(`(`, 2000) + strings.Repeat(`)`, 2000)} {
		_, want := regexp.Compile(expression)
		p, err := Compile(expression)
		var known *syntax.Error
		if p != nil || want == nil || !errors.As(err, &known) || err.Error() != "pattern: "+want.Error() {
			t.Errorf("%.20q: %v, want %v", expression, err, want)
		}
	}
}

// The start of an adapter pays for parsing alone, and a table comes without regexp's program.
func TestTablesAreMadeAtFirstUse(t *testing.T) {
	p := compile(t, `^[a-z]+$`)
	if p.machine != nil || p.general != nil {
		t.Error("made before use")
	}
	p.Match("")
	if p.machine == nil || p.general != nil {
		t.Errorf("after use: table %t, program %t", p.machine != nil, p.general != nil)
	}
}

func TestStringIsTheExpression(t *testing.T) {
	if got := compile(t, `^a{2,3}$`).String(); got != `^a{2,3}$` {
		t.Error(got)
	}
}

// A pattern may be met by many requests at once, also the first time.
func TestMatchIsSafeForConcurrentUse(t *testing.T) {
	for _, expression := range []string{`^[a-z]+\b$`, `^[a-z]{1,300}$`} {
		p := compile(t, expression)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if !p.Match("abc") || p.Match("aBc") {
					t.Errorf("%s: wrong verdict", expression)
				}
			})
		}
		all.Wait()
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	for _, expression := range []string{`^[a-z][a-z0-9-]{2,62}$`, `^[\p{L}\p{N}-]+$`, `(?m)\bboard$`} {
		p := compile(t, expression)
		for _, text := range []string{"quarterly-report-2026-for-the-board", "vierteljährlich-für-日本", "\xff"} {
			if allocated := testing.AllocsPerRun(100, func() { p.Match(text) }); allocated > 0 {
				t.Errorf("%s on %q: %v allocations", expression, text, allocated)
			}
		}
	}
}
