package policy

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// Explanation explains to operators why a call is allowed, denied or must be confirmed. It is not for agents: it
// contains values of parameters, except for sensitive ones. Its JSON form is the output of aql-tag policy explain
// -json.
type Explanation struct {
	Operation string       `json:"operation"`
	Category  gen.Category `json:"category,omitempty"` // empty: the adapter has no such operation
	Danger    gen.Danger   `json:"danger,omitempty"`
	Caller    string       `json:"caller,omitempty"` // empty: anonymous
	Issuer    string       `json:"issuer,omitempty"`
	Scopes    []string     `json:"scopes,omitempty"`
	Effect    Effect       `json:"effect"`
	// Rule is the name of the rule that decided; empty: the default decided.
	Rule           string `json:"rule,omitempty"`
	Reason         string `json:"reason,omitempty"`   // of the rule
	Cooldown       string `json:"cooldown,omitempty"` // as Go writes durations
	Reauthenticate bool   `json:"reauthenticate,omitempty"`
	// Approvers are those who must approve, in words, one for each rule that says so.
	Approvers []string `json:"approvers,omitempty"`
	// TypeToConfirm is the parameter whose value a person types before the call runs, whatever the policy says; empty:
	// there is none, or the call is denied.
	TypeToConfirm string `json:"type_to_confirm,omitempty"`
	// SafetyLoop is what the safety loop demands of its own operations, whatever the rules say, in words; empty: nothing,
	// or the call is denied. Explain does not set it: whether an adapter has the loop is up to its author.
	SafetyLoop string  `json:"safety_loop,omitempty"`
	Rules      []Match `json:"rules"` // in the order of the policy
}

// Match reports whether one rule matches a call.
type Match struct {
	Name    string `json:"name"`
	Effect  Effect `json:"effect"`          // hide, if the rule hides fields
	Place   string `json:"place,omitempty"` // file:line; empty: the policy was made in Go
	Matched bool   `json:"matched"`
	Decided bool   `json:"decided"`
	// Why is the first reason why the rule does not match. For a rule that matches, it names the conditions whose results
	// are unknown.
	Why string `json:"why,omitempty"`
}

// Explain decides about a call as Decide does, and gives a reason for each rule.
func (b *Bound) Explain(operation string, q Request) Explanation {
	decision := b.For(operation).Decide(q)
	e := Explanation{
		Operation: operation, Caller: q.Caller.Subject, Issuer: q.Caller.Issuer, Scopes: q.Caller.Scopes,
		Effect: decision.Effect, Reauthenticate: decision.Reauthenticate, Rules: make([]Match, len(b.rules)),
	}
	if decision.Cooldown > 0 {
		e.Cooldown = decision.Cooldown.String()
	}
	for _, approvers := range decision.Approvers {
		e.Approvers = append(e.Approvers, approvers.String())
	}
	if decision.Rule != nil {
		e.Rule, e.Reason = decision.Rule.Name, decision.Rule.Reason
	}
	o := b.operations[operation]
	if o != nil {
		e.Category, e.Danger = o.Category, o.Danger
		if e.Effect != Deny {
			e.TypeToConfirm = o.TypeToConfirm
		}
	}
	for i := range b.rules {
		r := &b.rules[i]
		m := &e.Rules[i]
		m.Name, m.Effect, m.Decided = r.Name, r.Effect, r == decision.Rule
		if len(r.Hide) > 0 {
			m.Effect = "hide"
		}
		m.Place = b.policy.Place(i)
		if o == nil {
			m.Why = "the adapter has no such operation"
			continue
		}
		m.Matched, m.Why = b.explain(r, o, &q)
	}
	return e
}

// explain reports whether a rule matches a call, and Match.Why.
func (b *Bound) explain(r *Rule, o *gen.Operation, q *Request) (matched bool, why string) {
	if len(r.Hide) > 0 {
		if r.excludes(&q.Caller) != "" {
			return false, "it hides fields of results from other callers"
		}
		return false, "it hides from this caller, in results: " + strings.Join(r.Hide, ", ")
	}
	switch r.mismatch(o) {
	case "operations":
		return false, "the operation is none of " + strings.Join(r.Operations, ", ")
	case "categories":
		return false, fmt.Sprintf("the category %s is none of %s", o.Category, strings.Join(texts(r.Categories), ", "))
	case "danger":
		return false, fmt.Sprintf("the danger level %s is below %s", cmp.Or(o.Danger, "(none)"), r.Danger)
	case "not.operations":
		return false, "the operation is excepted: " + strings.Join(r.Not.Operations, ", ")
	}
	if excluded := r.excludes(&q.Caller); excluded != "" {
		return false, r.describeExclusion(excluded, q)
	}
	var uncertain []string
	for k := range r.When {
		to, d := b.resolve(o, r.When[k].Param)
		if d != nil {
			return false, "the operation has no parameter " + r.When[k].Param
		}
		c := newCondition(&r.When[k], to)
		var seen string
		t := c.evaluate(q, r.Effect == Allow, &seen)
		if t == yes {
			continue
		}
		text := fmt.Sprintf("the condition is %s, and the value is %s", &c, seen)
		if t == unknown {
			text += "; the result is unknown, which counts against the call"
		}
		if t == no || r.Effect == Allow {
			return false, text
		}
		uncertain = append(uncertain, text)
	}
	return true, strings.Join(uncertain, "; ")
}

