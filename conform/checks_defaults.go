package conform

import (
	"maps"
	"slices"
)

// checkDefaults leaves out a parameter and compares its value in the answer with the documented default. If the answer
// of a READ operation does not show the value, a request with the default must have the same answer.
func checkDefaults(p *prober, rec *recorder) {
	applies := func(o *operation) bool {
		return slices.ContainsFunc(o.Parameters, func(d param) bool { return d.Default != nil && !d.Required })
	}
	p.eachCallableWith(rec, applies, func(o *operation, b *baseline) {
		for _, d := range o.Parameters {
			if d.Default == nil || d.Required {
				continue
			}
			def := d.Default
			params := p.freshParams(o, b)
			x := p.send(o, without(params, d.Name))
			if !x.answer.success {
				rec.unjudged("operation %s does not succeed, so its defaults do not show", o.Name)
				continue
			}
			if path, value := findEcho(x.answer.data, "data", d.Name); path != "" {
				rec.expect(equal(def, value), x,
					"operation %s documents the default %s for '%s', and works with %s", o.Name, asJSON(def), d.Name, asJSON(value))
				if equal(def, value) {
					p.evidence.addDefault(o, d.Name, path, value, x)
				}
				continue
			}
			if o.Category != "READ" {
				rec.unjudged("the answer of operation %s does not show the default of '%s'", o.Name, d.Name)
				continue
			}
			same := p.send(o, with(params, d.Name, def))
			again := p.send(o, without(params, d.Name))
			switch {
			case !same.answer.success:
				rec.unjudged("operation %s does not succeed with the default of '%s'", o.Name, d.Name)
			case !equal(x.answer.data, again.answer.data):
				rec.unjudged("operation %s answers the same request in two ways, so the default of '%s' does not show", o.Name,
					d.Name)
			default:
				rec.expect(equal(x.answer.data, same.answer.data), same,
					"operation %s answers otherwise without '%s' than with its default %s", o.Name, d.Name, asJSON(def))
			}
		}
	})
	rec.skip("no parameter documents a default")
}

// findEcho finds the value of a parameter in an answer, but not in lists, and returns its path; empty: it is not there.
func findEcho(value any, path, name string) (string, any) {
	object, ok := value.(map[string]any)
	if !ok {
		return "", nil
	}
	if found, there := object[name]; there {
		switch found.(type) {
		case nil, map[string]any, []any:
		default:
			return path + "." + name, found
		}
	}
	for _, inner := range slices.Sorted(maps.Keys(object)) {
		if where, found := findEcho(object[inner], path+"."+inner, name); where != "" {
			return where, found
		}
	}
	return "", nil
}
