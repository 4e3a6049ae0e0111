package aqltest

import (
	"regexp"
	"testing"

	"github.com/aqltag/aqltag/conform"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// An adapter that keeps to the protocol passes but for what its service leaves to be desired, and one that does not
// fails the test with a report.
func TestConform(t *testing.T) {
	options := conform.Options{
		Level: 1, AllowDestructive: true,
		Run: regexp.MustCompile(`^(params|endpoints|errors|roundtrip|confirm)/|^introspect/descriptions$`),
	}
	fine := record(t, func(tb testing.TB) { Conform(tb, newAdapter(t, aql.Options{Name: "notes"}), options) })
	for _, failure := range fine.failures {
		t.Errorf("an adapter that conforms: %s", failure)
	}
	quiet := notes{}.registry(func(d *gen.Handler) { d.Description = "" })
	adapter, err := aql.New(quiet, aql.Options{Name: "notes"})
	if err != nil {
		t.Fatal(err)
	}
	record(t, func(tb testing.TB) { Conform(tb, adapter, options) }).wants(t, "the adapter does not keep to the protocol")
	record(t, func(tb testing.TB) { Conform(tb, adapter, conform.Options{Level: 3}) }).wants(t, "there is no level 3")
}
