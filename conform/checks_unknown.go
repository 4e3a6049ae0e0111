package conform

import (
	"slices"
	"strings"
)

// unknownName is a parameter that no operation has.
const unknownName = "no_such_parameter"

// sendWithUnknown sends the baseline with an unknown parameter, once in a run.
func (p *prober) sendWithUnknown(o *operation, b *baseline) *exchange {
	if p.unknownSent[o] == nil {
		p.unknownSent[o] = p.send(o, with(p.freshParams(o, b), unknownName, "x"))
	}
	return p.unknownSent[o]
}

func checkUnknown(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		x := p.sendWithUnknown(o, b)
		switch {
		case !refused(x):
			rec.fail(exchanges(x), "operation %s swallows a parameter that it does not know", o.Name)
		case x.answer.code != "VALIDATION_UNKNOWN_PARAM":
			rec.fail(exchanges(x), "operation %s with an unknown parameter must fail with VALIDATION_UNKNOWN_PARAM, not with %s",
				o.Name, x.answer.code)
		default:
			rec.pass(x)
		}
	})
}

func checkUnknownNamed(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		x := p.sendWithUnknown(o, b)
		if x.answer.code != "VALIDATION_UNKNOWN_PARAM" {
			rec.skip("operation %s does not refuse unknown parameters as such", o.Name)
			return
		}
		if rec.expect(strings.Contains(x.answer.message, unknownName), x,
			"the message of operation %s does not name the unknown parameter '%s'", o.Name, unknownName) {
			p.evidence.addUnknown(o, unknownName, x)
		}
		const second = "another_unknown"
		two := p.send(o, with(with(p.freshParams(o, b), unknownName, "x"), second, 1))
		if x.introspection { // errors of introspect have no details
			rec.expect(strings.Contains(two.answer.message, unknownName), two,
				"the message of operation %s names no unknown parameter", o.Name)
			return
		}
		listed := texts(two.answer.details["unknown_params"])
		rec.expect(slices.Contains(listed, unknownName) && slices.Contains(listed, second), two,
			"'unknown_params' of operation %s must list both unknown parameters", o.Name)
		valid := texts(two.answer.details["valid_params"])
		for _, d := range o.Parameters {
			rec.expect(slices.Contains(valid, d.Name), two, "'valid_params' of operation %s lacks '%s'", o.Name, d.Name)
		}
		rec.expect(two.answer.details["operation"] == o.Name, two,
			"the details of operation %s do not say which operation it is", o.Name)
	})
}

// texts returns the strings in a list.
func texts(list any) []string {
	items, _ := list.([]any)
	var all []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// crossCuttingParams returns the standard parameters, with a valid value as the default of each (MCP-AQL operations
// §4.4.1).
func crossCuttingParams() []param {
	return []param{
		{Name: "fields", Default: "minimal"},
		{Name: "preset", Default: "minimal"},
		{Name: "first", Default: 1},
		{Name: "after", Default: "x"},
		{Name: "last", Default: 1},
		{Name: "before", Default: "x"},
		{Name: "limit", Default: 1},
		{Name: "offset", Default: 0},
		{Name: "page", Default: 1},
		{Name: "page_size", Default: 1},
		{Name: "query", Default: "x"},
		{Name: "filter", Default: map[string]any{}},
		{Name: "sort", Default: map[string]any{"field": "x"}},
		{Name: "aggregate", Default: map[string]any{"n": map[string]any{"count": true}}},
		{Name: "include_items", Default: true},
		{Name: "dry_run", Default: true},
		{Name: "if_match", Default: "x"},
		{Name: "confirmation_token", Default: "conf_x"},
	}
}

func checkUndocumented(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		if !refused(p.sendWithUnknown(o, b)) {
			rec.skip("operation %s accepts whatever parameter there is", o.Name)
			return
		}
		for _, d := range crossCuttingParams() {
			if o.param(d.Name) != nil {
				continue
			}
			x := p.send(o, with(p.freshParams(o, b), d.Name, d.Default))
			if !rec.expect(refused(x) || !x.answer.wellFormed, x,
				"operation %s accepts the parameter '%s', which it does not document", o.Name, d.Name) {
				p.evidence.addAccepted(o, d.Name)
			}
		}
	})
}

// checkNoEffect sends an update with an unknown parameter and expects that the resource stays as it was.
func checkNoEffect(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		u := f.resource.update
		if !refused(p.sendWithUnknown(u, p.baseline(u))) {
			rec.skip("operation %s accepts whatever parameter there is", u.Name)
			return
		}
		before, _ := p.readFixture(f)
		x := p.updateFixture(f, p.baseline(u).params["input"], map[string]any{unknownName: "x"})
		after, y := p.readFixture(f)
		if before == nil || after == nil {
			rec.skip("a %s that was created cannot be read", f.resource.noun)
			return
		}
		if equal(before, after) {
			rec.pass(y)
		} else {
			rec.fail(exchanges(x, y), "operation %s was refused and changed the %s all the same", u.Name, f.resource.noun)
		}
	})
}
