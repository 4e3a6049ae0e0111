package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// evaluate reports whether the condition holds for a request. With all, every element of a list must meet it, and
// without, one of them. Unless seen is nil, it receives a description of the value, for explanations.
func (c *condition) evaluate(q *Request, all bool, seen *string) truth {
	e := evaluation{condition: c, all: all, seen: seen}
	if q.Value == nil {
		return e.saw("not known", unknown)
	}
	text, given := q.Value(c.param)
	if given && !json.Valid([]byte(text)) {
		return e.saw("no JSON", unknown)
	}
	if !given {
		return e.omitted(c.fallback, c.steps)
	}
	return e.value(text, c.steps, c.fallback, false)
}

// evaluation is the evaluation of one condition for one request.
type evaluation struct {
	*condition
	all  bool
	seen *string
}

// saw describes the value and returns the result.
func (e evaluation) saw(what string, result truth) truth {
	if e.seen != nil {
		*e.seen = what
	}
	return result
}

// value evaluates a JSON text with the steps that are left. fallback is what counts where the text is null; updates:
// null removes what is stored.
func (e evaluation) value(text string, steps []step, fallback string, updates bool) truth {
	text = strings.Trim(text, " \t\r\n")
	switch {
	case text == Unjudged:
		return e.saw("one that cannot be judged", e.exists(steps))
	case text == "null" && (updates || e.form != nil):
		return e.saw("null, which removes it", e.exists(steps))
	case text == "null":
		absent := e.absent(steps)
		if fallback != "" && fallback != "null" {
			absent = both(absent, e.value(fallback, steps, "", false))
		}
		return absent
	case len(steps) == 0:
		return e.leaf(text)
	case steps[0].names == nil:
		return e.elements(text, steps[1:])
	}
	r := wire.NewReader(text, wire.Limits{})
	if !r.Object() {
		return e.saw("of another type", unknown)
	}
	s := &steps[0]
	found, times := "", 0
	for r.NextUnchecked() {
		wanted := slices.Contains(s.names, r.Name())
		if member := r.Raw(); wanted {
			found = member
			times++
		}
	}
	switch {
	case r.Fault() != nil:
		return e.saw("no JSON", unknown)
	case times == 0:
		return e.omitted(s.absent, steps[1:])
	case times == 1:
		return e.value(found, steps[1:], s.absent, s.updates)
	}
	return e.saw("given twice", unknown)
}

// elements evaluates the elements of an array, or the values of an object.
func (e evaluation) elements(text string, steps []step) truth {
	r := wire.NewReader(text, wire.Limits{})
	var next func() bool
	switch {
	case strings.HasPrefix(text, "{") && r.Object():
		next = r.NextUnchecked
	case strings.HasPrefix(text, "[") && r.Array():
		next = r.NextElement
	default:
		return e.saw("of another type", unknown)
	}
	result, shown := no, ""
	if e.all {
		result = yes
	}
	empty := true
	for next() {
		var what string
		one := e
		if e.seen != nil {
			one.seen = &what
		}
		var t truth
		if element := r.Raw(); element == "null" {
			t = one.saw("null", unknown) // handlers see a zero value, or no element
		} else {
			t = one.value(element, steps, "", false)
		}
		if empty || e.all && t < result || !e.all && t > result {
			shown = what
		}
		empty = false
		if e.all {
			result = min(result, t)
		} else {
			result = max(result, t)
		}
	}
	switch {
	case r.Fault() != nil:
		return e.saw("no JSON", unknown)
	case empty:
		return e.absent([]step{{}})
	}
	return e.saw(shown, result)
}

// omitted evaluates what is absent and may have a default.
func (e evaluation) omitted(fallback string, steps []step) truth {
	if fallback != "" {
		return e.value(fallback, steps, "", false)
	}
	return e.absent(steps)
}

// absent evaluates what is neither given nor has a default.
func (e evaluation) absent(steps []step) truth {
	elements := slices.ContainsFunc(steps, func(s step) bool { return s.names == nil })
	result := yes
	for i := range e.tests {
		t := &e.tests[i]
		switch {
		case t.key == "given":
			result = min(result, truthOf(!t.given))
		case elements:
			result = no // no element can meet the test
		default:
			one := truthOf(t.negative())
			if zero, ok := e.zero(); ok && !e.updates {
				one = both(one, t.compare(&e.route, zero))
			}
			result = min(result, one)
		}
	}
	if result == unknown {
		return e.saw("not given, and the handler may see zero", result)
	}
	return e.saw("not given", result)
}

// exists evaluates what is given, while nothing more is known of it: what an update removes, in place of which the
// handler may put any value, or a value that cannot be judged. Nothing at all is known of its parts.
func (e evaluation) exists(steps []step) truth {
	result := yes
	for i := range e.tests {
		t := &e.tests[i]
		if t.key == "given" && len(steps) == 0 {
			result = min(result, truthOf(t.given))
		} else {
			result = min(result, unknown)
		}
	}
	return result
}

// leaf evaluates the value itself.
func (e evaluation) leaf(text string) truth {
	value, ok := e.kind.read(text)
	result := yes
	for i := range e.tests {
		t := &e.tests[i]
		switch {
		case t.key == "given":
			result = min(result, truthOf(t.given))
		case !ok:
			result = min(result, unknown)
		default:
			result = min(result, t.compare(&e.route, value))
		}
	}
	if e.sensitive {
		return e.saw("given, but not shown because it is sensitive", result)
	}
	if e.seen != nil {
		*e.seen = clip(text)
	}
	return result
}
