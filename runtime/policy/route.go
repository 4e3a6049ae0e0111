package policy

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// route leads to the value that a condition is about, in one operation.
type route struct {
	param     string // top-level parameter
	fallback  string // its default
	steps     []step
	kind      kind
	enum      []string
	minimum   string // JSON numbers; empty: none
	maximum   string
	optional  bool // the value can be absent
	sensitive bool
	updates   bool // the value is part of a change to what is stored: absent means unchanged
	format    string
	form      *Form // nil: values are compared as they are spelled
}

// step is one step into the JSON text of a parameter.
type step struct {
	names   []string // the member's name and its aliases; nil: each element
	absent  string   // the default of a member that is absent, as JSON; empty: none
	updates bool     // null changes what is stored, and does not count as absent
}

// deadEnd is where a path leaves what is defined.
type deadEnd struct {
	depth      int      // how many names of the path exist
	prefix     string   // those names, with a dot after each
	word       string   // the first name that does not exist
	candidates []string // the names that exist in its place
	why        string   // why no name can follow; empty: the name is wrong
}

// catalog finds types by name.
type catalog map[string]*gen.Type

func newCatalog(types []gen.Type) catalog {
	c := make(catalog, len(types))
	for i := range types {
		c[types[i].Name] = &types[i]
	}
	return c
}

// routes returns the routes of a condition, by the name of the operations that have its parameter. It refuses a
// condition that could never hold.
func (b *Bound) routes(f *findings, part Part, c *Condition, candidates []*gen.Operation) map[string]route {
	found := make(map[string]route)
	var having []*gen.Operation
	var end *deadEnd
	for _, o := range candidates {
		to, d := b.resolve(o, c.Param)
		if d == nil {
			found[o.Name] = to
			having = append(having, o)
		} else {
			end = end.farther(d)
		}
	}
	if len(found) == 0 {
		f.addDeadEnd(part.sibling("param"), c.Param, end)
		return found
	}
	before := len(f.list)
	for _, o := range having {
		if f.checkTypes(part, c, found[o.Name], o.Name, len(having) > 1); len(f.list) > before {
			return found // the other operations would have the same mistake
		}
	}
	routes := make([]route, len(having))
	for i, o := range having {
		routes[i] = found[o.Name]
	}
	if f.checkValues(part, c, routes); len(f.list) > before {
		return found
	}
	if b.forms == nil {
		f.checkSpelling(part, c, routes)
	} else {
		f.checkForms(part, c, routes)
	}
	return found
}

// resolve finds the route of a path in an operation's parameters, and the form of the values that it leads to.
func (b *Bound) resolve(o *gen.Operation, path string) (route, *deadEnd) {
	to, d := b.catalog.resolve(o, path)
	if d != nil || b.forms == nil {
		return to, d
	}
	names := strings.Split(path, ".")
	form, err := b.forms(o.Name, names)
	if err != nil {
		last := len(names) - 1
		return route{}, &deadEnd{depth: last, prefix: strings.Join(append(names[:last:last], ""), "."), word: names[last],
			why: "leads to nothing that can be judged: " + err.Error()}
	}
	to.useForm(form)
	return to, nil
}

// farther returns the dead end that more names of the path lead to, or both in one.
func (d *deadEnd) farther(other *deadEnd) *deadEnd {
	switch {
	case d == nil || other.depth > d.depth:
		return other
	case other.depth < d.depth:
		return d
	}
	for _, candidate := range other.candidates {
		if !slices.Contains(d.candidates, candidate) {
			d.candidates = append(d.candidates, candidate)
		}
	}
	if d.why == "" {
		d.why = other.why
	}
	return d
}

