package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// deleteNote is the request of an operation.
type deleteNote struct {
	NoteID string
	Pin    string
}

// deciding returns the adapter of notes, with a policy.
func deciding(t *testing.T, p *policy.Policy) *aql.Adapter {
	t.Helper()
	operation := func(name string, category gen.Category, danger gen.Danger) gen.Handler {
		return gen.Handler{
			Name: name, Category: category, Danger: danger, DangerSource: gen.DangerFromTag, Description: "Does it.",
			Params: []gen.Field{
				{Name: "note_id", Go: "NoteID", Type: "string", Required: true},
				{Name: "pin", Go: "Pin", Type: "string", Sensitive: true},
			},
			Request: (*deleteNote)(nil),
			Call:    func(context.Context, []any, any) (any, error) { return nil, nil },
		}
	}
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{
		operation("delete_note", gen.Delete, gen.Destructive), operation("share_note", gen.Execute, gen.Reversible),
	}, nil), aql.Options{Name: "notes", Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// rules are a policy of a test.
func rules() *policy.Policy {
	return &policy.Policy{Rules: []policy.Rule{
		{
			Name: "no-deletes-by-machines", Effect: policy.Deny, Operations: []string{"delete_*"}, Callers: []string{"ci-*"},
			Reason: "Removing is not for machines",
		},
		{Name: "sharing-is-confirmed", Effect: policy.Confirm, Operations: []string{"share_*"}, Cooldown: time.Minute},
		{
			Name: "old-notes-may-go", Effect: policy.Allow, Operations: []string{"delete_note"},
			When: []policy.Condition{{Param: "note_id", Like: "old-*"}},
		},
	}}
}

// F63: the page of the policy in each of its states.
func TestPolicyPages(t *testing.T) {
	for name, tt := range map[string]struct {
		of     *policy.Policy
		last   setup.Reload
		asked  url.Values
		status int
	}{
		"policy-none":  {status: 200},
		"policy":       {of: rules(), status: 200},
		"policy-taken": {of: rules(), last: setup.Reload{At: opened}, status: 200},
		"policy-faulty": {
			of: rules(), last: setup.Reload{At: opened, Err: errors.New("policy.yaml:3: a rule\nno\u202ename")}, status: 200,
		},
		"policy-denied": {of: rules(), asked: url.Values{
			"operation": {"delete_note"}, "caller": {"ci-1"}, "issuer": {"idp"}, "scopes": {"read write"},
			"params": {`{"note_id":"n1","pin":"1234"}`},
		}, status: 200},
		"policy-confirmed": {of: rules(), asked: url.Values{
			"operation": {"share_note"}, "params": {`{"note_id":"n1"}`},
		}, status: 200},
		"policy-no-params": {of: rules(), asked: url.Values{"operation": {"share_note"}, "params": {"{"}}, status: 422},
		"policy-explained-without": {asked: url.Values{
			"operation": {"delete_note"}, "params": {`{"note_id":"n1"}`},
		}, status: 200},
		"policy-no-operation": {of: rules(), asked: url.Values{"operation": {"purge\u202e"}}, status: 422},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSite(t, func(o *console.Options) {
				o.Policy, o.Reloaded = deciding(t, tt.of), func() setup.Reload { return tt.last }
			}).person("eve")
			answer := b.get("/policy")
			if tt.asked != nil {
				tt.asked.Set("csrf", hidden.FindStringSubmatch(answer.Body.String())[2])
				answer = b.post("/policy", tt.asked)
			}
			checkAnswer(t, name, answer, tt.status)
			if page := answer.Body.String(); strings.Contains(page, "\u202e") {
				t.Errorf("the page has what misleads:\n%s", page)
			}
		})
	}
}

// What a form asks is answered to the person of its session only, as other forms are.
func TestExplainingTakesAForm(t *testing.T) {
	b := newSite(t, func(o *console.Options) { o.Policy = deciding(t, rules()) }).person("eve")
	asked := url.Values{"operation": {"share_note"}, "params": {`{"note_id":"n1"}`}}
	if answer := b.post("/policy", asked); answer.Code != http.StatusForbidden {
		t.Errorf("without the token of the session: %d", answer.Code)
	}
	if answer := b.browser().post("/policy", asked); answer.Code != http.StatusUnauthorized {
		t.Errorf("by nobody: %d", answer.Code)
	}
}
