package policy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// truth is whether something holds. What cannot be judged counts against the call: it makes rules that deny or ask for
// confirmation match, and rules that allow not match.
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

// agree is what two readings of a call have in common.
func agree(a, b truth) truth {
	if a == b {
		return a
	}
	return unknown
}

// test is one test of a condition. negative ones hold for what their values do not describe.
type test struct {
	key      string
	negative bool
	values   []literal
	pattern  string
	given    bool
}

// condition is a Condition in one operation.
type condition struct {
	route
	path  string
	tests []test
}

func newCondition(c *Condition, way route) condition {
	bound := condition{route: way, path: c.Param}
	add := func(key string, values ...any) {
		t := test{key: key, negative: strings.HasPrefix(key, "not_")}
		for _, v := range values {
			l, _ := newLiteral(v)
			if way.kind == momentKind {
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
	for _, t := range c.scalars() {
		if t.value != nil {
			add(t.key, t.value)
		}
	}
	if c.Like != "" {
		bound.tests = append(bound.tests, test{key: "like", pattern: c.Like})
	}
	if c.NotLike != "" {
		bound.tests = append(bound.tests, test{key: "not_like", pattern: c.NotLike, negative: true})
	}
	return bound
}

// parseMoment reads an RFC 3339 time.
func parseMoment(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}

// judge reports whether the condition holds. strict: elements must all meet it, instead of one of them. What was seen of
// the value is written to seen unless that is nil.
func (c *condition) judge(q *Request, strict bool, seen *string) truth {
	if q.Value == nil {
		c.see(seen, "not known")
		return unknown
	}
	text, given := q.Value(c.param)
	j := judgement{condition: c, strict: strict, seen: seen}
	if given && !json.Valid([]byte(text)) {
		c.see(seen, "no JSON")
		return unknown
	}
	if !given {
		return j.omitted(c.fallback, c.steps)
	}
	return j.value(text, c.steps, c.fallback, false)
}

// see notes what was seen of a value.
func (c *condition) see(seen *string, what string) {
	if seen != nil {
		*seen = what
	}
}

// judgement is one look at the parameters.
type judgement struct {
	*condition
	strict bool
	seen   *string
}

// value judges the JSON text that stands where the steps before led. fallback is what its absence would mean, and updates
// whether null there changes what is stored.
func (j judgement) value(text string, steps []step, fallback string, updates bool) truth {
	text = strings.Trim(text, " \t\r\n")
	switch {
	case text == "null" && updates:
		return j.removed(steps)
	case text == "null":
		absent := j.absent(steps)
		if fallback != "" && fallback != "null" {
			absent = agree(absent, j.value(fallback, steps, "", false))
		}
		return absent
	case len(steps) == 0:
		return j.leaf(text)
	case steps[0].names == nil:
		return j.elements(text, steps[1:])
	}
	s := &steps[0]
	if !strings.HasPrefix(text, "{") {
		j.see(j.seen, "of another type")
		return unknown
	}
	found, times := "", 0
	for c := open(text); ; {
		name, value, ok := c.member()
		if !ok {
			break
		}
		if slices.Contains(s.names, name) {
			found = value
			times++
		}
	}
	switch times {
	case 0:
		return j.omitted(s.absent, steps[1:])
	case 1:
		return j.value(found, steps[1:], s.absent, s.updates)
	}
	j.see(j.seen, "given twice")
	return unknown
}

// elements judges the elements of an array, or the values of an object.
func (j judgement) elements(text string, steps []step) truth {
	object := strings.HasPrefix(text, "{")
	if !object && !strings.HasPrefix(text, "[") {
		j.see(j.seen, "of another type")
		return unknown
	}
	result, shown := no, ""
	if j.strict {
		result = yes
	}
	empty := true
	for c := open(text); ; {
		element, ok := c.element()
		if ok && object { // that was the name
			element, ok = c.element()
		}
		if !ok {
			break
		}
		empty = false
		one := j
		var what *string
		if j.seen != nil {
			what = new(string)
			one.seen = what
		}
		var t truth
		if element == "null" {
			// Handlers see a zero value, or nothing.
			one.see(one.seen, "null")
			t = unknown
		} else {
			t = one.value(element, steps, "", false)
		}
		if what != nil && (j.strict && t < result || !j.strict && t > result || shown == "") {
			shown = *what
		}
		if j.strict {
			result = min(result, t)
		} else {
			result = max(result, t)
		}
	}
	if empty {
		return j.absent([]step{{}})
	}
	j.see(j.seen, shown)
	return result
}

// omitted judges what is absent.
func (j judgement) omitted(fallback string, steps []step) truth {
	if fallback != "" {
		return j.value(fallback, steps, "", false)
	}
	return j.absent(steps)
}

// absent judges what is neither given nor has a default.
func (j judgement) absent(steps []step) truth {
	j.see(j.seen, "not given")
	elements := false
	for i := range steps {
		elements = elements || steps[i].names == nil
	}
	result := yes
	for i := range j.tests {
		t := &j.tests[i]
		switch {
		case t.key == "given":
			result = min(result, truthOf(!t.given))
		case elements:
			result = no // there are none that could meet it
		default:
			one := truthOf(t.negative)
			if zero, ok := j.kind.zero(); ok && !j.updates {
				one = agree(one, t.compare(j.kind, zero))
			}
			result = min(result, one)
		}
	}
	if result == unknown {
		j.see(j.seen, "not given, and the handler may see zero")
	}
	return result
}

// removed judges what an update removes: what the handler makes of that is its own affair.
func (j judgement) removed(steps []step) truth {
	j.see(j.seen, "null, which removes it")
	result := yes
	for i := range j.tests {
		t := &j.tests[i]
		if t.key == "given" && len(steps) == 0 {
			result = min(result, truthOf(t.given))
		} else {
			result = min(result, unknown)
		}
	}
	return result
}

// zero is what a handler may see in place of an absent value.
func (k kind) zero() (literal, bool) {
	switch k {
	case textKind:
		return literal{kind: textKind}, true
	case integerKind, numberKind:
		return literal{kind: numberKind}, true
	case booleanKind:
		return literal{kind: booleanKind, text: "false"}, true
	case momentKind:
		return literal{kind: textKind}, true // whose moment is the zero time
	}
	return literal{}, false
}

// leaf judges the value itself.
func (j judgement) leaf(text string) truth {
	if j.sensitive {
		j.see(j.seen, "given, but not shown because it is sensitive")
	} else if j.seen != nil {
		*j.seen = clip(text)
	}
	value, ok := j.kind.read(text)
	result := yes
	for i := range j.tests {
		t := &j.tests[i]
		switch {
		case t.key == "given":
			result = min(result, truthOf(t.given))
		case !ok:
			result = min(result, unknown)
		default:
			result = min(result, t.compare(j.kind, value))
		}
	}
	return result
}

// read makes a literal of JSON text; false: the value is not of kind k.
func (k kind) read(text string) (literal, bool) {
	if text == "" {
		return literal{}, false
	}
	switch c := text[0]; {
	case c == '"' && (k == textKind || k == momentKind || k == anyKind):
		l := literal{kind: textKind}
		var ok bool
		if l.text, ok = unquote(text); ok && k == momentKind {
			l.moment, ok = parseMoment(l.text)
		}
		return l, ok
	case (c == '-' || '0' <= c && c <= '9') && (k == integerKind || k == numberKind || k == anyKind):
		number, ok := parseDecimal(text)
		float, err := strconv.ParseFloat(text, 64)
		// Whole numbers are compared exactly, whether a floating-point number could hold them or not.
		return literal{kind: numberKind, text: text, number: number, float: float}, ok && (err == nil || k == integerKind)
	case (text == "true" || text == "false") && (k == booleanKind || k == anyKind):
		return literal{kind: booleanKind, text: text}, true
	}
	return literal{}, false
}

// compare holds a value of kind k against the test.
func (t *test) compare(k kind, value literal) truth {
	if t.pattern != "" {
		if value.kind != textKind {
			return unknown
		}
		return truthOf(matches(t.pattern, value.text) != t.negative)
	}
	switch t.key {
	case "less_than", "greater_than", "at_least", "at_most":
		bound := &t.values[0]
		if k != momentKind && (value.kind != numberKind || bound.kind != numberKind) {
			return unknown
		}
		order := k.order(&value, bound)
		switch t.key {
		case "less_than":
			return truthOf(order < 0)
		case "greater_than":
			return truthOf(order > 0)
		case "at_least":
			return truthOf(order >= 0)
		}
		return truthOf(order <= 0)
	}
	found := no
	for i := range t.values {
		switch wanted := &t.values[i]; {
		case wanted.kind != value.kind:
			found = max(found, unknown)
		case k == momentKind || value.kind == numberKind:
			found = max(found, truthOf(k.order(&value, wanted) == 0))
		default:
			found = max(found, truthOf(value.text == wanted.text))
		}
	}
	if t.negative {
		return yes - found
	}
	return found
}

// order compares numbers, or moments, the way handlers see them: whole numbers exactly, others as floating-point numbers,
// into which texts that differ may fall together.
func (k kind) order(a, b *literal) int {
	switch {
	case k == momentKind:
		return a.moment.Compare(b.moment)
	case k == integerKind, k == anyKind && a.number.integral() && b.number.integral():
		return a.number.compare(b.number)
	case a.float < b.float:
		return -1
	case a.float > b.float:
		return 1
	}
	return 0
}

// String is the condition as people read it: "filter.status in [done, open]".
func (c *condition) String() string {
	var parts []string
	for _, t := range c.tests {
		key := strings.ReplaceAll(t.key, "_", " ")
		switch {
		case t.key == "given":
			parts = append(parts, map[bool]string{true: "given", false: "not given"}[t.given])
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

// String is a value as JSON writes it.
func (l literal) String() string {
	if l.kind == textKind {
		return strconv.Quote(clip(l.text))
	}
	return l.text
}
