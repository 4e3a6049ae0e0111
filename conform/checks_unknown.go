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
		if x.answer.success {
			rec.fail(exchanges(x), "operation %s succeeds with the parameter '%s', which it does not document",
				o.Name, unknownName)
			return
		}
		p.expectRefusedAs(rec, o, b, x, "VALIDATION_UNKNOWN_PARAM", "operation %s with an unknown parameter", o.Name)
	})
}

func checkUnknownNamed(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		x := p.sendWithUnknown(o, b)
		if !p.refusesUnknown(o, b) {
			rec.unjudged("operation %s does not refuse unknown parameters", o.Name)
			return
		}
		if rec.expect(strings.Contains(x.answer.message, unknownName), x,
			"the message of operation %s does not name the unknown parameter '%s'", o.Name, unknownName) {
			p.evidence.addUnknown(o, unknownName, x)
		}
		const second = "another_unknown"
		two := p.send(o, with(with(p.freshParams(o, b), unknownName, "x"), second, 1))
		if x.introspection || x.uncoded() { // errors of introspect have no details
			if x.uncoded() {
				rec.unjudged("the errors of operation %s have no details that could list its parameters", o.Name)
			}
			named := strings.Contains(two.answer.message, unknownName) || strings.Contains(two.answer.message, second)
			rec.expect(named, two,
				"the message of operation %s names no unknown parameter", o.Name)
			return
		}
		listed := texts(two.answer.details["unknown_params"])
		rec.expect(slices.Contains(listed, unknownName) && slices.Contains(listed, second), two,
			"'unknown_params' of operation %s must list both unknown parameters", o.Name)
		valid := make(map[string]bool)
		for _, name := range texts(two.answer.details["valid_params"]) {
			valid[name] = true
		}
		for _, d := range o.Parameters {
			rec.expect(valid[d.Name], two, "'valid_params' of operation %s lacks '%s'", o.Name, d.Name)
		}
		rec.expect(two.answer.details["operation"] == o.Name, two,
			"the details of operation %s do not say which operation it is", o.Name)
	})
}

// refusesUnknown reports whether an operation refuses an unknown parameter, whatever its error says.
func (p *prober) refusesUnknown(o *operation, b *baseline) bool {
	x := p.sendWithUnknown(o, b)
	switch refusalOf(x) {
	case refused:
		return true
	case perhaps:
		return p.control(o, b).answer.success
	}
	return false
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
		if !p.refusesUnknown(o, b) {
			rec.unjudged("operation %s does not refuse unknown parameters, so what it does with others does not show", o.Name)
			return
		}
		for _, d := range crossCuttingParams() {
			if o.param(d.Name) != nil {
				continue
			}
			x := p.send(o, with(p.freshParams(o, b), d.Name, d.Default))
			if d.Name == "confirmation_token" && x.answer.code == permissionDenied && o.asksPerson() {
				// It is refused as what it is meant for, and only so if the request is not denied without it.
				if p.control(o, b).answer.code != permissionDenied {
					rec.pass(x)
				} else {
					rec.unjudged("operation %s is denied with and without a token, because there is nobody to ask", o.Name)
				}
				continue
			}
			p.expectRefused(rec, o, b, x, "operation %s with the parameter '%s', which it does not document,", o.Name, d.Name)
			if refusalOf(x) == accepted {
				p.evidence.addAccepted(o, d.Name)
			}
		}
	})
}

// checkNoEffect sends an update with an unknown parameter and expects that the resource stays as it was.
func checkNoEffect(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		u := f.resource.update
		if !p.refusesUnknown(u, p.baseline(u)) {
			rec.unjudged("operation %s does not refuse unknown parameters", u.Name)
			return
		}
		before, _ := p.readFixture(f)
		x := p.updateFixture(f, p.baseline(u).params["input"], map[string]any{unknownName: "x"})
		after, y := p.readFixture(f)
		if before == nil || after == nil {
			rec.unjudged("what was created as a %s cannot be read as an object", f.resource.noun)
			return
		}
		if equal(before, after) {
			rec.pass(y)
		} else {
			rec.fail(exchanges(x, y), "operation %s was refused and changed the %s all the same", u.Name, f.resource.noun)
		}
	})
}