// addDeadEnd reports where a path ends.
func (f *findings) addDeadEnd(part Part, path string, d *deadEnd) {
	offset := len([]rune(d.prefix))
	if d.why != "" {
		f.addIn(part, offset, "%s: %s %s", clip(path), clip(d.word), d.why)
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
	f.addIn(part, offset, "no operation of the rule has a parameter %s%s", clip(path), hint)
}

// resolve finds the route of a path in an operation's parameters.
func (c catalog) resolve(o *gen.Operation, path string) (route, *deadEnd) {
	names := strings.Split(path, ".")
	p, d := member(o.Params, names[0])
	if d != nil {
		return route{}, d
	}
	r := route{param: p.Name, fallback: p.Default, optional: !p.Required && p.Default == "", sensitive: p.Sensitive}
	updates := false
	for i, name := range names[1:] {
		next, s, d := c.step(p, name, &updates)
		if d != nil {
			d.depth = i + 1
			d.prefix = strings.Join(names[:i+1], ".") + "."
			return route{}, d
		}
		s.updates = updates
		r.steps = append(r.steps, s)
		r.optional = r.optional || s.names == nil || !next.Required || updates
		r.sensitive = r.sensitive || next.Sensitive
		p = next
	}
	r.kind, r.enum = c.kind(p)
	r.minimum, r.maximum, r.updates, r.format = p.Minimum, p.Maximum, updates, p.Format
	return r, nil
}

// member finds a parameter or field by name.
func member(params []gen.Param, name string) (*gen.Param, *deadEnd) {
	var names []string
	for i := range params {
		p := &params[i]
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
		if slices.Contains(p.Aliases, name) {
			why := "is another name of " + p.Name + "; write " + p.Name
			return nil, &deadEnd{word: name, candidates: []string{p.Name}, why: why}
		}
	}
	return nil, &deadEnd{word: name, candidates: names}
}

// anything is a value of undeclared type.
var anything = gen.Param{Type: "any"}

func orAnything(p *gen.Param) *gen.Param {
	if p == nil {
		return &anything
	}
	return p
}

// step takes one step from p. It sets updates where p is a change to what is stored.
func (c catalog) step(p *gen.Param, name string, updates *bool) (*gen.Param, step, *deadEnd) {
	items, fields := p.Items, []gen.Param(nil)
	var anyMember bool
	switch p.Type {
	case "array":
		if name != "*" {
			why := "is asked of an array, whose elements are written *"
			return nil, step{}, &deadEnd{word: name, candidates: []string{"*"}, why: why}
		}
		return orAnything(items), step{}, nil
	case "object":
		anyMember = true
	case "any":
		anyMember, items = true, nil
	default:
		t, ok := c[p.Type]
		if !ok || t.Kind != gen.KindObject {
			return nil, step{}, &deadEnd{word: name, why: "is asked of a value that has no members"}
		}
		*updates = *updates || t.Changes != ""
		anyMember, items, fields = t.Items != nil, t.Items, t.Fields
	}
	switch {
	case anyMember && name == "*":
		return orAnything(items), step{}, nil
	case anyMember:
		return orAnything(items), step{names: []string{name}}, nil
	case name == "*":
		_, d := member(fields, name)
		d.why = "is for the elements of arrays and the values of maps, and this is an object with fields"
		return nil, step{}, d
	}
	field, d := member(fields, name)
	if d != nil {
		return nil, step{}, d
	}
	s := step{names: append([]string{field.Name}, field.Aliases...), absent: field.Default}
	if *updates {
		s.absent = ""
	}
	return field, s, nil
}

// kind returns how values of p are compared, and which values there are; nil: any.
func (c catalog) kind(p *gen.Param) (kind, []string) {
	switch p.Type {
	case "string":
		switch p.Format {
		case "date-time":
			return momentKind, nil
		case "byte":
			return opaqueKind, nil
		}
		return textKind, p.Enum
	case "integer":
		return integerKind, nil
	case "number":
		return numberKind, nil
	case "boolean":
		return booleanKind, nil
	case "any":
		return anyKind, nil
	case "array", "object", gen.TypeSelection:
		return opaqueKind, nil
	}
	t, ok := c[p.Type]
	switch {
	case !ok || t.Kind == gen.KindScalar:
		return anyKind, nil
	case t.Kind != gen.KindEnum:
		return opaqueKind, nil
	case len(p.Enum) > 0:
		return textKind, p.Enum
	}
	var values []string
	for _, v := range t.Values {
		values = append(values, v.Value)
	}
	return textKind, values
}
