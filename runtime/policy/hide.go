package policy

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
)

// Hides reports whether the policy hides fields of results from some callers.
func (b *Bound) Hides() bool { return len(b.hiding) > 0 }

// Hidden returns the fields of results that a caller does not get, each as Type.field, sorted.
func (b *Bound) Hidden(caller identity.Caller) []string {
	var hidden []string
	for _, h := range b.hiding {
		if h.rule.excludes(&caller) == "" {
			hidden = append(hidden, h.fields...)
		}
	}
	slices.Sort(hidden)
	return slices.Compact(hidden)
}

// EveryHidden returns the fields that the policy hides from one caller or another, each as Type.field.
func (b *Bound) EveryHidden() []string {
	var hidden []string
	for _, h := range b.hiding {
		hidden = append(hidden, h.fields...)
	}
	return hidden
}

// hiding is a rule that hides fields.
type hiding struct {
	rule   *Rule
	fields []string // Type.field
}

// bindHiding finds the fields that a rule hides. It refuses patterns that match none, and warns of results in which
// fields cannot be found.
func (b *Bound) bindHiding(f *findings, i int, definitions *gen.Definitions) {
	r := &b.rules[i]
	all := b.resultFields(definitions)
	h := hiding{rule: r}
	for k, pattern := range r.Hide {
		found := false
		for _, field := range all {
			if matches(pattern, field) {
				h.fields, found = append(h.fields, field), true
			}
		}
		if !found {
			f.add(ofRule(i, "hide").item(k), "%s matches no field of a result%s", clip(pattern), suggest(pattern, all))
		}
	}
	for _, name := range b.dynamicResults(definitions) {
		f.warn(ofRule(i, "hide"), "the result of %s has values of any type, in which fields are not hidden", name)
	}
	b.hiding = append(b.hiding, h)
}

// resultFields returns the fields of the types that results mention, as Type.field, and those that results leave out
// for everybody. A field that says of which type its object is cannot be hidden.
func (b *Bound) resultFields(definitions *gen.Definitions) []string {
	seen := make(map[string]bool)
	for i := range definitions.Operations {
		gen.Mention(b.catalog, definitions.Operations[i].Returns.Name, seen)
	}
	var fields []string
	for i := range definitions.Types {
		t := &definitions.Types[i]
		if !seen[t.Name] {
			continue
		}
		for _, name := range t.Withheld {
			fields = append(fields, t.Name+"."+name)
		}
		for k := range t.Computed {
			fields = append(fields, t.Name+"."+gen.ComputedPrefix+t.Computed[k].Name)
		}
		for k := range t.Related {
			fields = append(fields, t.Name+"."+t.Related[k].Name)
		}
		for k := range t.Fields {
			if t.Fields[k].Constant == "" {
				fields = append(fields, t.Name+"."+t.Fields[k].Name)
			}
		}
	}
	return fields
}

// dynamicResults returns the operations whose results have values that no definition describes.
func (b *Bound) dynamicResults(definitions *gen.Definitions) []string {
	var names []string
	for i := range definitions.Operations {
		o := &definitions.Operations[i]
		seen := make(map[string]bool)
		gen.Mention(b.catalog, o.Returns.Name, seen)
		for name := range seen {
			if isDynamic(b.catalog[name], name == o.Returns.Name && slices.ContainsFunc(o.Params, summarises)) {
				names = append(names, o.Name)
				break
			}
		}
	}
	return names
}

func summarises(p gen.Param) bool { return p.Aggregates() }

// isDynamic reports whether a type has values that no definition describes. The summaries of a page are described by
// the fields that requests may name there, of which those that are hidden are none.
func isDynamic(t *gen.Type, summarised bool) bool {
	dynamic := func(p *gen.Param) bool {
		for ; p != nil; p = p.Items {
			if p.Type == "any" || (p.Type == "object" || p.Type == "array") && p.Items == nil {
				return true
			}
		}
		return false
	}
	return t.Kind == gen.KindUnion || dynamic(t.Items) ||
		slices.ContainsFunc(t.Fields, func(p gen.Param) bool {
			return dynamic(&p) && (!summarised || p.Name != "aggregations")
		}) ||
		slices.ContainsFunc(t.Computed, func(p gen.Param) bool { return dynamic(&p) })
}

// validateHiding checks a rule that hides fields, which decides about no call.
func (f *findings) validateHiding(i int, r *Rule) {
	for k, pattern := range r.Hide {
		part := ofRule(i, "hide").item(k)
		if fault, offset := checkPattern(pattern); fault != "" {
			f.addIn(part, offset, "%s: %s", clip(pattern), fault)
		} else if typ, field, found := strings.Cut(pattern, "."); !found || typ == "" || field == "" {
			f.add(part, "%s: write the type and the field, as in Customer.email or \"*.email\"", clip(pattern))
		}
	}
	for _, given := range []struct {
		key string
		is  bool
	}{
		{"effect", r.Effect != ""}, {"operations", len(r.Operations) > 0}, {"categories", len(r.Categories) > 0},
		{"danger", r.Danger != ""}, {"not.operations", len(r.Not.Operations) > 0}, {"when", len(r.When) > 0},
		{"reason", r.Reason != ""}, {"cooldown", r.Cooldown != 0}, {"reauthenticate", r.Reauthenticate},
		{"approvers", r.Approvers != nil},
	} {
		if given.is {
			f.add(ofRule(i, given.key), "%s is for rules about calls, and this rule hides fields from callers; "+
				"make two rules", given.key)
		}
	}
}
