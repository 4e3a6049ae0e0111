package conform

import (
	"slices"
	"strings"
)

// base is a request to an operation that the server accepts: it answers with success, or fails for a reason that is none of
// the parameters. What is wrong with a request is only told by a server that accepts the right one.
type baseline struct {
	params   map[string]any // nil: none is known
	exchange *exchange      // the last one
	rejected []*exchange    // sound requests that were refused
}

// accepted reports whether parameters passed the checks of the server.
func paramsAccepted(x *exchange) bool {
	a := x.answer
	return a.wellFormed && (a.success || !strings.HasPrefix(a.code, "VALIDATION_") && a.code != "INTROSPECTION_ERROR" && a.code != "NOT_FOUND_OPERATION" && a.code != "BATCH_VALIDATION_ERROR")
}

// base finds an accepted request with no more than the required parameters.
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

// fresh is a base with values of its own, for operations that do not take the same ones twice.
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

// minimal makes the required parameters: identifiers of what this run created, then made or shown values.
func (p *prober) requiredParams(o *operation, made bool) (map[string]any, bool) {
	params := map[string]any{}
	for _, d := range o.required() {
		value, ok := p.paramValue(o, &d, made)
		if !ok {
			return nil, false
		}
		params[d.Name] = value
	}
	return params, true
}

// one makes the value of one parameter.
func (p *prober) paramValue(o *operation, d *param, made bool) (any, bool) {
	if value, ok := p.fixtureID(o, d.Name); ok {
		return value, true
	}
	if o.Category == "UPDATE" && d.Name == "input" {
		if value, ok := p.updateInput(o, d); ok {
			return value, true
		}
	}
	shown, isShown := exampleValue(o, d.Name)
	if !made && isShown {
		return shown, true
	}
	if value, ok := p.newValue(d, 0); ok {
		return value, true
	}
	return shown, isShown
}

// example is the value of a parameter in the examples of an operation.
func exampleValue(o *operation, name string) (any, bool) {
	for _, e := range o.Examples {
		if value, ok := e.Request.Params[name]; ok {
			return value, true
		}
	}
	return nil, false
}

// change makes an input for an update that changes one plain field.
func (p *prober) updateInput(o *operation, d *param) (any, bool) {
	for _, f := range p.updatableFields(o, d) {
		if slices.Contains([]string{"string", "integer", "number", "boolean"}, f.Type) && f.Format == "" && f.Pattern == "" {
			if value, ok := p.newValue(&f, 1); ok {
				return map[string]any{f.Name: value}, true
			}
		}
	}
	return nil, false
}

// settable are the fields that an update may change.
func (p *prober) updatableFields(_ *operation, d *param) []param {
	t := p.types[d.Type]
	if t == nil || t.Kind != "object" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Fields), func(f param) bool { return f.readOnly() || strings.HasPrefix(f.Name, "_") })
}

// sample makes a value for a parameter that is not required, one that goes with nothing else; false: there is none.
func (p *prober) optionalValue(o *operation, d *param, made bool) (any, bool) {
	switch d.Name {
	case "after", "before":
		return nil, false // only of use with first and last, and a cursor
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
	return p.paramValue(o, d, made)
}

// whole makes a request with every parameter that is content, not control.
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

// control are the cross-cutting parameters (operations §4.4.1) that say how to answer, not what to do.
var controlParams = map[string]bool{
	"fields": true, "preset": true, "first": true, "after": true, "last": true, "before": true, "limit": true, "offset": true,
	"page": true, "page_size": true, "dry_run": true, "confirmation_token": true, "if_match": true, "aggregate": true, "include_items": true,
	"sort": true,
}
