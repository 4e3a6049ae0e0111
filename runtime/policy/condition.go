package policy

import (
	"cmp"
	"strings"
)

// truth is the result of a test. An unknown result counts against the call: rules that deny or ask for confirmation
// match by it, and rules that allow do not.
type truth uint8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// both returns the result that holds in either of two readings of a call; unknown where they differ.
func both(a, b truth) truth {
	if a == b {
		return a
	}
	return unknown
}

// test is one test of a condition, such as at_least: 5.
type test struct {
	key     string // of policy files: in, not_equals, given
	values  []literal
	pattern string // of like and not_like
	given   bool   // of given
}

// negative reports whether the test holds for all values but those that it names.
func (t *test) negative() bool { return strings.HasPrefix(t.key, "not_") }

// condition is a Condition on a parameter of one operation.
type condition struct {
	route
	path  string // as the policy has it
	tests []test
}

func newCondition(c *Condition, to route) condition {
	bound := condition{route: to, path: c.Param}
	add := func(key string, values ...any) {
		t := test{key: key}
		for _, v := range values {
			l, _ := newLiteral(v)
			if to.form != nil && !to.mayBeZero(l) {
				l, _ = to.canonical(key, l)
			}
			if to.kind == momentKind && l.kind == textKind {
				l.moment, _ = parseMoment(l.text)
			}
			t.values = append(t.values, l)
		}
		bound.tests = append(bound.tests, t)
	}
	if c.Given != nil {
		bound.tests = append(bound.tests, test{key: "given", given: *c.Given})
	}
	if len(c.In) > 0 {
		add("in", c.In...)
	}
	if len(c.NotIn) > 0 {
		add("not_in", c.NotIn...)
	}
	for _, t := range c.comparisons() {
		add(t.key, t.value)
	}
	for _, t := range c.patterns() {
		bound.tests = append(bound.tests, test{key: t.key, pattern: t.pattern})
	}
	return bound
}

// comparison is a test with one value.
type comparison struct {
	key   string
	value any
}

// comparisons returns the tests of a condition that have one value.
func (c *Condition) comparisons() []comparison {
	var tests []comparison
	for _, t := range []comparison{
		{"equals", c.Equals}, {"not_equals", c.NotEquals},
		{"less_than", c.LessThan}, {"greater_than", c.GreaterThan}, {"at_least", c.AtLeast}, {"at_most", c.AtMost},
	} {
		if t.value != nil {
			tests = append(tests, t)
		}
	}
	return tests
}

// orders reports whether the test of a key compares by order.
func orders(key string) bool {
	return key == "less_than" || key == "greater_than" || key == "at_least" || key == "at_most"
}

// patternTest is a test with a pattern.
type patternTest struct{ key, pattern string }

// patterns returns the tests of a condition that have a pattern.
func (c *Condition) patterns() []patternTest {
	var tests []patternTest
	for _, t := range []patternTest{{"like", c.Like}, {"not_like", c.NotLike}} {
		if t.pattern != "" {
			tests = append(tests, t)
		}
	}
	return tests
}

// eachValue calls f for every value of the condition's tests; item is its index in a list, and -1 for a single value.
func (c *Condition) eachValue(f func(key string, item int, value any)) {
	for k, v := range c.In {
		f("in", k, v)
	}
	for k, v := range c.NotIn {
		f("not_in", k, v)
	}
	for _, t := range c.comparisons() {
		f(t.key, -1, t.value)
	}
}

// compare applies the test to a value of a parameter.
func (t *test) compare(to *route, value literal) truth {
	k := to.kind
	if value.kind == opaqueKind {
		return unknown
	}
	if t.pattern != "" {
		if value.kind != textKind {
			return unknown
		}
		return truthOf(matches(t.pattern, value.text) != t.negative())
	}
	if orders(t.key) {
		bound := &t.values[0]
		if k != momentKind && (value.kind != numberKind || bound.kind != numberKind) {
			return unknown
		}
		return to.inEachReading(&value, bound, func(order int) bool {
			switch t.key {
			case "less_than":
				return order < 0
			case "greater_than":
				return order > 0
			case "at_least":
				return order >= 0
			}
			return order <= 0
		})
	}
	found := no
	for i := range t.values {
		switch listed := &t.values[i]; {
		case listed.kind != value.kind:
			found = max(found, unknown)
		case k == momentKind || value.kind == numberKind:
			found = max(found, to.inEachReading(&value, listed, func(order int) bool { return order == 0 }))
		case k == anyKind && value.text != listed.text && sameMoment(value.text, listed.text):
			found = max(found, unknown) // handlers may compare moments
		default:
			found = max(found, truthOf(value.text == listed.text))
		}
	}
	if t.negative() {
		return yes - found
	}
	return found
}

// inEachReading returns what a test says about the order of two values. Where handlers may read numbers exactly or as
// floating-point numbers, and the readings differ, that is unknown.
func (r *route) inEachReading(a, b *literal, holds func(order int) bool) truth {
	if r.form == nil || r.kind == momentKind {
		return truthOf(holds(r.kind.order(a, b)))
	}
	exact := truthOf(holds(a.number.Compare(b.number)))
	if r.kind == integerKind {
		return exact
	}
	return both(exact, truthOf(holds(cmp.Compare(a.float, b.float))))
}

// sameMoment reports whether two texts are spellings of one moment.
func sameMoment(a, b string) bool {
	x, ok := parseMoment(a)
	y, both := parseMoment(b)
	return ok && both && x.Equal(y)
}

// String returns the condition as people read it: "filter.status in [done, open]".
func (c *condition) String() string {
	var parts []string
	for _, t := range c.tests {
		key := strings.ReplaceAll(t.key, "_", " ")
		switch {
		case t.key == "given" && !t.given:
			parts = append(parts, "not given")
		case t.key == "given":
			parts = append(parts, "given")
		case t.pattern != "":
			parts = append(parts, key+" "+t.pattern)
		case t.key == "in", t.key == "not_in":
			var values []string
			for _, v := range t.values {
				values = append(values, v.String())
			}
			parts = append(parts, key+" ["+strings.Join(values, ", ")+"]")
		default:
			parts = append(parts, key+" "+t.values[0].String())
		}
	}
	return c.path + " " + strings.Join(parts, " and ")
}
