package pattern

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var expressions = []string{
	``, `^$`, `^`, `$`, `a`, `^a`, `a$`, `^a$`, `a|b`, `^(a|b)$`, `^(|a)$`, `a*`, `^a*$`, `^a+?b$`, `ab|abc$`, `^ab|cd$`,
	`^[a-z][a-z0-9-]*$`, `^[a-z][a-z0-9-]{2,62}$`, `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`,
	`^#[0-9a-fA-F]{6}$`, `^[^@\s]+@[^@\s]+\.[^@\s]+$`, `^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`, `(?i)^hello$`, `(?i)k`, `(?i)s+x`,
	`^.$`, `^.+$`, `(?s)^.+$`, `(?m)^a$`, `\bword\b`, `^\w+$`, `^[[:alpha:]]+$`, `^\p{L}+$`, `^[^/]+$`, `é`, `^[à-ÿ]+$`, `^[^é]*$`,
	`\Aab\z`, `^a{0}$`, `a{3}`, `(a|b)*c$`, `^(ab)+$`, `x.*y`, `^(?:a?){20}a{20}$`, `[^\x00-\x7f]`, `^[\x00-\x{10FFFF}]$`, `a$|^b`,
	`(a|ab)(c|bcd)(d*)$`, `^a$b`, `a^b`, `$^`, `^^a$$`, `(^a|b)c`, `[^a-z]`, `\d{3,5}x`, `^[a-z]{1,300}$`,
}

var texts = []string{
	``, `a`, `b`, `ab`, `abc`, `ba`, `aa`, "a\n", "\n", "b\na\nc", `hello`, `HeLLo`, "\u212a", "\u017fx", `ſx`, `é`, `éa`, `aé`, `word`, `a word b`, `sword`,
	`abc-def-9`, `-abc`, `550e8400-e29b-41d4-a716-446655440000`, `#a1B2c3`, `a@b.c`, `a@b`, `v1.2.3-rc.1`, `1.2`, `日本`, `日`, `x日y`, strings.Repeat("a", 63),
	strings.Repeat("a", 64), strings.Repeat("ab", 40) + "c", "a\xffb", "\xff", "日\xe6", `123x`, `12x`, `/`, `bc`, `ac`,
}

// Every verdict is that of package regexp.
func TestMatchIsRegexp(t *testing.T) {
	for _, expression := range expressions {
		p, err := Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		want := regexp.MustCompile(expression)
		for _, text := range texts {
			if got := p.Match(text); got != want.MatchString(text) {
				t.Errorf("%q on %q: %v", expression, text, got)
			}
		}
	}
}

// The usual expressions have a table; what needs more than one says so by having none.
func TestWhatHasAMachine(t *testing.T) {
	for expression, want := range map[string]bool{
		`^[a-z][a-z0-9-]*$`: true, `^[a-z][a-z0-9-]{2,62}$`: true, `^#[0-9a-fA-F]{6}$`: true, `^[^@\s]+@[^@\s]+\.[^@\s]+$`: true,
		`^\p{L}+$`: true, `(?i)^hello$`: true, `\bword\b`: false, `(?m)^a$`: false, `^[a-z]{1,300}$`: false, `[ab]*a[ab]{12}$`: false,
	} {
		p, err := Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.machine != nil; got != want {
			t.Errorf("%s: %v", expression, got)
		}
	}
}

// A random expression gives regexp's verdict on random strings.
func TestRandomExpressions(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	machines := 0
	for range 4000 {
		expression := randomExpression(random, 4)
		want, err := regexp.Compile(expression)
		if err != nil {
			continue
		}
		p, err := Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		if p.machine != nil {
			machines++
		}
		for range 30 {
			if text := randomText(random); p.Match(text) != want.MatchString(text) {
				t.Fatalf("%q on %q: %v", expression, text, p.Match(text))
			}
		}
	}
	if machines < 2000 {
		t.Errorf("only %d expressions had a machine", machines)
	}
}

func randomExpression(r *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "c", ".", "[ab]", "[^a]", `\d`, `\w`, "é", "[à-é]", "^", "$", "", "k", "[^é]", `\n`}
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	a, b := randomExpression(r, depth-1), randomExpression(r, depth-1)
	switch r.IntN(9) {
	case 0:
		return a + "|" + b
	case 1:
		return "(" + a + ")*"
	case 2:
		return "(?:" + a + ")+" + b
	case 3:
		return "(" + a + ")?" + b
	case 4:
		return fmt.Sprintf("(?:%s){%d,%d}", a, r.IntN(3), 2+r.IntN(3))
	case 5:
		return "(?i:" + a + ")" + b
	case 6:
		return "^" + a + "$"
	default:
		return a + b
	}
}

func randomText(r *rand.Rand) string {
	letters := []string{"a", "b", "c", "k", "K", "\u212a", "é", "è", "1", "\n", "x", "日", "\xff", "A"}
	var text strings.Builder
	for range r.IntN(8) {
		text.WriteString(letters[r.IntN(len(letters))])
	}
	return text.String()
}

func FuzzPattern(f *testing.F) {
	for i, expression := range expressions {
		f.Add(expression, texts[i%len(texts)])
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		want, err := regexp.Compile(expression)
		p, failed := Compile(expression)
		if (err == nil) != (failed == nil) {
			t.Fatal(failed)
		}
		if err == nil && (p.Match(text) != want.MatchString(text) || p.String() != expression) {
			t.Fatalf("%q on %q: %v", expression, text, p.Match(text))
		}
	})
}

func TestMatchAllocatesNothing(t *testing.T) {
	p, err := Compile(`^[a-z][a-z0-9-]{2,62}$`)
	if err != nil {
		t.Fatal(err)
	}
	if allocated := testing.AllocsPerRun(100, func() { p.Match("quarterly-report-2026-for-the-board") }); allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, bb := range []struct{ name, expression, text string }{
		{"slug", `^[a-z][a-z0-9-]*$`, "quarterly-report-2026-for-the-board"},
		{"uuid", `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`, "550e8400-e29b-41d4-a716-446655440000"},
		{"mail", `^[^@\s]+@[^@\s]+\.[^@\s]+$`, "ada.lovelace@example.org"},
		{"unanchored", `\d{3}-\d{4}`, "call 555-1234 now"},
	} {
		p, err := Compile(bb.expression)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bb.name+"/aql", func(b *testing.B) {
			for b.Loop() {
				if !p.Match(bb.text) {
					b.Fatal("no match")
				}
			}
		})
		b.Run(bb.name+"/regexp", func(b *testing.B) {
			for b.Loop() {
				if !p.expression.MatchString(bb.text) {
					b.Fatal("no match")
				}
			}
		})
	}
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			if newMachine(`^[a-z][a-z0-9-]{2,62}$`) == nil {
				b.Fatal("none")
			}
		}
	})
}
