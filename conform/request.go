package conform

import (
	"slices"
	"strings"
)

// baseline is a request to an operation that the server accepts: it succeeds, or fails for a reason other than its
// parameters. A check changes one thing in it, so that the answer shows the effect of that change alone.
type baseline struct {
	params   map[string]any // nil: no request was accepted
	exchange *exchange      // the last request that was tried
	rejected []*exchange    // requests that are valid by introspection, and were refused
}

// paramsAccepted reports whether the server accepted the parameters of a request, even if it failed later for a reason
// that its code tells.
func paramsAccepted(x *exchange) bool {
	return x.answer.success || refusalOf(x) == accepted && x.answer.code != "NOT_FOUND_OPERATION"
}

// baseline finds an accepted request with the required parameters only. It first tries generated values for CREATE
// operations and values of the examples for others, and then the other kind.
func (p *prober) baseline(o *operation) *baseline {
	if b := p.baselines[o]; b != nil {
		return b
	}
	b := &baseline{}
	p.baselines[o] = b
	if p.exclusion(o) != "" {
		return b
	}
	for _, sources := range [][]bool{{o.Category == "CREATE"}, {o.Category != "CREATE"}} {
		params, ok := p.requiredParams(o, sources[0])
		if !ok {
			continue
		}
		x := p.send(o, params)
		if b.exchange = x; paramsAccepted(x) {
			b.params = params
			return b
		}
		b.rejected = append(b.rejected, x)
	}
	return b
}

// freshParams returns the parameters of a baseline with new values where an operation may refuse the same ones a second
// time: for CREATE operations, and for those that destroy what they name.
func (p *prober) freshParams(o *operation, b *baseline) map[string]any {
	if o.Category == "CREATE" {
		if params, ok := p.requiredParams(o, len(b.rejected) == 0); ok {
			return params
		}
	}
	if o.danger >= destructive {
		return p.withNewFixtures(o, b.params)
	}
	return b.params
}

// requiredParams makes the required parameters: identifiers of what this run created, and other values generated or, if
// generated is not set, taken from the examples first.
func (p *prober) requiredParams(o *operation, generated bool) (map[string]any, bool) {
	params := map[string]any{}
	for _, d := range o.required() {
		value, ok := p.paramValue(o, &d, generated)
		if !ok {
			return nil, false
		}
		params[d.Name] = value
	}
	return params, true
}

// paramValue makes the value of one parameter in the manner of requiredParams.
func (p *prober) paramValue(o *operation, d *param, generated bool) (any, bool) {
	if value, ok := p.fixtureID(o, d.Name); ok {
		return value, true
	}
	if o.Category == "UPDATE" && d.Name == "input" {
		if value, ok := p.updateInput(d); ok {
			return value, true
		}
	}
	shown, isShown := exampleValue(o, d.Name)
	if !generated && isShown {
		return shown, true
	}
	if value, ok := p.newValue(d, 0); ok {
		return value, true
	}
	return shown, isShown
}

// exampleValue returns the value of a parameter in the examples of an operation.
func exampleValue(o *operation, name string) (any, bool) {
	for _, e := range o.Examples {
		if value, ok := e.params[name]; ok {
			return value, true
		}
	}
	return nil, false
}

// updateInput makes an input for an update that changes one field of a basic type, and has those that it must have.
func (p *prober) updateInput(d *param) (any, bool) {
	fields, input := p.updatableFields(d), make(map[string]any)
	for _, f := range fields {
		if !f.Required {
			continue
		}
		value, ok := p.newValue(&f, 1)
		if !ok {
			return nil, false
		}
		input[f.Name] = value
	}
	if len(input) > 0 {
		return input, true
	}
	for _, f := range fields {
		if slices.Contains([]string{"string", "integer", "number", "boolean"}, f.Type) && f.Format == "" && f.Pattern == "" {
			if value, ok := p.newValue(&f, 1); ok {
				return map[string]any{f.Name: value}, true
			}
		}
	}
	return nil, false
}

// updatableFields returns the fields that an update may change, given its parameter input.
func (p *prober) updatableFields(d *param) []param {
	fields := d.Fields
	if t := p.types[d.Type]; t != nil && t.Kind == "object" {
		fields = t.Fields
	}
	return slices.DeleteFunc(slices.Clone(fields),
		func(f param) bool { return f.readOnly() || strings.HasPrefix(f.Name, "_") })
}

// optionalValue makes a value for an optional parameter that is valid without other optional parameters; false: there
// is none.
func (p *prober) optionalValue(o *operation, d *param) (any, bool) {
	switch d.Name {
	case "after", "before":
		return nil, false // valid only with first or last, and a cursor
	case "confirmation_token":
		return "conf_" + p.uniqueWord(), true
	case "fields", "preset":
		return "full", true
	case "first", "last", "limit", "page", "page_size":
		return 1, true
	case "offset":
		return 0, true
	}
	if o.Name == "introspect" && d.Name == "name" {
		return "introspect", true
	}
	return p.paramValue(o, d, true)
}

// contentParams makes a request with every parameter except those that control the answer.
func (p *prober) contentParams(o *operation) (map[string]any, bool) {
	params := map[string]any{}
	for _, d := range o.Parameters {
		if !d.Required && (controlParams[d.Name] || strings.HasPrefix(d.Name, "_")) {
			continue
		}
		value, ok := p.paramValue(o, &d, true)
		if !ok && d.Required {
			return nil, false
		}
		if ok {
			params[d.Name] = value
		}
	}
	return params, true
}

// controlParams lists the cross-cutting parameters that control how an operation answers or whether it is carried out
// (MCP-AQL operations §4.4.1).
var controlParams = map[string]bool{
	"fields": true, "preset": true, "first": true, "after": true, "last": true, "before": true, "limit": true,
	"offset": true, "page": true, "page_size": true, "dry_run": true, "confirmation_token": true, "if_match": true,
	"aggregate": true, "include_items": true, "sort": true,
}
