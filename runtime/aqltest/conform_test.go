package aqltest

import (
	"regexp"
	"strings"
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

// What cannot be judged, such as pages of a list that is empty, fails no test, and is not shown as if it did.
func TestConformShowsOnlyWhatIsBroken(t *testing.T) {
	people := aql.Options{Name: "notes", Confirmation: aql.Confirmation{HumanOnly: true}}
	open := conform.Options{Level: 1, AllowDestructive: true, Run: regexp.MustCompile(`^confirm/`)}
	var report *conform.Report
	r := record(t, func(tb testing.TB) { report = Conform(tb, newAdapter(t, people), open) })
	if len(r.failures) > 0 || report.Summary.NotJudged == 0 {
		t.Errorf("%+v, %q", report.Summary, r.failures)
	}
	quiet, err := aql.New(notes{}.registry(func(d *gen.Handler) { d.Description = "" }), people)
	if err != nil {
		t.Fatal(err)
	}
	open.Run = regexp.MustCompile(`^confirm/|^introspect/descriptions$`)
	r = record(t, func(tb testing.TB) { Conform(tb, quiet, open) })
	r.wants(t, "introspect/descriptions")
	for _, text := range r.failures {
		if strings.Contains(text, "not judged because") {
			t.Errorf("what is not judged stands among what is broken:\n%s", text)
		}
	}
}
