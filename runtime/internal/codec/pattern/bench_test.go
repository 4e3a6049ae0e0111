package pattern

import (
	"regexp"
	"testing"
)

var usual = []struct{ name, expression, text string }{
	{"slug", `^[a-z0-9]+(?:-[a-z0-9]+)*$`, "quarterly-report-2026-for-the-board"},
	{"counted slug", `^[a-z][a-z0-9-]{2,62}$`, "quarterly-report-2026-for-the-board"},
	{"uuid", `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`, "550e8400-e29b-41d4-a716-446655440000"},
	{"mail", `^[^@\s]+@[^@\s]+\.[^@\s]+$`, "ada.lovelace@example.org"},
	{"colour", `^#[0-9a-fA-F]{6}$`, "#a1B2c3"},
	{"semver", `^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`, "v1.22.3-rc.1+build.77"},
	{"unanchored", `\d{3}-\d{4}`, "call 555-1234 now"},
	{"name", `^\p{L}[\p{L}\p{M} '-]{0,62}$`, "Søren Ångström-Çelik"},
	{"name beyond Latin", `^\p{L}[\p{L}\p{M} '-]{0,62}$`, "村上春樹と小澤征爾"},
	{"word", `(?i)\b(?:todo|fixme)\b`, "see the FIXME in the third line"},
}

func BenchmarkMatch(b *testing.B) {
	for _, bb := range usual {
		p, general := compile(b, bb.expression), regexp.MustCompile(bb.expression)
		b.Run(bb.name+"/aql", func(b *testing.B) {
			for b.Loop() {
				if !p.Match(bb.text) {
					b.Fatal("no match")
				}
			}
		})
		b.Run(bb.name+"/regexp", func(b *testing.B) {
			for b.Loop() {
				if !general.MatchString(bb.text) {
					b.Fatal("no match")
				}
			}
		})
	}
}

// The price at the start of an adapter, of the first use, and what regexp asks at the start.
func BenchmarkCompile(b *testing.B) {
	large := struct{ name, expression, text string }{"states that explode", `[ab]*a[ab]{40}$`, ""}
	for _, bb := range append(usual, large) {
		b.Run(bb.name+"/aql", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compile(b, bb.expression)
			}
		})
		b.Run(bb.name+"/first use", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newMachine(bb.expression)
			}
		})
		b.Run(bb.name+"/regexp", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				regexp.MustCompile(bb.expression)
			}
		})
	}
}
