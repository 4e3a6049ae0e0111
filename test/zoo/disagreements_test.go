package zoo_test

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	godiff "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The kinds of disagreement.
const (
	refuses = "refuses what its schema accepts"
	accepts = "accepts what its schema refuses"
	result  = "returns what its schema refuses"
	back    = "does not take back what it returned"
	changed = "takes back something else than it returned"
	failed  = "fails"
)

// disagreement is one kind of disagreement about one shape.
type disagreement struct{ cause, kind, shape string }

// beyond are the causes that no schema can say. Each says which refusals it explains, by the request and the answer.
var beyond = []struct {
	why             string
	request, answer *regexp.Regexp
}{
	{"strings do not contain NUL", regexp.MustCompile(`\\u0000`), regexp.MustCompile(`VALIDATION_INVALID_ENCODING`)},
	{"numbers fit the largest float64", regexp.MustCompile(`[0-9][eE]\+?[0-9]{3}`),
		regexp.MustCompile(`VALIDATION_OUT_OF_RANGE`)},
	{"RFC 3339 has leap seconds, and Go's time has none", regexp.MustCompile(`:60Z`), regexp.MustCompile(`'date-time'`)},
	{"the members of a map are counted when an update is merged", regexp.MustCompile(`^\{"input":\{"members"`),
		regexp.MustCompile(`a number of items`)},
	{"a pattern bounds the digits of large integers, and not their values", regexp.MustCompile(`"-?[0-9]{19,20}"`),
		regexp.MustCompile(`expected 'integer( from 0 to 18446744073709551615)?', got 'name'|OUT_OF_RANGE`)},
	{"only the methods of a type tell what they read", regexp.MustCompile(``),
		regexp.MustCompile(`expected '(well-formed (value|text|name)|uuid|ip|cidr)'`)},
}

// causes are why adapters and schemas disagree otherwise: the first that matches the example of one. The documents
// tell each of them. testdata/disagreements.txt has the shapes.
var causes = []struct{ name, example, why string }{
	{"null", `null.*VALIDATION_MISSING_PARAM|got null|got 'null'|null becomes`,
		"a required pointer that is nil is null, and one with a default takes that for null (docs/tags.md)"},
	{"integer as text", `got number, want (null or )?string`,
		"integers as text are read as numbers too, and only shown as text (docs/tags.md)"},
	{"empty enum", `must be one of|must be 'red'|INVALID_ENUM`,
		"an enum that nobody has set is empty, and the empty text is not among its values (docs/tags.md)"},
	{"empty text", `^"": |'' is not valid|'formats\.`, "so is a text with the format of a date (docs/tags.md)"},
	{"inner list", `expected '(array|object)', got`,
		"the definition of a list in itself ends at the second level (docs/exports.md)"},
}

// causeOf returns why there is a disagreement; empty: it is not known.
func causeOf(example string) string {
	for _, c := range causes {
		if regexp.MustCompile(c.example).MatchString(example) {
			return c.name
		}
	}
	return ""
}

// hashOf makes the random values of a shape independent of those of the others.
func hashOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

const listed = "testdata/disagreements.txt"

// list writes disagreements, a line for each cause and kind.
func list(found map[disagreement]string) string {
	shapes := make(map[disagreement][]string)
	for d := range found {
		of := disagreement{cause: d.cause, kind: d.kind}
		shapes[of] = append(shapes[of], d.shape)
	}
	var text strings.Builder
	for _, of := range slices.SortedFunc(maps.Keys(shapes), func(a, b disagreement) int {
		return cmp.Or(cmp.Compare(a.cause, b.cause), cmp.Compare(a.kind, b.kind))
	}) {
		fmt.Fprintf(&text, "%s: %s\n", of.cause, of.kind)
		for _, shape := range slices.Sorted(slices.Values(shapes[of])) {
			fmt.Fprintf(&text, "\t%s\n", shape)
		}
	}
	return text.String()
}

// compare holds what was found against the list. In the slow tier the list is exact.
func compare(t *testing.T, found map[disagreement]string, exact bool) {
	t.Helper()
	got := list(found)
	if *update {
		for d, example := range found {
			if d.cause == "" {
				t.Errorf("%s %s, for no known cause: %s", d.shape, d.kind, example)
			}
		}
		if err := os.WriteFile(listed, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(listed)
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[disagreement]bool)
	var of disagreement
	for line := range strings.Lines(string(want)) {
		line = strings.TrimSuffix(line, "\n")
		if shape, ok := strings.CutPrefix(line, "\t"); ok {
			known[disagreement{of.cause, of.kind, shape}] = true
			continue
		}
		of.cause, of.kind, _ = strings.Cut(line, ": ")
	}
	for d, example := range found {
		switch {
		case d.cause == "":
			t.Errorf("%s %s, for no known cause: %s", d.shape, d.kind, example)
		case !known[d]:
			t.Errorf("%s %s, which %s does not list (%s): %s", d.shape, d.kind, listed, d.cause, example)
		}
	}
	if diff := godiff.Diff(string(want), got); exact && diff != "" {
		t.Errorf("%s is not exact (-listed +found), run with -update:\n%s", listed, diff)
	}
}
