package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/google/go-cmp/cmp"
)

// REQ-EP-16: whom and what a rule is about, without conditions on parameters.
func TestARuleIsAbout(t *testing.T) {
	anonymous := identity.Caller{}
	bot := caller("ci-bot", "read", "admin")
	for _, tt := range []struct {
		name, operation string
		rule            policy.Rule
		caller          identity.Caller
		want            bool
	}{
		{"an operation by name", "delete_todo", policy.Rule{Operations: []string{"delete_todo"}}, bot, true},
		{"no other operation", "update_todo", policy.Rule{Operations: []string{"delete_todo"}}, bot, false},
		{"operations by pattern", "update_todo", policy.Rule{Operations: []string{"delete_todo", "*_todo"}}, bot, true},
		{"a category", "purge_completed", policy.Rule{Categories: []gen.Category{gen.Read, gen.Delete}}, bot, true},
		{"no other category", "update_todo", policy.Rule{Categories: []gen.Category{gen.Delete}}, bot, false},
		{"a danger level", "delete_todo", policy.Rule{Danger: gen.Destructive}, bot, true},
		{"and the levels above", "purge_completed", policy.Rule{Danger: gen.Destructive}, bot, true},
		{"and not those below", "update_todo", policy.Rule{Danger: gen.Destructive}, bot, false},
		{"callers by pattern", "delete_todo", policy.Rule{Callers: []string{"x", "ci-*"}}, bot, true},
		{"no other caller", "delete_todo", policy.Rule{Callers: []string{"ci"}}, bot, false},
		{"named callers, not anonymous ones", "delete_todo", policy.Rule{Callers: []string{"ci-*"}}, anonymous, false},
		{"an issuer", "delete_todo", policy.Rule{Issuers: []string{"https://issuer.*"}}, bot, true},
		{"no other issuer", "delete_todo", policy.Rule{Issuers: []string{"stdio"}}, bot, false},
		{"one of some scopes", "delete_todo", policy.Rule{Scopes: []string{"write", "admin"}}, bot, true},
		{"no other scope", "delete_todo", policy.Rule{Scopes: []string{"write", "adm"}}, bot, false},
		{"anonymous callers", "delete_todo", policy.Rule{Anonymous: new(true)}, anonymous, true},
		{"anonymous callers only", "delete_todo", policy.Rule{Anonymous: new(true)}, bot, false},
		{"known callers", "delete_todo", policy.Rule{Anonymous: new(false)}, bot, true},
		{"known callers only", "delete_todo", policy.Rule{Anonymous: new(false)}, anonymous, false},
		{
			"all of it", "delete_todo",
			policy.Rule{Operations: []string{"*"}, Danger: gen.Destructive, Scopes: []string{"admin"}}, bot, true,
		},
		{
			"all of it, and one is not so", "list_todos",
			policy.Rule{Operations: []string{"*"}, Danger: gen.Destructive, Scopes: []string{"admin"}}, bot, false,
		},
		{"other operations", "delete_todo", policy.Rule{Not: policy.Exception{Operations: []string{"list_*"}}}, bot, true},
		{
			"no excepted operation", "list_todos", policy.Rule{Not: policy.Exception{Operations: []string{"list_*"}}}, bot,
			false,
		},
		{"other callers", "delete_todo", policy.Rule{Not: policy.Exception{Callers: []string{"ci-*"}}}, caller("eve"), true},
		{
			"other callers, among them anonymous ones", "delete_todo",
			policy.Rule{Not: policy.Exception{Callers: []string{"ci-*"}}}, anonymous, true,
		},
		{"no excepted caller", "delete_todo", policy.Rule{Not: policy.Exception{Callers: []string{"ci-*"}}}, bot, false},
		{"no excepted issuer", "delete_todo", policy.Rule{Not: policy.Exception{Issuers: []string{"https://*"}}}, bot, false},
		{"no excepted scope", "delete_todo", policy.Rule{Not: policy.Exception{Scopes: []string{"admin"}}}, bot, false},
		{
			"excepting any of it", "delete_todo",
			policy.Rule{Not: policy.Exception{Callers: []string{"x"}, Scopes: []string{"admin"}}}, bot, false,
		},
	} {
		for _, effect := range policy.Effects() {
			t.Run(tt.name+", to "+string(effect), func(t *testing.T) {
				tt.rule.Name, tt.rule.Effect = "rule", effect
				// A default that the rule does not have shows which of them decided.
				fallback := policy.Deny
				if effect == policy.Deny {
					fallback = policy.Allow
				}
				bound := bind(t, policy.Policy{Default: fallback, Rules: []policy.Rule{tt.rule}})
				got := bound.For(tt.operation).Decide(policy.Request{Caller: tt.caller})
				if matched := got.Effect == effect; matched != tt.want || (got.Rule != nil) != tt.want {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// The most restrictive rule wins (GK§3, REQ-TR-13).
func TestTheMostRestrictiveRuleWins(t *testing.T) {
	rule := func(name string, effect policy.Effect) policy.Rule {
		return policy.Rule{Name: name, Effect: effect, Operations: []string{"*"}}
	}
	slow, strict := rule("slow", policy.Confirm), rule("strict", policy.Confirm)
	slow.Cooldown, strict.Cooldown, strict.Reauthenticate = time.Minute, time.Second, true
	for _, tt := range []struct {
		name  string
		rules []policy.Rule
		want  policy.Decision
		by    string
	}{
		{"deny over confirm", []policy.Rule{slow, rule("d", policy.Deny)}, policy.Decision{Effect: policy.Deny}, "d"},
		{
			"deny over allow", []policy.Rule{rule("a", policy.Allow), rule("d", policy.Deny)},
			policy.Decision{Effect: policy.Deny}, "d",
		},
		{
			"confirm over allow", []policy.Rule{rule("a", policy.Allow), rule("c", policy.Confirm)},
			policy.Decision{Effect: policy.Confirm}, "c",
		},
		{"allow over the default", []policy.Rule{rule("a", policy.Allow)}, policy.Decision{Effect: policy.Allow}, "a"},
		{
			"all that confirmations ask for", []policy.Rule{strict, rule("a", policy.Allow), slow},
			policy.Decision{Effect: policy.Confirm, Cooldown: time.Minute, Reauthenticate: true}, "strict",
		},
		{"the default where no rule matches", nil, policy.Decision{Effect: policy.Deny}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := bind(t, policy.Policy{Default: policy.Deny, Rules: tt.rules}).For("list_todos").Decide(policy.Request{})
			by := ""
			if got.Rule != nil {
				by = got.Rule.Name
			}
			got.Rule = nil
			diff(t, tt.want, got)
			diff(t, tt.by, by)
		})
	}
}

// GK§3, REQ-TR-13: whatever the rules, the outcome is the maximum of those that match alone, and their order is all
// one.
func TestTheOrderOfRulesMakesNoDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(choices ...string) []string {
		if random.IntN(2) == 0 {
			return nil
		}
		return []string{choices[random.IntN(len(choices))]}
	}
	names := []string{"create_todo", "delete_todo", "list_todos", "purge_completed", "update_todo"}
	requests := []policy.Request{
		{}, {Caller: caller("ci-1", "admin"), Value: params(t, `{"filter":{"status":"done"},"limit":30}`)},
		{Caller: caller("eve"), Value: params(t, `{"filter":{"state":"open"},"limit":"x","older_than_days":5}`)},
	}
	for range 2000 {
		p := policy.Policy{Default: policy.Effects()[random.IntN(3)]}
		for i := range 1 + random.IntN(6) {
			r := policy.Rule{
				Name: fmt.Sprint("r", i), Effect: policy.Effects()[random.IntN(3)], Callers: pick("ci-*", "eve"),
				Scopes:     pick("admin"),
				Operations: pick("*_todo", "list_*", "*"), Danger: []gen.Danger{"", gen.Safe, gen.Destructive}[random.IntN(3)],
			}
			if r.Effect == policy.Confirm {
				r.Cooldown, r.Reauthenticate = time.Duration(random.IntN(3))*time.Second, random.IntN(2) == 0
				if random.IntN(2) == 0 {
					r.Approvers = &policy.Approvers{Count: 1 + len(p.Rules)}
				}
			}
			if random.IntN(3) == 0 {
				r.Operations, r.Danger = []string{"list_todos"}, ""
				r.When = []policy.Condition{
					{Param: "filter.status", In: []any{"done"}}, {Param: "limit", AtLeast: 20},
				}[random.IntN(2):][:1]
			}
			if len(r.Operations) == 0 && r.Danger == "" {
				r.Danger = gen.Safe
			}
			p.Rules = append(p.Rules, r)
		}
		if _, err := p.Bind(todos()); err != nil {
			continue // such as a list that is destructive
		}
		shuffled := policy.Policy{Default: p.Default, Rules: slices.Clone(p.Rules)}
		random.Shuffle(
			len(p.Rules), func(i, j int) { shuffled.Rules[i], shuffled.Rules[j] = shuffled.Rules[j], shuffled.Rules[i] },
		)
		one, other := bind(t, p), bind(t, shuffled)
		name, q := names[random.IntN(len(names))], requests[random.IntN(len(requests))]

		want := policy.Decision{Effect: p.Default}
		matched := false
		for _, r := range p.Rules {
			alone := bind(t, policy.Policy{Rules: []policy.Rule{r}}).For(name).Decide(q)
			if alone.Rule == nil {
				continue
			}
			if rank := slices.Index(policy.Effects(), r.Effect); !matched || rank > slices.Index(policy.Effects(), want.Effect) {
				want = policy.Decision{Effect: r.Effect}
			}
			matched = true
			if want.Effect == policy.Confirm && r.Effect == policy.Confirm {
				want.Cooldown, want.Reauthenticate = max(want.Cooldown, r.Cooldown), want.Reauthenticate || r.Reauthenticate
				want.Approvers = append(want.Approvers, alone.Approvers...)
			}
		}
		for _, bound := range []*policy.Bound{one, other} {
			rules := bound.For(name)
			got := rules.Decide(q)
			explained := bound.Explain(name, q)
			if (got.Rule != nil) != matched || explained.Effect != got.Effect || got.Rule != nil &&
				explained.Rule != got.Rule.Name {
				t.Errorf("%+v of %+v, explained as %+v", got, p, explained)
			}
			if got.Effect == policy.Confirm && !rules.MayConfirm() {
				t.Errorf("%s must be confirmed, which it never may be: %+v", name, p)
			}
			got.Rule = nil
			slices.SortFunc(got.Approvers, func(a, b *policy.Approvers) int { return a.Count - b.Count })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s\nby %+v", name, diff, p)
			}
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
			if rules != nil || rules.MayConfirm() {
				t.Errorf("%s: there are rules: %+v", operation, rules)
			}
			diff(t, policy.Decision{Effect: policy.Allow}, rules.Decide(policy.Request{}))
		}
	}
}

func TestRulesArePrepared(t *testing.T) {
	bound := bind(t, policy.Policy{Rules: []policy.Rule{
		{Name: "lists", Effect: policy.Deny, When: []policy.Condition{{Param: "filter.status", Equals: "done"}}},
		{Name: "deletes", Effect: policy.Confirm, Categories: []gen.Category{gen.Delete}},
	}})
	for name, want := range map[string]struct{ some, confirms bool }{
		"list_todos": {true, false}, "delete_todo": {true, true}, "update_todo": {}, "no_such_operation": {},
	} {
		rules := bound.For(name)
		if rules != nil != want.some || rules.MayConfirm() != want.confirms {
			t.Errorf("%s: %+v", name, rules)
		}
	}
	cautious := bind(t, policy.Policy{Default: policy.Confirm})
	if rules := cautious.For("no_such_operation"); !rules.MayConfirm() ||
		rules.Decide(policy.Request{}).Effect != policy.Confirm {
		t.Error("the default does not decide about an unknown operation")
	}
}

// REQ-VO-14: a parameter counts only in conditions on it, also one with the name of a caller's property.
func TestParametersSayNothingAboutTheCaller(t *testing.T) {
	bound := bind(t, *parse(t, `
version: 1
rules:
  - {name: a, effect: deny, operations: ["*"], not: {callers: [root], scopes: [admin]}}
  - {name: b, effect: deny, operations: [list_todos], callers: [root], when: [{param: limit, greater_than: 100}]}
`))
	asked := []string{}
	q := policy.Request{Value: func(name string) (string, bool) {
		asked = append(asked, name)
		return map[string]string{"limit": "1"}[name], name == "limit"
	}}
	for _, c := range []string{"", "root"} {
		q.Caller.Subject = c
		want := policy.Deny
		if c == "root" {
			want = policy.Allow
		}
		if got := bound.For("list_todos").Decide(q).Effect; got != want {
			t.Errorf("%q: %s", c, got)
		}
	}
	diff(t, []string{"limit"}, asked)
}

func TestAnUnknownDangerLevelCountsAgainstTheCall(t *testing.T) {
	adapter := &gen.Definitions{Operations: []gen.Operation{{Name: "odd", Category: gen.Read, Danger: "odd"}}}
	for effect, want := range map[policy.Effect]policy.Effect{
		policy.Deny: policy.Deny, policy.Confirm: policy.Confirm, policy.Allow: policy.Deny,
	} {
		p := policy.Policy{Default: policy.Allow, Rules: []policy.Rule{{Name: "r", Effect: effect, Danger: gen.Forbidden}}}
		if effect == policy.Allow {
			p.Default = policy.Deny
		}
		bound, err := p.Bind(adapter)
		if err != nil {
			t.Fatal(err)
		}
		if got := bound.For("odd").Decide(policy.Request{}).Effect; got != want {
			t.Errorf("%s: %s", effect, got)
		}
	}
}

func TestDecidingAllocatesNothing(t *testing.T) {
	bound := bind(t, *parse(t, `
version: 1
rules:
  - {name: a, effect: deny, operations: ["delete_*"], callers: ["x-*", "*-y"], issuers: [a], scopes: [s]}
  - {name: b, effect: confirm, danger: destructive, not: {callers: [root]}, cooldown: 1s}
  - {name: c, effect: allow, operations: ["*"]}
`))
	q := policy.Request{Caller: caller("ci-bot", "read", "admin")}
	rules := bound.For("delete_todo")
	if n := testing.AllocsPerRun(100, func() { rules.Decide(q) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	bound := bind(b, *parse(b, `
version: 1
rules:
  - {name: a, effect: deny, operations: ["delete_*"], callers: ["x-*"]}
  - {name: b, effect: confirm, danger: destructive, not: {callers: [root]}}
  - {name: c, effect: deny, operations: [list_todos], when: [{param: filter.status, in: [done]}]}
`))
	for name, operation := range map[string]string{"callers": "delete_todo", "params": "list_todos"} {
		b.Run(name, func(b *testing.B) {
			q := policy.Request{
				Caller: caller("ci-bot"), Value: func(string) (string, bool) { return `{"status":"open","text":"x"}`, true },
			}
			rules := bound.For(operation)
			b.ReportAllocs()
			for b.Loop() {
				rules.Decide(q)
			}
		})
	}
}
