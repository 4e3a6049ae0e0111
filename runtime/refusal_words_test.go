package aql

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/words"
)

// T-27, T-29: a reason stands in quotes, so nothing within it does in the same ones, and it passes the leak check.
func TestReasonsOfDenials(t *testing.T) {
	definition := gen.Operation{Name: "drop", Danger: gen.Destructive, TypeToConfirm: "note_id"}
	q := &request{operation: &operation{definition: definition}}
	for name, r := range map[string]*refusal{
		"by the policy":        {Refusal: &gate.Refusal{Reason: gate.DeniedByPolicy}},
		"a token":              {Refusal: &gate.Refusal{Reason: gate.NotByHuman}},
		"a person":             {Refusal: &gate.Refusal{Reason: gate.Declined}},
		"another value":        {Refusal: &gate.Refusal{Reason: gate.Declined, Mistyped: true}},
		"nothing to type":      {Refusal: &gate.Refusal{Reason: gate.NothingToType}},
		"not authenticated":    {Refusal: &gate.Refusal{Reason: gate.ReauthenticationNeeded}},
		"a user":               {Refusal: &gate.Refusal{Reason: gate.ConfirmationNeeded}, humanOnly: true, inBatch: true},
		"nobody to ask":        {Refusal: &gate.Refusal{Reason: gate.NobodyToAsk}},
		"nobody in a batch":    {Refusal: &gate.Refusal{Reason: gate.NobodyToAsk}, inBatch: true, asksAlone: true},
		"nobody for a caller":  {Refusal: &gate.Refusal{Reason: gate.NobodyToAsk}, hasInbox: true},
		"a token of no person": {Refusal: &gate.Refusal{Reason: gate.NotByHuman}, humanOnly: true},
	} {
		t.Run(name, func(t *testing.T) {
			r.request = q
			failed, _ := r.explain()
			reason, wrapped := strings.CutPrefix(failed.Message, "Permission denied: '")
			reason, closed := strings.CutSuffix(reason, "'")
			if !wrapped || !closed || strings.Contains(reason, "'") {
				t.Errorf("quotes within quotes: %s", failed.Message)
			}
			if leak := words.StaticLeak(failed.Message); leak != "" {
				t.Errorf("%q fails the leak check: %s", leak, failed.Message)
			}
		})
	}
}
