package policy_test

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/policy"
)

// outcome is the result of a condition: whether rules that deny and rules that allow match by it. By an unknown result,
// the former match and the latter do not.
type outcome string

const (
	holds   outcome = "holds"
	fails   outcome = "fails"
	unclear outcome = "unknown"
)

// What conditions see. given: the parameters of the call as a handler's own defaults leave them.
func TestConditions(t *testing.T) {
	for _, tt := range []struct {
		name, operation, when, given string
		want                         outcome
	}{
		{
			"a text that is listed", "list_todos", "{param: filter.status, in: [done, open]}", `{"filter":{"status":"done"}}`,
			holds,
		},
		{
			"a text that is not listed", "list_todos", "{param: filter.status, in: [done]}", `{"filter":{"status":"open"}}`,
			fails,
		},
		{
			"a text spelled with escapes", "list_todos", "{param: filter.status, equals: done}",
			`{"filter":{"st\u0061tus":"d\u006fne"}}`, holds,
		},
		{
			"a field under another name", "list_todos", "{param: filter.status, equals: done}", `{"filter":{"state":"done"}}`,
			holds,
		},
		{
			"a field under both names", "list_todos", "{param: filter.status, equals: done}",
			`{"filter":{"state":"open","status":"open"}}`, unclear,
		},
		{"a text that is absent", "list_todos", "{param: filter.status, equals: done}", `{"filter":{}}`, fails},
		{"an object that is absent", "list_todos", "{param: filter.status, equals: done}", `{}`, fails},
		{"null, which counts as absent", "list_todos", "{param: filter.status, equals: done}", `{"filter":null}`, fails},
		{"a text like a pattern", "search_todos", "{param: query, like: '*secret*'}", `{"query":"my secret plan"}`, holds},
		{
			"a text unlike a pattern", "search_todos", "{param: query, not_like: '*secret*'}", `{"query":"my secret plan"}`,
			fails,
		},
		{
			"a text that must not be", "list_todos", "{param: filter.status, not_equals: open}", `{"filter":{"status":"open"}}`,
			fails,
		},
		{"an absent text that must not be something", "list_todos", "{param: filter.status, not_equals: open}", `{}`, holds},
		{"a nested default", "list_todos", "{param: filter.priority, equals: low}", `{"filter":{}}`, holds},
		{"a nested default in an absent object", "list_todos", "{param: filter.priority, equals: low}", `{}`, fails},
		{
			"null in place of a nested default", "list_todos", "{param: filter.priority, equals: low}",
			`{"filter":{"priority":null}}`, unclear,
		},
		{"a default", "list_todos", "{param: limit, equals: 25}", `{}`, holds},

		{"a number in another spelling", "list_todos", "{param: limit, equals: 100}", `{"limit":1.0e2}`, holds},
		{"a number below", "purge_completed", "{param: older_than_days, less_than: 30}", `{"older_than_days":29}`, holds},
		{
			"a number that is just not below", "purge_completed", "{param: older_than_days, less_than: 30}",
			`{"older_than_days":30}`, fails,
		},
		{
			"a number between", "purge_completed", "{param: older_than_days, at_least: 1, at_most: 5}", `{"older_than_days":5}`,
			holds,
		},
		{
			"a number that is not between", "purge_completed", "{param: older_than_days, greater_than: 5, at_most: 9}",
			`{"older_than_days":5}`, fails,
		},
		{
			"a number too large for floating point", "purge_completed", "{param: keep, equals: 9007199254740993}",
			`{"keep":9007199254740992}`, fails,
		},
		{
			"a number that a handler sees as another", "create_todo", "{param: effort, equals: 0.5}",
			`{"effort":0.50000000000000000001}`, holds,
		},
		{"a number out of range", "create_todo", "{param: effort, equals: 0.5}", `{"effort":1e999}`, unclear},
		{"an absent number that may be zero to the handler", "purge_completed", "{param: keep, less_than: 3}", `{}`, unclear},
		{"an absent number that would not matter as zero", "purge_completed", "{param: keep, greater_than: 3}", `{}`, fails},
		{"an absent number that must be given", "purge_completed", "{param: keep, less_than: 3, given: true}", `{}`, fails},
		{"a text in place of a number", "purge_completed", "{param: keep, less_than: 3}", `{"keep":"5"}`, unclear},

		{"a boolean", "create_todo", "{param: pinned, equals: true}", `{"pinned":true}`, holds},
		{"another boolean", "create_todo", "{param: pinned, equals: true}", `{"pinned":false}`, fails},
		{"an absent boolean", "create_todo", "{param: pinned, equals: false}", `{}`, unclear},
		{
			"a moment in another spelling", "create_todo", "{param: due_at, equals: '2026-01-31T12:00:00Z'}",
			`{"due_at":"2026-01-31T13:00:00.000+01:00"}`, holds,
		},
		{
			"an earlier moment", "create_todo", "{param: due_at, less_than: '2026-01-31T12:00:00Z'}",
			`{"due_at":"2026-01-31T12:00:00+01:00"}`, holds,
		},
		{"no moment", "create_todo", "{param: due_at, less_than: '2026-01-31T12:00:00Z'}", `{"due_at":"soon"}`, unclear},

		{"given", "create_todo", "{param: due_at, given: true}", `{"due_at":"2026-01-31T12:00:00Z"}`, holds},
		{"given as null", "create_todo", "{param: due_at, given: true}", `{"due_at":null}`, fails},
		{"not given", "create_todo", "{param: due_at, given: false}", `{}`, holds},

		{"a key of a map", "create_todo", "{param: labels.env, like: 'prod*'}", `{"labels":{"env":"production"}}`, holds},
		{
			"another key of a map", "create_todo", "{param: labels.env, like: 'prod*'}", `{"labels":{"ENV":"production"}}`,
			fails,
		},
		{"the only element", "create_todo", "{param: tags.*, equals: x}", `{"tags":["x"]}`, holds},
		{"no element", "create_todo", "{param: tags.*, equals: x}", `{"tags":["y","z"]}`, fails},
		{
			"one element of several, which is not all", "create_todo", "{param: tags.*, equals: x}", `{"tags":["y","x"]}`,
			unclear,
		},
		{"no elements", "create_todo", "{param: tags.*, equals: x}", `{"tags":[]}`, fails},
		{
			"no elements, which are no other ones either", "create_todo", "{param: tags.*, not_equals: x}", `{"tags":[]}`, fails,
		},
		{"no array", "create_todo", "{param: tags.*, equals: x}", `{"tags":"x"}`, unclear},
		{"null among elements", "create_todo", "{param: tags.*, equals: x}", `{"tags":[null]}`, unclear},
		{
			"fields of elements", "create_todo", "{param: steps.*.minutes, greater_than: 60}",
			`{"steps":[{"minutes":90},{"minutes":61}]}`, holds,
		},
		{"values of a map", "create_todo", "{param: labels.*, equals: x}", `{"labels":{"a":"x"}}`, holds},

		{"a value of any type", "create_todo", "{param: extra, equals: 3}", `{"extra":3.0}`, holds},
		{"a value of any type that is of another", "create_todo", "{param: extra, equals: 3}", `{"extra":"3"}`, unclear},
		{
			"a value inside one of any type", "create_todo", "{param: extra.a.*, equals: true}", `{"extra":{"a":[true]}}`, holds,
		},
		{"no value inside one of any type", "create_todo", "{param: extra.a.*, equals: true}", `{"extra":7}`, unclear},

		{"what an update sets", "update_todo", "{param: input.status, equals: done}", `{"input":{"status":"done"}}`, holds},
		{"what an update leaves alone", "update_todo", "{param: input.effort, less_than: 5}", `{"input":{}}`, fails},
		{
			"what an update leaves alone in spite of a default", "update_todo", "{param: input.priority, equals: low}",
			`{"input":{}}`, fails,
		},
		{
			"what an update removes", "update_todo", "{param: input.effort, less_than: 5}", `{"input":{"effort":null}}`, unclear,
		},
		{
			"that an update removes something", "update_todo", "{param: input.effort, given: true}", `{"input":{"effort":null}}`,
			holds,
		},
		{
			"what an update removes as a whole", "update_todo", "{param: input.metadata.color, equals: red}",
			`{"input":{"metadata":null}}`, unclear,
		},

		{"something that is no JSON", "create_todo", "{param: labels.env, equals: x}", `{"labels":0}`, unclear},
	} {
		t.Run(tt.name, func(t *testing.T) {
			decide := func(effect, fallback string) policy.Effect {
				bound := bind(
					t,
					*parse(
						t,
						"version: 1\ndefault: "+fallback+"\nrules: [{name: r, effect: "+effect+
							", operations: ["+tt.operation+"], when: ["+tt.when+"]}]",
					),
				)
				return bound.For(tt.operation).Decide(policy.Request{Value: params(t, tt.given)}).Effect
			}
			denied, allowed := decide("deny", "allow") == policy.Deny, decide("allow", "deny") == policy.Allow
			if confirmed := decide("confirm", "allow") == policy.Confirm; confirmed != denied {
				t.Errorf("denied: %v, confirmed: %v", denied, confirmed)
			}
			got := unclear
			switch {
			case denied && allowed:
				got = holds
			case !denied && !allowed:
				got = fails
			case allowed:
				t.Fatal("allowed, and not denied")
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// Texts that are no JSON, and parameters that are not known, count against the call.
func TestWhatCannotBeReadCountsAgainstTheCall(t *testing.T) {
	bound := bind(
		t,
		*parse(
			t, "version: 1\nrules: [{name: r, effect: deny, operations: [create_todo], when: [{param: labels.env, equals: x}]}]",
		),
	)
	for name, value := range map[string]func(string) (string, bool){
		"no parameters": nil,
		"no value":      func(string) (string, bool) { return "", true },
		"cut off":       func(string) (string, bool) { return `{"env":"y"`, true },
		"twice":         func(string) (string, bool) { return `{"env":"y"} {}`, true },
	} {
		if got := bound.For("create_todo").Decide(policy.Request{Value: value}).Effect; got != policy.Deny {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestARuleWithSeveralConditionsNeedsAll(t *testing.T) {
	bound := bind(t, *parse(t, `
version: 1
rules:
  - name: r
    effect: deny
    operations: ["list_*"]
    when: [{param: filter.status, equals: done}, {param: limit, greater_than: 50}]
`))
	for given, want := range map[string]policy.Effect{
		`{"filter":{"status":"done"},"limit":51}`: policy.Deny,
		`{"filter":{"status":"done"},"limit":50}`: policy.Allow,
		`{"filter":{"status":"open"},"limit":51}`: policy.Allow,
	} {
		if got := bound.For("list_todos").Decide(policy.Request{Value: params(t, given)}).Effect; got != want {
			t.Errorf("%s: %s", given, got)
		}
	}
}

func TestARuleDoesNotApplyWithoutItsParameters(t *testing.T) {
	bound := bind(
		t,
		*parse(
			t, `{version: 1, rules: [{name: r, effect: deny, operations: ["*"], when: [{param: filter.status, given: false}]}]}`,
		),
	)
	if got := bound.For("list_todos").Decide(policy.Request{Value: params(t, `{}`)}).Effect; got != policy.Deny {
		t.Error(got)
	}
	if bound.For("delete_todo") != nil {
		t.Error("a rule applies to an operation that lacks the parameter of its condition")
	}
}
