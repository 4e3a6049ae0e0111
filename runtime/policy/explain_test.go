package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
)

// Explanations as operators read them, in testdata/explain.txt, of the policy in testdata/explain.yaml.
func TestExplanations(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "explain.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	bound := bind(t, *parse(t, string(text)))
	var b strings.Builder
	for _, tt := range []struct {
		operation, params string
		caller            identity.Caller
	}{
		{"delete_todo", `{}`, caller("ci-1", "read")},
		{"delete_todo", `{}`, caller("ci-1", "read", "admin")},
		{"purge_completed", `{}`, identity.Caller{}},
		{"purge_completed", `{"keep":3}`, caller("eve", "read")},
		{"list_todos", `{"filter":{"state":"done","text":"abc"}}`, identity.Caller{}},
		{"list_todos", `{"filter":{"status":"open"}}`, identity.Caller{}},
		{"list_todos", `{"filter":null}`, identity.Caller{Subject: "root", Issuer: "stdio"}},
		{"create_todo", `{"password":"7","tags":["a","z"]}`, identity.Caller{}},
		{"create_todo", `{"password":1,"tags":["x"]}`, caller("eve")},
		{"no_such_operation", `{}`, caller("eve")},
	} {
		q := policy.Request{Caller: tt.caller, Value: params(t, tt.params)}
		e := bound.Explain(tt.operation, q)
		if err := e.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		b.WriteString("--------\n")
		if d := bound.For(tt.operation).Decide(q); d.Effect != e.Effect || d.Reauthenticate != e.Reauthenticate ||
			d.Rule != nil && d.Rule.Name != e.Rule {
			t.Errorf("%s: decided %+v, explained %+v", tt.operation, d, e)
		}
	}
	golden := filepath.Join("testdata", "explain.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, string(want), b.String())
}

// A call that a person confirms by typing a value is not explained as one that runs at once.
func TestExplanationsOfTypedConfirmations(t *testing.T) {
	definitions := gen.Definitions{Operations: []gen.Operation{{
		Name: "delete_board", Category: gen.Delete, Danger: gen.Destructive, TypeToConfirm: "board_id",
		Params: []gen.Param{{Name: "board_id", Type: "string", Required: true}},
	}}}
	for effect, want := range map[policy.Effect]string{
		policy.Allow: "board_id", policy.Confirm: "board_id", policy.Deny: "",
	} {
		bound, err := (&policy.Policy{Default: effect}).Bind(&definitions)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		e := bound.Explain("delete_board", policy.Request{})
		if err := e.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		const line = "a person types the value of board_id"
		if e.TypeToConfirm != want || strings.Contains(text.String(), line) != (want != "") {
			t.Errorf("%s: %q:\n%s", effect, e.TypeToConfirm, &text)
		}
	}
}

// What is sensitive is in no explanation.
func TestExplanationsKeepSecrets(t *testing.T) {
	bound := bind(
		t,
		*parse(
			t,
			`{version: 1, rules: [{name: r, effect: deny, when: [{param: password, like: "1*"}]}, {name: s, effect: deny, `+
				`when: [{param: steps.*.secret, like: "1*"}]}]}`,
		),
	)
	for _, given := range []string{
		`{"password":"hunter2"}`, `{"password":["hunter2"]}`, `{"steps":[{"secret":"hunter2"}]}`,
	} {
		text, err := json.Marshal(bound.Explain("create_todo", policy.Request{Value: params(t, given)}))
		if err != nil || strings.Contains(string(text), "hunter2") {
			t.Errorf("%s, %v", text, err)
		}
	}
}

func TestExplanationsAsJSON(t *testing.T) {
	bound := bind(
		t,
		*parse(t, `{version: 1, rules: [{name: r, effect: confirm, danger: destructive, cooldown: 10s, reason: Careful}]}`),
	)
	got, err := json.Marshal(bound.Explain("delete_todo", policy.Request{Caller: caller("eve", "read")}))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, `{"operation":"delete_todo","category":"DELETE","danger":"destructive","caller":"eve",`+
		`"issuer":"https://issuer.example","scopes":["read"],`+
		`"effect":"confirm","rule":"r","reason":"Careful","cooldown":"10s",`+
		`"rules":[{"name":"r","effect":"confirm","place":"policy.yaml:1","matched":true,"decided":true}]}`, string(got))
}

// T-112: an operator who reads an explanation sees the escapes of what misleads, wherever it comes from.
func TestExplanationsShowWhatMisleads(t *testing.T) {
	const bad, escaped = "\u202e\x1b[31m\u200b", `\u202e\u001b[31m\u200b`
	bound := bind(t, policy.Policy{Rules: []policy.Rule{
		{Name: "a", Effect: policy.Deny, When: []policy.Condition{{Param: "query", Equals: "x"}}, Reason: "because" + bad},
		{Name: "b", Effect: policy.Deny, Callers: []string{"someone"}},
	}})
	for name, q := range map[string]policy.Request{
		"the caller":    {Caller: identity.Caller{Subject: "me" + bad}, Value: params(t, `{}`)},
		"the issuer":    {Caller: identity.Caller{Subject: "me", Issuer: "them" + bad}, Value: params(t, `{}`)},
		"a scope":       {Caller: identity.Caller{Subject: "me", Scopes: []string{"all" + bad}}, Value: params(t, `{}`)},
		"a parameter":   {Value: func(string) (string, bool) { return `"` + "\u202e\u200b" + `"`, true }},
		"a rule's text": {Value: params(t, `{"query":"x"}`)},
	} {
		var text strings.Builder
		if err := bound.Explain("search_todos", q).WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(text.String(), "\u202e\u200b\x1b") || !strings.Contains(text.String(), escaped[:6]) {
			t.Errorf("%s: %q", name, text.String())
		}
	}
}
