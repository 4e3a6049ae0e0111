package policy

import (
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// checkTypes refuses values of another type than the parameter has in an operation, and tests that its type does not
// have. several: other operations have the parameter, too.
func (f *findings) checkTypes(part Part, c *Condition, to route, operation string, several bool) {
	hint := ""
	if several {
		hint = "; if that operation is not meant, name the others"
	}
	c.eachValue(func(key string, item int, value any) {
		l, _ := newLiteral(value)
		if fault := to.checkType(key, l); fault != "" {
			f.add(part.sibling(key).item(item), "%s: %s is %s in %s%s%s", key, c.Param, to.kind, operation, fault, hint)
		}
	})
	for _, t := range c.patterns() {
		if to.kind != textKind && to.kind != anyKind {
			f.add(part.sibling(t.key), "%s: %s is %s in %s, and patterns are for texts%s",
				t.key, c.Param, to.kind, operation, hint)
		}
	}
}

// checkType returns why a test cannot compare values of the route with l, as the end of a sentence; empty: it can.
func (r *route) checkType(key string, l literal) string {
	k := r.kind
	switch {
	case k == opaqueKind:
		return ", which is compared with nothing; ask for its elements (.*), for one of its fields, or whether it is given"
	case orders(key) && (k == textKind || k == booleanKind):
		return ", and only numbers and moments are less or greater than others"
	case orders(key) && k == anyKind && l.kind != numberKind:
		return ", and must be compared with a number here"
	case k == textKind && l.kind != textKind:
		return fmt.Sprintf("; quote %s if that is meant", l.text)
	case (k == integerKind || k == numberKind) && l.kind == textKind:
		if _, ok := wire.ParseDecimal(l.text); ok {
			return fmt.Sprintf(", and %q is a text; write %s", l.text, l.text)
		}
		return fmt.Sprintf(", and %q is a text", clip(l.text))
	case k == booleanKind && l.kind == textKind && (l.text == "true" || l.text == "false"):
		return fmt.Sprintf(", and %q is a text; write %s", l.text, l.text)
	case k == integerKind && l.kind == numberKind && !orders(key) && !l.number.Integral():
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

// checkValues refuses conditions that no value of the parameter can meet, in any of the operations that have it.
func (f *findings) checkValues(part Part, c *Condition, routes []route) {
	if c.Given != nil && !*c.Given && !slices.ContainsFunc(routes, func(r route) bool { return r.optional }) {
		f.add(part.sibling("given"), "%s is required or has a default, so that it is always given", c.Param)
	}
	f.checkRange(part, c, routes)
	values := enumerated(routes)
	if len(values) == 0 {
		return
	}
	c.eachValue(func(key string, item int, value any) {
		if l, _ := newLiteral(value); !orders(key) && !slices.Contains(values, l.text) {
			f.add(part.sibling(key).item(item), "%s: %q is no value of %s%s",
				key, clip(l.text), c.Param, suggest(l.text, values))
		}
	})
	for _, t := range c.patterns() {
		if !slices.ContainsFunc(values, func(v string) bool { return matches(t.pattern, v) }) {
			f.add(part.sibling(t.key), "%s: %s matches no value of %s%s",
				t.key, clip(t.pattern), c.Param, suggest("", values))
		}
	}
}

// enumerated returns the values that the parameter has in one operation or another, sorted; nil: any value.
func enumerated(routes []route) []string {
	var values []string
	for _, r := range routes {
		if r.kind != textKind || len(r.enum) == 0 {
			return nil
		}
		values = append(values, r.enum...)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// checkRange refuses numbers that no value of the parameter can equal or pass.
func (f *findings) checkRange(part Part, c *Condition, routes []route) {
	c.eachValue(func(key string, item int, value any) {
		l, ok := newLiteral(value)
		if !ok || l.kind != numberKind || key == "not_in" || key == "not_equals" || len(routes) == 0 ||
			slices.ContainsFunc(routes, func(r route) bool { return r.reaches(key, l.number) }) {
			return
		}
		f.add(part.sibling(key).item(item), "%s: %s lies between %s and %s, so that no value is %s", key, c.Param,
			orUnbounded(routes[0].minimum), orUnbounded(routes[0].maximum), phrase(key, l))
	})
}

// reaches reports whether a value of the parameter could pass a test with n.
func (r *route) reaches(key string, n wire.Decimal) bool {
	least, bounded := wire.ParseDecimal(r.minimum)
	most, limited := wire.ParseDecimal(r.maximum)
	switch key {
	case "less_than":
		return !bounded || least.Compare(n) < 0
	case "at_most":
		return !bounded || least.Compare(n) <= 0
	case "greater_than":
		return !limited || most.Compare(n) > 0
	case "at_least":
		return !limited || most.Compare(n) >= 0
	}
	return (!bounded || least.Compare(n) <= 0) && (!limited || most.Compare(n) >= 0)
}

func orUnbounded(bound string) string {
	if bound == "" {
		return "no bound"
	}
	return bound
}

// phrase returns a test as the end of a sentence.
func phrase(key string, l literal) string {
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
