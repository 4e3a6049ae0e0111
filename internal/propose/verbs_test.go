package propose

import (
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/runtime/gen"
)

// B1, REQ-EP-13, REQ-NM-04: the table of verbs is sorted, says of each verb whether it can be taken back, and agrees
// with the verbs of the protocol.
func TestTableOfVerbs(t *testing.T) {
	var names []string
	for line := range strings.Lines(verbTable) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] == "#" {
			continue
		}
		name, category, danger, back := fields[0], strings.TrimSuffix(fields[1], "?"), gen.Danger(fields[2]), fields[3]
		names = append(names, name)
		if !slices.Contains(gen.Categories(), gen.Category(category)) || danger.Level() < 0 {
			t.Errorf("%s: category %q, danger %q", name, category, danger)
		}
		switch level := danger.Level(); {
		case (category == "READ") != (danger == gen.Safe), (category == "READ") != (back == "-"):
			t.Errorf("%s: READ is safe, and nothing else is: %s", name, line)
		case back == "no" && level < gen.Destructive.Level(), back == "yes" && level != gen.Reversible.Level(),
			category == "DELETE" && back == "yes":
			t.Errorf("%s: what cannot be taken back is destructive, and the rest is reversible: %s", name, line)
		case !slices.Contains([]string{"-", "yes", "no"}, back):
			t.Errorf("%s: back is %q", name, back)
		case strings.HasSuffix(fields[1], "?") && (len(fields) == 4 || danger == gen.Reversible):
			t.Errorf("%s is not sure, and does not say why, or is not at the higher level", name)
		}
		if _, of, known := naming.VerbCategory(name); known && of != gen.Category(category) {
			t.Errorf("%s is %s in the table, and %s in the protocol", name, category, of)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) || len(names) < 250 {
		t.Errorf("%d verbs, sorted: %v", len(names), slices.IsSorted(names))
	}
	for _, verb := range strings.Fields("create add upload register import insert get list search find export count " +
		"update edit set rename move patch merge delete remove purge unregister clear drop execute cancel run start stop " +
		"resume trigger invoke") {
		if _, ok := knownWords().verbs[verb]; !ok {
			t.Errorf("%s, a verb of the protocol, is not in the table", verb)
		}
	}
	for kind, list := range knownWords().kinds {
		for word := range list {
			if _, verb := knownWords().verbs[word]; verb && (kind == "many" || kind == "force") || !verb && kind == "noun" {
				t.Errorf("%s is %s, and a verb: %v", word, kind, verb)
			}
		}
	}
}
