package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/notes"
	"github.com/aqltag/aqltag/runtime/policy"
)

// A policy denies changes of notes by callers whose name begins with ci-.
func Example() {
	rules := &policy.Policy{Rules: []policy.Rule{{
		Name: "no-changes-by-machines", Effect: policy.Deny,
		Operations: []string{"create_*", "update_*"}, Callers: []string{"ci-*"},
		Reason: "Notes are written by people",
	}}}
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{Mode: aql.ModeSingle, Policy: rules})
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	defer session.Close()
	request := []byte(`{"operation":"create_note","params":{"title":"Buy bread"}}`)
	for _, name := range []string{"ann", "ci-7"} {
		caller := identity.Caller{Subject: name, Issuer: "https://login.example"}
		ctx := aql.WithCaller(context.Background(), caller)
		var response struct {
			Data  notes.Note
			Error struct{ Message string }
		}
		if err := json.Unmarshal(session.Call(ctx, "mcp_aql", request).JSON, &response); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s%s\n", name, response.Data.ID, response.Error.Message)
	}
	// Output:
	// ann: n2
	// ci-7: Permission denied: 'Notes are written by people'
}

// Explain returns what a policy decides about a call, and why.
func ExampleBound_Explain() {
	rules := &policy.Policy{Rules: []policy.Rule{
		{
			Name: "urgent", Effect: policy.Confirm, Operations: []string{"create_note"},
			When: []policy.Condition{{Param: "title", Like: "*urgent*"}},
		},
		{
			Name: "readers", Effect: policy.Deny, Scopes: []string{"read-only"},
			Not: policy.Exception{Operations: []string{"get_*"}},
		},
	}}
	definitions := notes.NewRegistry(notes.New()).Definitions()
	bound, err := rules.Bind(&definitions)
	if err != nil {
		log.Fatal(err)
	}
	call := policy.Request{
		Caller: identity.Caller{Subject: "ann", Issuer: "https://login.example"},
		Value: func(parameter string) (string, bool) {
			text, given := map[string]string{"title": `"an urgent matter"`}[parameter]
			return text, given
		},
	}
	if err := bound.Explain("create_note", call).WriteText(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// create_note: confirm
	//   decided by    urgent (confirm)
	//   danger level  reversible (CREATE)
	//   caller        ann, vouched for by https://login.example
	//
	// The other rules:
	//   readers (deny)
	//     the caller's scopes are none, and the rule asks for one of read-only
}

// Bind refuses rules that could never match, so that a misspelt name does not allow what was to be denied.
func ExamplePolicy_Bind() {
	rules := &policy.Policy{Rules: []policy.Rule{{
		Name: "no-deletes", Effect: policy.Deny, Operations: []string{"deleet_*"},
	}, {
		Name: "one-note", Effect: policy.Confirm, Operations: []string{"delete_note"},
		When: []policy.Condition{{Param: "note", Equals: "n1"}},
	}}}
	definitions := notes.NewRegistry(notes.New()).Definitions()
	_, err := rules.Bind(&definitions)
	fmt.Println(err)
	// Output:
	// rule no-deletes: operations[0]: deleet_* matches no operation; there is delete_note
	// rule one-note: when[0].param: no operation of the rule has a parameter note; did you mean note_id?
}
