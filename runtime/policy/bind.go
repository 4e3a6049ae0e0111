package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Bound is a policy held against the operations of an adapter. It is immutable and safe for concurrent use.
type Bound struct {
	policy     *Policy
	rules      []Rule // what decisions point to
	catalog    catalog
	operations map[string]*gen.Operation
	applicable map[string]*Rules
	strangers  *Rules // for operations that the adapter does not have
}

// Bind holds the rules against the definitions of an adapter, which must not change any more. What would silently never
// match is refused: patterns that match no operation, conditions on parameters that none of a rule's operations has, and
// values that a parameter cannot have. The error is of type Mistakes. The policy is checked as a whole too, for those
// that were made in Go.
func (p *Policy) Bind(definitions *gen.Adapter) (*Bound, error) {
	f := &findings{policy: p}
	if p.validate(f); len(f.list) > 0 {
		return nil, f.list.Err()
	}
	b := &Bound{
		policy: p, rules: slices.Clone(p.Rules), catalog: newCatalog(definitions.Types),
		operations: make(map[string]*gen.Operation, len(definitions.Operations)), applicable: make(map[string]*Rules),
	}
	names := make([]string, len(definitions.Operations))
	for i := range definitions.Operations {
		names[i] = definitions.Operations[i].Name
		b.operations[names[i]] = &definitions.Operations[i]
	}
	fallback := cmp.Or(p.Default, Allow)
	if fallback != Allow {
		b.strangers = &Rules{fallback: fallback}
		for _, name := range names {
			b.applicable[name] = &Rules{fallback: fallback}
		}
	}
	for i := range b.rules {
		b.bindRule(f, i, names)
	}
	if err := f.list.Err(); err != nil {
		return nil, err
	}
	for _, rules := range b.applicable {
		slices.SortStableFunc(rules.list, func(x, y boundRule) int { return cmp.Compare(y.rule.Effect.rank(), x.rule.Effect.rank()) })
	}
	return b, nil
}

// bindRule adds a rule to the operations that it applies to.
func (b *Bound) bindRule(f *findings, i int, names []string) {
	r := &b.rules[i]
	before := len(f.list)
	f.matchSome(ofRule(i, "operations"), r.Operations, names)
	f.matchSome(ofRule(i, "not.operations"), r.Not.Operations, names)
	if len(f.list) > before {
		return
	}
	var about []*gen.Operation
	for _, name := range names {
		if o := b.operations[name]; r.aside(o) == "" {
			about = append(about, o)
		}
	}
	if len(about) == 0 {
		if len(r.Operations) > 0 {
			f.add(ofRule(i, "operations"), "the patterns match operations, but none of those has the categories and the danger level that the rule asks for as well")
		} else if len(r.When) > 0 {
			f.add(ofRule(i, "when"), "no operation has the categories and the danger level that the rule asks for, so that its conditions are about nothing")
		}
		return
	}
	routes := make([]map[string]route, len(r.When))
	for k := range r.When {
		routes[k] = b.routes(f, ofCondition(i, k, ""), &r.When[k], about)
	}
	var applies []string
	for _, o := range about {
		bound := boundRule{rule: r}
		for k := range r.When {
			way, ok := routes[k][o.Name]
			if !ok {
				break
			}
			bound.conditions = append(bound.conditions, newCondition(&r.When[k], way))
		}
		if len(bound.conditions) < len(r.When) {
			continue
		}
		applies = append(applies, o.Name)
		rules := b.applicable[o.Name]
		if rules == nil {
			rules = &Rules{fallback: Allow}
			b.applicable[o.Name] = rules
		}
		rules.list = append(rules.list, bound)
		rules.params = rules.params || len(bound.conditions) > 0
		rules.confirms = rules.confirms || r.Effect == Confirm
	}
	if slices.ContainsFunc(routes, func(m map[string]route) bool { return len(m) == 0 }) {
		return // which has been said
	}
	if len(applies) == 0 {
		f.add(ofRule(i, "when"), "no operation has all of the parameters that the conditions are about; make a rule for each")
		return
	}
	// Who names an operation expects the rule to do something about it.
	for k, pattern := range r.Operations {
		matching := func(name string) bool { return matches(pattern, name) }
		if !slices.ContainsFunc(applies, matching) && slices.ContainsFunc(about, func(o *gen.Operation) bool { return matching(o.Name) }) {
			f.add(ofRule(i, "operations").item(k), "%s matches only operations without the parameters that the conditions are about, where the rule never applies; leave it out, or make another rule", clip(pattern))
		}
	}
}

// aside is why a rule does not apply to an operation whatever the call, by the key that says so; empty: it may apply.
func (r *Rule) aside(o *gen.Operation) string {
	level := o.Danger.Level()
	switch {
	case len(r.Operations) > 0 && !matchesAny(r.Operations, o.Name):
		return "operations"
	case len(r.Categories) > 0 && !slices.Contains(r.Categories, o.Category):
		return "categories"
	case r.Danger != "" && level >= 0 && level < r.Danger.Level(), r.Danger != "" && level < 0 && r.Effect == Allow:
		return "danger" // a level that nobody knows counts against the call
	case matchesAny(r.Not.Operations, o.Name):
		return "not.operations"
	}
	return ""
}

// matchSome refuses patterns that match no name.
func (f *findings) matchSome(at Part, patterns, names []string) {
	for k, pattern := range patterns {
		if !slices.ContainsFunc(names, func(name string) bool { return matches(pattern, name) }) {
			f.add(at.item(k), "%s matches no operation%s", clip(pattern), suggest(strings.Trim(pattern, "*?_"), likely(pattern, names)))
		}
	}
}

