package policy

import "slices"

// possible refuses conditions that no value of the parameter could meet, in any of the operations that have it.
func (f *findings) possible(at Part, c *Condition, ways []route) {
	if c.Given != nil && !*c.Given && !slices.ContainsFunc(ways, func(r route) bool { return r.optional }) {
		f.add(at.sibling("given"), "%s is required or has a default, so that it is always given", c.Param)
	}
	f.inRange(at, c, ways)
	values := enumerated(ways)
	if len(values) == 0 {
		return
	}
	in := func(key string, item int, v any) {
		if l, _ := newLiteral(v); !slices.Contains(values, l.text) {
			f.add(at.sibling(key).item(item), "%s: %q is no value of %s%s", key, clip(l.text), c.Param, suggest(l.text, values))
		}
	}
	for k, v := range c.In {
		in("in", k, v)
	}
	for k, v := range c.NotIn {
		in("not_in", k, v)
	}
	for _, t := range c.scalars()[:2] {
		if t.value != nil {
			in(t.key, -1, t.value)
		}
	}
	for _, t := range []struct{ key, pattern string }{{"like", c.Like}, {"not_like", c.NotLike}} {
		if t.pattern != "" && !slices.ContainsFunc(values, func(v string) bool { return matches(t.pattern, v) }) {
			f.add(at.sibling(t.key), "%s: %s matches no value of %s%s", t.key, clip(t.pattern), c.Param, suggest("", values))
		}
	}
}

// enumerated are the values that the parameter has in one operation or another, sorted; nil where any is allowed.
func enumerated(ways []route) []string {
	var values []string
	for _, way := range ways {
		if way.kind != textKind || len(way.enum) == 0 {
			return nil
		}
		values = append(values, way.enum...)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// inRange refuses numbers beyond the bounds of the parameter.
func (f *findings) inRange(at Part, c *Condition, ways []route) {
	within := func(key string, item int, v any) {
		l, ok := newLiteral(v)
		if !ok || l.kind != numberKind || len(ways) == 0 {
			return
		}
		for i := range ways {
			if ways[i].reaches(key, l.number) {
				return
			}
		}
		f.add(at.sibling(key).item(item), "%s: %s lies between %s and %s, so that no value is %s", key, c.Param,
			orOpen(ways[0].minimum), orOpen(ways[0].maximum), said(key, l))
	}
	for k, v := range c.In {
		within("in", k, v)
	}
	for _, t := range c.scalars() {
		if t.value != nil && t.key != "not_equals" {
			within(t.key, -1, t.value)
		}
	}
}

// reaches reports whether a value of the parameter could pass the test.
func (r *route) reaches(key string, n decimal) bool {
	least, bounded := parseDecimal(r.minimum)
	most, limited := parseDecimal(r.maximum)
	switch key {
	case "less_than":
		return !bounded || least.compare(n) < 0
	case "at_most":
		return !bounded || least.compare(n) <= 0
	case "greater_than":
		return !limited || most.compare(n) > 0
	case "at_least":
		return !limited || most.compare(n) >= 0
	}
	return (!bounded || least.compare(n) <= 0) && (!limited || most.compare(n) >= 0)
}

func orOpen(bound string) string {
	if bound == "" {
		return "no bound"
	}
	return bound
}

// said is a test as a sentence ends with it.
func said(key string, l literal) string {
	switch key {
	case "less_than":
		return "less than " + l.text
	case "greater_than":
		return "greater than " + l.text
	case "at_least":
		return "as large as " + l.text
	case "at_most":
		return "as small as " + l.text
	}
	return l.text
}
