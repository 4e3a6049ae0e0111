package bench

import (
	"testing"

	"github.com/aqltag/aqltag/internal/catalogue"
	"github.com/aqltag/aqltag/runtime/describe"
)

// D2: a search over 10,000 operations takes less than 1 ms, and the first one makes the index.
func BenchmarkSearch10000(b *testing.B) {
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		b.Fatal(err)
	}
	definitions := catalogue.Repeated(10)
	prepare := func() *describe.Introspection {
		in, err := describe.Introspect(definitions, describe.Surface{Mode: describe.Single, Profile: profile},
			describe.Protocol{})
		if err != nil {
			b.Fatal(err)
		}
		return in
	}
	b.Run("prepare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			prepare()
		}
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			prepare().Select(describe.Selection{Search: "refund"})
		}
	})
	in := prepare()
	in.Select(describe.Selection{Search: "refund"})
	for name, text := range map[string]string{
		"words": "give a customer money back", "typos": "refnd paymnt custmer",
		"many": "create a new invoice line with price",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				in.Select(describe.Selection{Search: text})
			}
		})
	}
}
