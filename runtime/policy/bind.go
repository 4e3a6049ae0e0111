package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Bound is a policy for the operations of an adapter. It is immutable and safe for concurrent use.
type Bound struct {
	policy     *Policy
	rules      []Rule // what decisions point to
	catalog    catalog
	operations map[string]*gen.Operation
	applicable map[string]*Rules // by operation; without those to which no rule applies
	unknown    *Rules            // for operations that the adapter does not have
	hiding     []hiding
	forms      Forms
	warnings   Mistakes
}

// Bind is BindForms without forms: values are compared as they are spelled. It is for checks of a policy without the
// program that runs the adapter.
func (p *Policy) Bind(definitions *gen.Definitions) (*Bound, error) {
	return p.BindForms(definitions, nil)
}

// BindForms prepares the rules for the operations of an adapter; definitions must not change after it. It refuses rules
// that would silently never match: patterns that match no operation, conditions on parameters that none of a rule's
// operations has, and values that a parameter cannot have. It also reports what Validate finds. The error is of type
// Mistakes.
//
// Conditions compare values in the canonical form that forms finds, which the values of a Request must have as well.
func (p *Policy) BindForms(definitions *gen.Definitions, forms Forms) (*Bound, error) {
	f := &findings{policy: p}
	if p.validate(f); len(f.list) > 0 {
		return nil, f.list.Err()
	}
	b := &Bound{
		policy: p, rules: slices.Clone(p.Rules), catalog: newCatalog(definitions.Types),
		operations: make(map[string]*gen.Operation, len(definitions.Operations)), applicable: make(map[string]*Rules),
		forms: forms,
	}
	names := make([]string, len(definitions.Operations))
	for i := range definitions.Operations {
		names[i] = definitions.Operations[i].Name
		b.operations[names[i]] = &definitions.Operations[i]
	}
	fallback := cmp.Or(p.Default, Allow)
	if fallback != Allow {
		b.unknown = &Rules{fallback: fallback}
		for _, name := range names {
			b.applicable[name] = &Rules{fallback: fallback}
		}
	}
	for i := range b.rules {
		if len(b.rules[i].Hide) > 0 {
			b.bindHiding(f, i, definitions)
		} else {
			b.bindRule(f, i, names)
		}
	}
	if err := f.list.Err(); err != nil {
		return nil, err
	}
	b.warnings = f.warnings.sorted()
	for _, rules := range b.applicable {
		slices.SortStableFunc(rules.list, func(x, y boundRule) int {
			return cmp.Compare(y.rule.Effect.rank(), x.rule.Effect.rank())
		})
	}
	return b, nil
}

// Warnings returns what is likely meant otherwise: values of conditions that are not in the canonical form of their
// parameter, and those that cannot be judged.
func (b *Bound) Warnings() Mistakes { return slices.Clone(b.warnings) }

// bindRule adds a rule to the operations that it applies to.
func (b *Bound) bindRule(f *findings, i int, names []string) {
	r := &b.rules[i]
	before := len(f.list)
	f.matchOperations(ofRule(i, "operations"), r.Operations, names)
	f.matchOperations(ofRule(i, "not.operations"), r.Not.Operations, names)
	if len(f.list) > before {
		return
	}
	var candidates []*gen.Operation
	for _, name := range names {
		if o := b.operations[name]; r.mismatch(o) == "" {
			candidates = append(candidates, o)
		}
	}
	if len(candidates) == 0 {
		if len(r.Operations) > 0 {
			f.add(ofRule(i, "operations"), "the patterns match operations, but none of those has the categories and the danger "+
				"level that the rule asks for as well")
		} else if len(r.When) > 0 {
			f.add(ofRule(i, "when"), "no operation has the categories and the danger level that the rule asks for, "+
				"so that its conditions are about nothing")
		}
		return
	}
	routes := make([]map[string]route, len(r.When)) // of each condition, by operation
	for k := range r.When {
		routes[k] = b.routes(f, ofCondition(i, k, ""), &r.When[k], candidates)
	}
	var applies []string
	for _, o := range candidates {
		bound := boundRule{rule: r}
		for k := range r.When {
			if to, ok := routes[k][o.Name]; ok {
				bound.conditions = append(bound.conditions, newCondition(&r.When[k], to))
			}
		}
		if len(bound.conditions) == len(r.When) {
			applies = append(applies, o.Name)
			b.apply(o.Name, bound)
		}
	}
	f.checkApplication(i, r, routes, candidates, applies)
}

// apply adds a rule to an operation.
func (b *Bound) apply(operation string, bound boundRule) {
	rules := b.applicable[operation]
	if rules == nil {
		rules = &Rules{fallback: Allow}
		b.applicable[operation] = rules
	}
	rules.list = append(rules.list, bound)
	rules.confirms = rules.confirms || bound.rule.Effect == Confirm
}

// checkApplication refuses a rule that applies to no operation, and a pattern whose operations all lack a parameter
// that a condition names.
func (f *findings) checkApplication(
	i int, r *Rule, routes []map[string]route, candidates []*gen.Operation, applies []string,
) {
	if slices.ContainsFunc(routes, func(m map[string]route) bool { return len(m) == 0 }) {
		return // which routes has reported
	}
	if len(applies) == 0 {
		f.add(ofRule(i, "when"), "no operation has all of the parameters that the conditions are about; make a rule for each")
		return
	}
	for k, pattern := range r.Operations {
		matching := func(name string) bool { return matches(pattern, name) }
		if !slices.ContainsFunc(applies, matching) &&
			slices.ContainsFunc(candidates, func(o *gen.Operation) bool { return matching(o.Name) }) {
			f.add(ofRule(i, "operations").item(k), "%s matches only operations without the parameters that the conditions "+
				"are about, where the rule never applies; leave it out, or make another rule", clip(pattern))
		}
	}
}

// mismatch returns the key of the rule because of which it matches no call of an operation; empty: it may match.
func (r *Rule) mismatch(o *gen.Operation) string {
	level := o.Danger.Level()
	switch {
	case len(r.Operations) > 0 && !matchesAny(r.Operations, o.Name):
		return "operations"
	case len(r.Categories) > 0 && !slices.Contains(r.Categories, o.Category):
		return "categories"
	case r.Danger != "" && level >= 0 && level < r.Danger.Level(), r.Danger != "" && level < 0 && r.Effect == Allow:
		return "danger" // a level that does not exist counts against the call
	case matchesAny(r.Not.Operations, o.Name):
		return "not.operations"
	}
	return ""
}

// matchOperations refuses patterns that match no name of an operation.
func (f *findings) matchOperations(part Part, patterns, names []string) {
	for k, pattern := range patterns {
		if !slices.ContainsFunc(names, func(name string) bool { return matches(pattern, name) }) {
			f.add(part.item(k), "%s matches no operation%s",
				clip(pattern), suggest(strings.Trim(pattern, "*?_"), similarNames(pattern, names)))
		}
	}
}

// similarNames returns the names that a pattern may mean: for one with * or ?, those with a word like the text of the
// pattern. If there is none, it returns all names.
func similarNames(pattern string, names []string) []string {
	if !strings.ContainsAny(pattern, "*?") {
		return names
	}
	text := strings.Trim(pattern, "*?_")
	var similar []string
	for _, name := range names {
		for word := range strings.SplitSeq(name, "_") {
			if _, ok := nearest(text, []string{word}); ok {
				similar = append(similar, name)
				break
			}
		}
	}
	if len(similar) > 0 {
		return similar
	}
	return names
}
