package conform

import (
	"maps"
	"slices"
)

// checkDefaults leaves out a parameter and compares its value in the answer with the documented default. If the answer
// of a READ operation does not show the value, a request with the default must have the same answer.
func checkDefaults(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		for _, d := range o.Parameters {
			if d.Default == nil || d.Required {
				continue
			}
			def, err := parse(asJSON(d.Default))
			if err != nil {
				continue
			}
			params := p.freshParams(o, b)
			x := p.send(o, without(params, d.Name))
			if !x.answer.success {
				rec.skip("operation %s does not succeed, so its defaults do not show", o.Name)
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
				rec.skip("the answer of operation %s does not show its defaults", o.Name)
				continue
			}
			same := p.send(o, with(params, d.Name, def))
			if same.answer.success {
				rec.expect(equal(x.answer.data, same.answer.data), same,
					"operation %s answers otherwise without '%s' than with its default %s", o.Name, d.Name, asJSON(def))
			}
		}
	})
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
