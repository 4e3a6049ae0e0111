package policy

import (
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// kind is how the values of a parameter are compared.
type kind uint8

const (
	textKind kind = iota
	integerKind
	numberKind
	booleanKind
	momentKind
	anyKind
	opaqueKind // only whether it is given can be asked
)

// String is how people call values of the kind.
func (k kind) String() string {
	return [...]string{"a text", "a whole number", "a number", "a boolean", "a moment (RFC 3339)", "a value of any type", "no single value"}[k]
}

// step is one step of the way into the JSON text of a parameter.
type step struct {
	names   []string // the member's name and its aliases; nil: each element
	absent  string   // what counts where it is not there: JSON; empty: nothing
	updates bool     // null changes what is stored, and does not count as absent
}

// route is the way to the value that a condition is about.
type route struct {
	param     string // top-level parameter
	fallback  string // its default
	steps     []step
	kind      kind
	enum      []string
	minimum   string // JSON numbers; empty: none
	maximum   string
	optional  bool // it can be absent
	sensitive bool
	updates   bool // it is part of a change to what is stored: absent means unchanged
}

// dead is where a path ends that does not exist.
type dead struct {
	depth      int      // names of the path that do exist
	prefix     string   // those, with a dot behind
	word       string   // the first that does not
	candidates []string // what there is instead
	why        string   // why there is nothing; empty: the name is wrong
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

// resolve finds the way that a path takes in an operation's parameters.
func (c catalog) resolve(o *gen.Operation, path string) (route, *dead) {
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
	r.minimum, r.maximum, r.updates = p.Minimum, p.Maximum, updates
	return r, nil
}

// member finds a parameter or field by name.
func member(params []gen.Param, name string) (*gen.Param, *dead) {
	var names []string
	for i := range params {
		p := &params[i]
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
		for _, alias := range p.Aliases {
			if alias == name {
				return nil, &dead{word: name, candidates: []string{p.Name}, why: "is another name of " + p.Name + "; write " + p.Name}
			}
		}
	}
	return nil, &dead{word: name, candidates: names}
}

// anything stands for a value whose type nobody declared.
var anything = gen.Param{Type: "any"}

// step takes one step from p.
func (c catalog) step(p *gen.Param, name string, updates *bool) (*gen.Param, step, *dead) {
	items, fields := p.Items, []gen.Param(nil)
	var object bool
	switch p.Type {
	case "array":
		if name != "*" {
			return nil, step{}, &dead{word: name, candidates: []string{"*"}, why: "is asked of an array, whose elements are written *"}
		}
		return orAnything(items), step{}, nil
	case "object":
		object = true
	case "any":
		object, items = true, nil
	default:
		t, ok := c[p.Type]
		if !ok || t.Kind != gen.KindObject {
			return nil, step{}, &dead{word: name, why: "is asked of a value that has no members"}
		}
		*updates = *updates || t.Changes != ""
		object, items, fields = t.Items != nil, t.Items, t.Fields
	}
	switch {
	case object && name == "*":
		return orAnything(items), step{}, nil
	case object:
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

func orAnything(p *gen.Param) *gen.Param {
	if p == nil {
		return &anything
	}
	return p
}

// kind is how values of p are compared, and which there are.
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