// likely are the names that a pattern may be about: those near to it, or all of them.
func likely(pattern string, names []string) []string {
	if !strings.ContainsAny(pattern, "*?") {
		return names
	}
	// A pattern is like the part of a name that it spells.
	word := strings.Trim(pattern, "*?_")
	var parts []string
	for _, name := range names {
		for part := range strings.SplitSeq(name, "_") {
			if _, ok := nearest(word, []string{part}); ok {
				parts = append(parts, name)
				break
			}
		}
	}
	if len(parts) > 0 {
		return parts
	}
	return names
}

// routes finds the way of a condition in each operation that has it, and refuses what could never hold.
func (b *Bound) routes(f *findings, at Part, c *Condition, about []*gen.Operation) map[string]route {
	found := make(map[string]route)
	var order []*gen.Operation
	var end *dead
	for _, o := range about {
		way, d := b.catalog.resolve(o, c.Param)
		switch {
		case d == nil:
			found[o.Name] = way
			order = append(order, o)
		case end == nil || d.depth > end.depth:
			end = d
		case d.depth == end.depth:
			for _, candidate := range d.candidates {
				if !slices.Contains(end.candidates, candidate) {
					end.candidates = append(end.candidates, candidate)
				}
			}
			if end.why == "" {
				end.why = d.why
			}
		}
	}
	if len(found) == 0 {
		f.deadEnd(at.sibling("param"), c.Param, end)
		return found
	}
	before := len(f.list)
	for _, o := range order {
		if f.fits(at, c, found[o.Name], o.Name, len(order) > 1); len(f.list) > before {
			return found // the other operations would say the same
		}
	}
	f.possible(at, c, slices.Collect(maps.Values(found)))
	return found
}

// deadEnd says where a path ends.
func (f *findings) deadEnd(at Part, path string, d *dead) {
	offset := len([]rune(d.prefix))
	if d.why != "" {
		f.addIn(at, offset, "%s: %s %s", clip(path), clip(d.word), d.why)
		return
	}
	var hint string
	if likely, ok := nearest(d.word, d.candidates); ok {
		hint = "; did you mean " + clip(d.prefix+likely+strings.TrimPrefix(path, d.prefix+d.word)) + "?"
	} else {
		var whole []string
		for _, candidate := range d.candidates {
			whole = append(whole, d.prefix+candidate)
		}
		hint = suggest("", whole)
	}
	f.addIn(at, offset, "no operation of the rule has a parameter %s%s", clip(path), hint)
}

// fits refuses values of another type than the parameter, and tests that make no sense for it.
func (f *findings) fits(at Part, c *Condition, way route, operation string, several bool) {
	narrow := ""
	if several {
		narrow = "; if that operation is not meant, name the others"
	}
	value := func(key string, item int, v any) {
		l, _ := newLiteral(v)
		if fault := way.refuse(key, l); fault != "" {
			f.add(at.sibling(key).item(item), "%s: %s is %s in %s%s%s", key, c.Param, way.kind, operation, fault, narrow)
		}
	}
	for k, v := range c.In {
		value("in", k, v)
	}
	for k, v := range c.NotIn {
		value("not_in", k, v)
	}
	for _, t := range c.scalars() {
		if t.value != nil {
			value(t.key, -1, t.value)
		}
	}
	for _, t := range []struct{ key, pattern string }{{"like", c.Like}, {"not_like", c.NotLike}} {
		if t.pattern != "" && way.kind != textKind && way.kind != anyKind {
			f.add(at.sibling(t.key), "%s: %s is %s in %s, and patterns are for texts%s", t.key, c.Param, way.kind, operation, narrow)
		}
	}
}

// refuse says why a test cannot compare values of the route with l; empty: it can.
func (r *route) refuse(key string, l literal) string {
	k := r.kind
	orders := key == "less_than" || key == "greater_than" || key == "at_least" || key == "at_most"
	switch {
	case k == opaqueKind:
		return ", which is compared with nothing; ask for its elements (.*), for one of its fields, or whether it is given"
	case orders && (k == textKind || k == booleanKind):
		return ", and only numbers and moments are less or greater than others"
	case orders && k == anyKind && l.kind != numberKind:
		return ", and must be compared with a number here"
	case k == textKind && l.kind != textKind:
		return fmt.Sprintf("; quote %s if that is meant", l.text)
	case (k == integerKind || k == numberKind) && l.kind == textKind:
		if _, ok := parseDecimal(l.text); ok {
			return fmt.Sprintf(", and %q is a text; write %s", l.text, l.text)
		}
		return fmt.Sprintf(", and %q is a text", clip(l.text))
	case k == booleanKind && l.kind == textKind && (l.text == "true" || l.text == "false"):
		return fmt.Sprintf(", and %q is a text; write %s", l.text, l.text)
	case k == integerKind && l.kind == numberKind && !orders && !l.number.integral():
		return fmt.Sprintf(", and %s is none", l.text)
	case (k == integerKind || k == numberKind) && l.kind != numberKind, k == booleanKind && l.kind != booleanKind:
		return fmt.Sprintf(", and %s is none", clip(l.text))
	case k == momentKind:
		if _, ok := parseMoment(l.text); !ok || l.kind != textKind {
			return fmt.Sprintf(", and %s is none; write a text such as \"2026-01-31T00:00:00Z\"", clip(l.text))
		}
	}
	return ""
}
