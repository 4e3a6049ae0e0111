package gen_test

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// The description of a parameter is in the message of a request that lacks it, unless the protocol's check of messages
// takes it for a leak. Those of the built-in operations are all of use there.
func TestBuiltInDescriptions(t *testing.T) {
	long := gen.Operation{Name: "reindex", Lifecycle: &gen.Lifecycle{Durable: true, Retry: 1, Asks: true}}
	operations := append(gen.ExecutionOperations([]gen.Operation{long}), gen.LoopOperations()...)
	operations = append(operations, describe.IntrospectOperation(describe.FieldsQuery))
	operations = append(operations, *gen.RelationshipOperation(&gen.Definitions{
		Operations: []gen.Operation{{
			Name: "get_note", Category: gen.Read, Params: []gen.Param{{Name: "note_id", Type: "string", Required: true}},
			Returns: gen.Returns{Name: "Note"},
		}},
		Relations: []gen.Relation{{Of: "Note", Target: "Note", Name: "next", Type: "follows"}},
	}))
	names := make(map[string]bool)
	for i := range operations {
		o := &operations[i]
		names[o.Name] = true
		for j := range o.Params {
			if p := &o.Params[j]; p.Description == "" || words.StaticLeak(p.Description) != "" {
				t.Errorf("%s, %s: %q has %q", o.Name, p.Name, p.Description, words.StaticLeak(p.Description))
			}
		}
	}
	for _, name := range []string{
		gen.AnswerExecution, gen.RetryExecution, gen.RecordExecutionStep, gen.QueryRelationships, describe.IntrospectName,
	} {
		if !names[name] {
			t.Errorf("%s is not looked at", name)
		}
	}
}
