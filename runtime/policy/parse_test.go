package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// everyKey is a policy that uses every key there is.
const everyKey = `# What agents may do
version: 1
default: confirm
rules:
  - name: no-production-deletes
    effect: deny
    operations: ["delete_*", purge_completed]
    categories: [DELETE]
    danger: destructive
    callers: ["ci-*"]
    issuers: ["https://*.example"]
    scopes: [admin, "todos:write"]
    anonymous: false
    not:
      operations: [create_todo]
      callers: [ci-trusted]
      issuers: [stdio]
      scopes: [root]
    reason: Removing is not for machines
  - name: large-purges
    effect: confirm
    operations: [purge_completed]
    when:
      - {param: older_than_days, less_than: 30, greater_than: -1, at_least: 0, at_most: 29.5, not_in: [7]}
      - {param: keep, given: false}
    cooldown: 1m30s
    reauthenticate: true
  - name: lists
    effect: allow
    when:
      - param: filter.status
        in: [done, open]
        not_equals: open
        like: "d*"
        not_like: 'op?n'
        given: true
      - {param: limit, equals: 1e2}
    operations: [list_todos]
`

func TestAFileSaysWhatGoSays(t *testing.T) {
	want := &policy.Policy{Default: policy.Confirm, Rules: []policy.Rule{
		{
			Name: "no-production-deletes", Effect: policy.Deny, Operations: []string{"delete_*", "purge_completed"},
			Categories: []gen.Category{gen.Delete}, Danger: gen.Destructive, Callers: []string{"ci-*"}, Issuers: []string{"https://*.example"},
			Scopes: []string{"admin", "todos:write"}, Anonymous: new(false), Reason: "Removing is not for machines",
			Not: policy.Exception{Operations: []string{"create_todo"}, Callers: []string{"ci-trusted"}, Issuers: []string{"stdio"}, Scopes: []string{"root"}},
		},
		{
			Name: "large-purges", Effect: policy.Confirm, Operations: []string{"purge_completed"}, Cooldown: 90 * time.Second, Reauthenticate: true,
			When: []policy.Condition{
				{
					Param: "older_than_days", LessThan: json.Number("30"), GreaterThan: json.Number("-1"), AtLeast: json.Number("0"),
					AtMost: json.Number("29.5"), NotIn: []any{json.Number("7")},
				},
				{Param: "keep", Given: new(false)},
			},
		},
		{
			Name: "lists", Effect: policy.Allow, Operations: []string{"list_todos"}, When: []policy.Condition{
				{Param: "filter.status", In: []any{"done", "open"}, NotEquals: "open", Like: "d*", NotLike: "op?n", Given: new(true)},
				{Param: "limit", Equals: json.Number("1e2")},
			},
		},
	}}
	got := parse(t, everyKey)
	diff(t, want, got, written)
	for _, p := range []*policy.Policy{want, got} {
		if _, err := p.Bind(todos()); err != nil {
			t.Error(err)
		}
	}
}

func TestAnEmptyPolicyAllowsEverything(t *testing.T) {
	for _, p := range []*policy.Policy{{}, parse(t, "version: 1\nrules: []\n"), parse(t, "version: 1\ndefault: allow\n")} {
		bound, err := p.Bind(todos())
		if err != nil {
			t.Fatal(err)
		}
		for _, operation := range []string{"delete_todo", "no_such_operation"} {
			rules := bound.For(operation)
			if rules != nil || rules.MayConfirm() || rules.Params() {
				t.Errorf("%s: there are rules: %+v", operation, rules)
			}
			diff(t, policy.Decision{Effect: policy.Allow}, rules.Decide(policy.Request{}))
		}
	}
}

func TestFilesAreBounded(t *testing.T) {
	var many strings.Builder
	many.WriteString("version: 1\nrules:\n")
	for range 1001 {
		many.WriteString("  - {name: a, effect: deny, danger: safe}\n")
	}
	for name, tt := range map[string]struct{ text, want string }{
		"long":              {strings.Repeat("#", 1<<20+1), "p.yaml:1:1: the file is longer than 1048576 bytes"},
		"many rules":        {many.String(), "p.yaml:3:3: there are 1001 rules; a policy has no more than 1000"},
		"deep":              {strings.Repeat("[", 100_000), "p.yaml:1:"},
		"many mistakes":     {"version: 1\ndefault: deny\n" + strings.Repeat("x: 1\n", 5000), "and 4900 more mistakes, from here on"},
		"a bomb of aliases": {"version: 1\na: &a [x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n", "p.yaml:2:1: a policy has no key \"a\""},
	} {
		_, err := policy.Parse("p.yaml", []byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

// Whatever a file holds, Parse returns: with a policy that can be held against an adapter, or with mistakes that stand in
// the file.
func FuzzParse(f *testing.F) {
	f.Add(everyKey)
	f.Add("version: 1\nrules: [{name: a, effect: deny, operations: [\"*\"], when: [{param: tags.*, in: [x]}]}]")
	f.Add("version: 1\ndefault: deny")
	f.Add("a: [*b]")
	f.Add("{? [] : !x y, \"\\u00e9\": &a 'b'}")
	f.Add("version: 1\nrules:\n- name: |\n    a\n  effect: no\n  when: [{param: a..b, equals: 0x1F}]\n")
	f.Add("\"\r\r")
	adapter := todos()
	// What ends a line in YAML.
	ends := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.Parse("p.yaml", []byte(text))
		if err != nil {
			var list policy.Mistakes
			if !errors.As(err, &list) || len(list) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			lines := strings.Split(ends.Replace(text), "\n")
			for _, m := range list {
				if m.Line < 1 || m.Line > len(lines)+1 || m.Column < 1 || m.Message == "" {
					t.Errorf("a mistake stands nowhere: %+v", m)
				}
			}
			return
		}
		bound, err := p.Bind(adapter)
		if err != nil {
			return
		}
		for i := range adapter.Operations {
			name := adapter.Operations[i].Name
			q := policy.Request{Caller: caller("ci-1", "admin"), Value: params(t, `{"filter":{"state":"done"},"tags":["a"],"limit":3,"input":{"status":null}}`)}
			if d, e := bound.For(name).Decide(q), bound.Explain(name, q); d.Effect != e.Effect {
				t.Errorf("%s: %+v, explained as %+v", name, d, e)
			}
		}
	})
}