// describeExclusion returns why a rule does not match a caller, for the key that excludes returned.
func (r *Rule) describeExclusion(key string, q *Request) string {
	name := cmp.Or(q.Caller.Subject, "anonymous")
	issuer := cmp.Or(q.Caller.Issuer, "unknown")
	scopes := cmp.Or(strings.Join(q.Caller.Scopes, ", "), "none")
	switch key {
	case "anonymous":
		if q.Caller.Anonymous() {
			return "the caller is anonymous, and the rule is about known callers"
		}
		return fmt.Sprintf("the caller is %s, and the rule is about anonymous ones", name)
	case "callers":
		return fmt.Sprintf("the caller is %s, none of %s", name, strings.Join(r.Callers, ", "))
	case "issuers":
		return fmt.Sprintf("the caller's issuer is %s, none of %s", issuer, strings.Join(r.Issuers, ", "))
	case "scopes":
		return fmt.Sprintf("the caller's scopes are %s, and the rule asks for one of %s",
			scopes, strings.Join(r.Scopes, ", "))
	case "not.callers":
		return fmt.Sprintf("the caller %s is excepted: %s", name, strings.Join(r.Not.Callers, ", "))
	case "not.issuers":
		return fmt.Sprintf("the caller's issuer %s is excepted: %s", issuer, strings.Join(r.Not.Issuers, ", "))
	}
	return fmt.Sprintf("the caller's scopes %s are excepted: %s", scopes, strings.Join(r.Not.Scopes, ", "))
}

// WriteText writes the explanation for people.
func (e Explanation) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Operation, e.Effect)
	if e.Cooldown != "" {
		fmt.Fprintf(&b, ", after %s", e.Cooldown)
	}
	if e.Reauthenticate {
		b.WriteString(", authenticated anew")
	}
	for _, approvers := range e.Approvers {
		b.WriteString(", approved by " + words.Printable(approvers))
	}
	b.WriteByte('\n')
	facts := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if e.Rule == "" {
		fmt.Fprintf(facts, "  decided by\tthe default: no rule matches\n")
	}
	for _, m := range e.Rules {
		if m.Decided {
			fmt.Fprintf(facts, "  decided by\t%s\n", m.where())
			if m.Why != "" {
				fmt.Fprintf(facts, "  although\t%s\n", words.Printable(m.Why))
			}
		}
	}
	if e.Reason != "" {
		fmt.Fprintf(facts, "  reason\t%s\n", words.Printable(e.Reason))
	}
	if e.Category != "" {
		fmt.Fprintf(facts, "  danger level\t%s (%s)\n", e.Danger, e.Category)
	}
	if e.TypeToConfirm != "" {
		fmt.Fprintf(facts, "  all the same\ta person types the value of %s before it runs\n",
			words.Printable(e.TypeToConfirm))
	}
	if e.SafetyLoop != "" {
		fmt.Fprintf(facts, "  safety loop\t%s\n", words.Printable(e.SafetyLoop))
	}
	caller := cmp.Or(e.Caller, "anonymous")
	if e.Issuer != "" {
		caller += ", vouched for by " + e.Issuer
	}
	if len(e.Scopes) > 0 {
		caller += ", with " + strings.Join(e.Scopes, ", ")
	}
	fmt.Fprintf(facts, "  caller\t%s\n", words.Printable(caller))
	if err := facts.Flush(); err != nil {
		return err
	}
	first := true
	for _, m := range e.Rules {
		if m.Decided {
			continue
		}
		if first {
			b.WriteString("\nThe other rules:\n")
			first = false
		}
		fmt.Fprintf(&b, "  %s\n", m.where())
		switch {
		case m.Matched && m.Effect == e.Effect:
			b.WriteString("    matches too\n")
		case m.Matched:
			fmt.Fprintf(&b, "    matches, but %s is more restrictive\n", e.Effect)
		}
		if m.Why != "" {
			fmt.Fprintf(&b, "    %s\n", words.Printable(m.Why))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// where returns the rule's name with its effect and place.
func (m Match) where() string {
	text := fmt.Sprintf("%s (%s)", m.Name, m.Effect)
	if m.Place != "" {
		text += ", " + m.Place
	}
	return words.Printable(text)
}
