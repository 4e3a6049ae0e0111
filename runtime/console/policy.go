package console

import (
	"cmp"
	"net/http"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/words"
)

func hasPolicy(o *Options) bool { return o.Policy != nil }

func (c *console) handlePolicy(handle func(route string, h http.HandlerFunc)) {
	if !hasPolicy(&c.o) {
		return
	}
	handle("GET /policy", c.known(c.showPolicy))
	handle("POST /policy", c.known(c.explain))
}

// policyPage are the rules in force.
type policyPage struct {
	At       moment
	None     bool // there is no policy
	Default  string
	Rules    []ruleRow
	Loop     []fact
	Reloaded moment
	Mistakes []string // why the file of the policy was not taken
	Address  string
	explainForm
}

// ruleRow is one rule.
type ruleRow struct {
	Name, Effect, Place, Reason string
	About                       []string
}

// explainForm asks what is decided about a call, and why.
type explainForm struct {
	Operations                      []option
	Caller, Issuer, Scopes, Params  string
	Error                           string
	Explained                       bool
	Operation, Effect, By, Although string
	Why, Danger, Who                string
	Demands                         []string // what else is demanded
	Others                          []explainedRule
}

// explainedRule is a rule that did not decide.
type explainedRule struct{ Name, Effect, Place, Says string }

// showPolicy is GET /policy.
func (c *console) showPolicy(w http.ResponseWriter, r *http.Request, v *visit) {
	c.writePolicy(w, r, http.StatusOK, v, explainForm{Params: "{}"})
}

// writePolicy writes the rules, and what a form has asked about them.
func (c *console) writePolicy(w http.ResponseWriter, r *http.Request, status int, v *visit, asked explainForm) {
	now := c.now()
	body := &policyPage{At: momentOf(now, now), Address: c.o.Path + "/policy", explainForm: asked}
	for _, name := range c.o.Policy.OperationNames() {
		body.Operations = append(body.Operations, option{Value: name, Label: name, Chosen: name == asked.Operation})
	}
	p := c.o.Policy.Policy()
	if body.None = p == nil; !body.None {
		body.Default = string(cmp.Or(p.Default, policy.Allow))
		for i := range p.Rules {
			body.Rules = append(body.Rules, ruleRowOf(p, i))
		}
		body.Loop = loopFacts(p.Loop)
	}
	if c.o.Reloaded != nil {
		last := c.o.Reloaded()
		body.Reloaded = momentOf(last.At, now)
		if last.Err != nil {
			for line := range strings.Lines(last.Err.Error()) {
				body.Mistakes = append(body.Mistakes, words.Clip(strings.TrimSpace(line), longestReason))
			}
		}
	}
	c.write(w, r, status, "policy", "Policy", v, body)
}

// ruleRowOf returns the row of a rule.
func ruleRowOf(p *policy.Policy, i int) ruleRow {
	r := &p.Rules[i]
	row := ruleRow{
		Name: words.Printable(r.Name), Effect: string(r.Effect), Place: words.Printable(p.Place(i)),
		Reason: words.Printable(r.Reason), About: printable(r.About()),
	}
	if len(r.Hide) > 0 {
		row.Effect = "hide"
	}
	return row
}

// loopFacts are the lines about the safety loop of a policy.
func loopFacts(l *policy.Loop) (facts []fact) {
	if l == nil {
		return nil
	}
	for _, one := range []fact{
		{"Mode", string(cmp.Or(l.Mode, policy.Enforcing))}, {"Steps without a person", number(l.MaxSteps)},
		{"Risk that pauses", string(l.RiskTolerance)}, {"Denied", strings.Join(l.Deny, ", ")},
		{"Approved by a person", strings.Join(l.RequiresApproval, ", ")},
		{"Approved by itself", strings.Join(l.AutoApprove, ", ")}, {"A block stops", string(l.Block)},
		{"Agents with limits of their own", number(len(l.Agents))},
	} {
		if one.Value != "" {
			facts = append(facts, fact{one.Name, words.Printable(one.Value)})
		}
	}
	return facts
}

// explain is POST /policy. It is a form of its own, since what it asks may be what no address should have. Nothing is
// called or recorded.
func (c *console) explain(w http.ResponseWriter, r *http.Request, v *visit) {
	asked := explainForm{
		Operation: r.PostFormValue("operation"), Caller: strings.TrimSpace(r.PostFormValue("caller")),
		Issuer: strings.TrimSpace(r.PostFormValue("issuer")), Scopes: r.PostFormValue("scopes"),
		Params: cmp.Or(strings.TrimSpace(r.PostFormValue("params")), "{}"),
	}
	who := identity.Caller{Subject: asked.Caller, Issuer: asked.Issuer, Scopes: strings.Fields(asked.Scopes)}
	e, err := c.o.Policy.Explain(r.Context(), asked.Operation, who, []byte(asked.Params))
	if err != nil {
		asked.Error = words.Clip(sentence(err), longestReason)
		c.writePolicy(w, r, http.StatusUnprocessableEntity, v, asked)
		return
	}
	asked.fill(&e)
	c.writePolicy(w, r, http.StatusOK, v, asked)
}

// fill notes an explanation in words.
func (f *explainForm) fill(e *aql.Explained) {
	f.Explained, f.Effect, f.Why = true, string(e.Effect), words.Printable(e.Reason)
	f.Danger, f.By = string(e.Danger), "the default: no rule matches"
	if e.Cooldown != "" {
		f.Demands = append(f.Demands, "Who confirms waits "+e.Cooldown+" first.")
	}
	if e.Reauthenticate {
		f.Demands = append(f.Demands, "Who confirms authenticates anew.")
	}
	for _, approvers := range e.Approvers {
		f.Demands = append(f.Demands, "Approved by "+words.Printable(approvers)+".")
	}
	if e.TypeToConfirm != "" {
		f.Demands = append(f.Demands, "A person types the value of "+words.Printable(e.TypeToConfirm)+" before it runs.")
	}
	if e.Confirmed && e.Effect == policy.Allow {
		f.Demands = append(f.Demands, "The adapter asks for a confirmation all the same.")
	}
	for _, m := range e.Rules {
		name := words.Printable(m.Name)
		place := words.Printable(m.Place)
		if m.Decided {
			f.By, f.Although = name, words.Printable(m.Why)
			if place != "" {
				f.By += " (" + place + ")"
			}
			continue
		}
		says := words.Printable(m.Why)
		switch {
		case m.Matched && m.Effect == e.Effect:
			says = strings.TrimSpace("matches too " + says)
		case m.Matched:
			says = strings.TrimSpace("matches, but " + string(e.Effect) + " is more restrictive " + says)
		}
		f.Others = append(f.Others, explainedRule{name, string(m.Effect), place, says})
	}
}
