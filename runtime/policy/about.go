package policy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// About says what a rule is about and what it demands, in words, one line for each of its fields. It is for people:
// Name, Effect and Reason are apart.
func (r *Rule) About() (lines []string) {
	list := func(what string, of []string) {
		if len(of) > 0 {
			lines = append(lines, what+" "+strings.Join(of, ", "))
		}
	}
	list("operations", r.Operations)
	list("categories", texts(r.Categories))
	if r.Danger != "" {
		lines = append(lines, "danger level "+string(r.Danger)+" or higher")
	}
	list("callers", r.Callers)
	list("issuers", r.Issuers)
	list("one of the scopes", r.Scopes)
	switch {
	case r.Anonymous == nil:
	case *r.Anonymous:
		lines = append(lines, "anonymous callers")
	default:
		lines = append(lines, "callers that are known")
	}
	list("not operations", r.Not.Operations)
	list("not callers", r.Not.Callers)
	list("not issuers", r.Not.Issuers)
	list("not scopes", r.Not.Scopes)
	for i := range r.When {
		lines = append(lines, "when "+r.When[i].about())
	}
	list("hides in results", r.Hide)
	if r.Cooldown > 0 {
		lines = append(lines, "confirmed after "+span(r.Cooldown))
	}
	if r.Reauthenticate {
		lines = append(lines, "who confirms authenticates anew")
	}
	if r.Approvers != nil {
		lines = append(lines, "approved by "+r.Approvers.String())
	}
	return lines
}

// about says what a condition tests, as policy files have it.
func (c *Condition) about() string {
	var tests []string
	add := func(key string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			text = []byte(fmt.Sprint(value))
		}
		tests = append(tests, key+" "+string(text))
	}
	for _, one := range []struct {
		key   string
		value any
	}{
		{"equals", c.Equals}, {"not equals", c.NotEquals}, {"less than", c.LessThan}, {"greater than", c.GreaterThan},
		{"at least", c.AtLeast}, {"at most", c.AtMost},
	} {
		if one.value != nil {
			add(one.key, one.value)
		}
	}
	if c.In != nil {
		add("in", c.In)
	}
	if c.NotIn != nil {
		add("not in", c.NotIn)
	}
	if c.Like != "" {
		tests = append(tests, "like "+c.Like)
	}
	if c.NotLike != "" {
		tests = append(tests, "not like "+c.NotLike)
	}
	switch {
	case c.Given == nil:
	case *c.Given:
		tests = append(tests, "given")
	default:
		tests = append(tests, "not given")
	}
	return c.Param + " " + strings.Join(tests, " and ")
}

// Policy returns what was bound. It must not be changed.
func (b *Bound) Policy() *Policy { return b.policy }

// Place returns where a rule of the policy stands, file:line, by its index; empty: the policy was made in Go.
func (p *Policy) Place(rule int) string {
	if p.Source == nil {
		return ""
	}
	line, _ := p.Source.Position(ofRule(rule, ""), -1)
	return fmt.Sprintf("%s:%d", p.Source.Name(), line)
}
