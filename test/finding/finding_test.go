// Package finding holds how well introspect finds one operation among many.
package finding

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/catalogue"
	"github.com/aqltag/aqltag/runtime/describe"
)

//go:embed queries.txt
var labelled string

// query is a text that somebody may search with, and the operation that is meant.
type query struct{ kind, text, operation string }

func queries(t *testing.T) []query {
	t.Helper()
	var list []query
	kind := ""
	for line := range strings.Lines(labelled) {
		line = strings.TrimSpace(line)
		if heading, isHeading := strings.CutPrefix(line, "# "); isHeading {
			kind = heading
		} else if text, operation, isQuery := strings.Cut(line, " = "); isQuery {
			list = append(list, query{kind, strings.TrimSpace(text), strings.TrimSpace(operation)})
		}
	}
	return list
}

func newIntrospection(tb testing.TB, thousands int) *describe.Introspection {
	tb.Helper()
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		tb.Fatal(err)
	}
	surface := describe.Surface{Mode: describe.Single, Profile: profile}
	in, err := describe.Introspect(catalogue.Repeated(thousands), surface, describe.Protocol{})
	if err != nil {
		tb.Fatal(err)
	}
	return in
}

// found returns the names that a search shows when nothing says how many.
func found(tb testing.TB, in *describe.Introspection, text string) []string {
	tb.Helper()
	answer, _ := in.Select(describe.Selection{Search: text})
	var parsed struct {
		Data struct{ Operations []struct{ Name string } }
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, o := range parsed.Data.Operations {
		names = append(names, o.Name)
	}
	return names
}

// D2: of the labelled queries over 1,000 operations, this many find the expected operation first, and this many show
// it.
func TestSearchFindsWhatIsMeant(t *testing.T) {
	const atLeastFirst, atLeastShown = 0.90, 0.95
	in := newIntrospection(t, 1)
	first, shown := 0, 0
	list := queries(t)
	if len(list) < 60 {
		t.Fatalf("%d queries", len(list))
	}
	for _, q := range list {
		names := found(t, in, q.text)
		switch slices.Index(names, q.operation) {
		case -1:
			t.Logf("%s: %q does not show %s: %s", q.kind, q.text, q.operation, strings.Join(names, ", "))
			continue
		case 0:
			first++
		default:
			t.Logf("%s: %q shows %s behind %s", q.kind, q.text, q.operation, names[0])
		}
		shown++
	}
	rate := func(n int) float64 { return float64(n) / float64(len(list)) }
	t.Logf("%d queries: %.1f %% first, %.1f %% shown", len(list), 100*rate(first), 100*rate(shown))
	if rate(first) < atLeastFirst || rate(shown) < atLeastShown {
		t.Errorf("less than %.0f %% first or %.0f %% shown", 100*atLeastFirst, 100*atLeastShown)
	}
}

// Every name of an operation finds that operation first, whatever its spelling.
func TestNamesFindThemselves(t *testing.T) {
	in := newIntrospection(t, 1)
	for _, o := range catalogue.Definitions().Operations {
		for _, text := range []string{o.Name, strings.ReplaceAll(o.Name, "_", " "), camelCase(o.Name)} {
			if names := found(t, in, text); len(names) == 0 || names[0] != o.Name {
				t.Errorf("%q finds %v", text, names)
			}
		}
	}
}

func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// The queries name operations that exist, and the catalogue has 1,000 of them.
func TestQueriesAreAboutTheCatalogue(t *testing.T) {
	definitions := catalogue.Definitions()
	if n := len(definitions.Operations); n != 1000 {
		t.Errorf("%d operations", n)
	}
	for _, q := range queries(t) {
		if _, exists := definitions.Operation(q.operation); !exists {
			t.Errorf("%q: there is no operation %s", q.text, q.operation)
		}
	}
}
