package naming

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// REQ-NM-03, REQ-NM-04: which category the verbs of the protocol stand for, the canonical ones first.
func TestVerbCategory(t *testing.T) {
	for category, verbs := range map[gen.Category]string{
		gen.Create:  "create add upload register import insert",
		gen.Read:    "get list search find export count",
		gen.Update:  "update edit set rename move patch merge",
		gen.Delete:  "delete remove purge unregister clear drop",
		gen.Execute: "execute cancel run start stop resume trigger invoke",
	} {
		for verb := range strings.SplitSeq(verbs, " ") {
			got, of, known := VerbCategory(verb + "_thing")
			if got != verb || of != category || !known {
				t.Errorf("%s_thing: verb %q of %s, known %v; want %s", verb, got, of, known, category)
			}
		}
	}
	if _, _, known := VerbCategory("scale_thing"); known {
		t.Error("scale is a verb of the protocol")
	}
}
