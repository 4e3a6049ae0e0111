package conform

import (
	"fmt"
	"strings"
)

// otherTools returns the tools of other families than that of an operation.
func (p *prober) otherTools(o *operation) []string {
	if family(o.Tool) == "" {
		return nil
	}
	var all []string
	for _, tool := range p.tools {
		if name := family(tool.Name); name != "" && tool.Name != o.Tool {
			all = append(all, tool.Name)
		}
	}
	return all
}

func everyOperation(*operation) bool { return true }

const endpointMismatch = "VALIDATION_ENDPOINT_MISMATCH"

// eachWrongTool calls look with every operation that applies and each tool of another family.
func (p *prober) eachWrongTool(
	rec *recorder, applies func(o *operation) bool, look func(o *operation, b *baseline, tool string),
) {
	if len(p.tools) == 1 {
		rec.skip("there is only one tool")
		return
	}
	p.eachCallable(rec, func(o *operation, b *baseline) {
		if !applies(o) {
			return
		}
		for _, tool := range p.otherTools(o) {
			look(o, b, tool)
		}
	})
}

func checkWrongEndpoint(p *prober, rec *recorder) {
	applies := func(o *operation) bool { return o.Name != "introspect" }
	p.eachWrongTool(rec, applies, func(o *operation, b *baseline, tool string) {
		x := p.call(tool, request(o, p.freshParams(o, b)))
		p.expectMismatch(rec, o, b, x, "operation %s on tool %s", o.Name, tool)
	})
	rec.skip("no operation is on one tool of several")
}

// expectMismatch expects that a request to the wrong tool is refused as such. A failure without a code is one if the
// same request succeeds on the right tool.
func (p *prober) expectMismatch(
	rec *recorder, o *operation, b *baseline, x *exchange, format string, args ...any,
) {
	what := fmt.Sprintf(format, args...)
	if !x.uncoded() {
		rec.expectCode(x, endpointMismatch, "%s", what)
		return
	}
	if !p.control(o, b).answer.success {
		rec.unjudged("%s fails%s, and so does the request on the right tool", what, because(x))
		return
	}
	rec.pass(x)
	rec.unjudged("%s fails, as it must, but the error has no code that could be %s", what, endpointMismatch)
}

func checkIntrospectOnOtherTools(p *prober, rec *recorder) {
	applies := func(o *operation) bool { return o.Name == "introspect" }
	p.eachWrongTool(rec, applies, func(o *operation, b *baseline, tool string) {
		x := p.call(tool, request(o, b.params))
		p.expectMismatch(rec, o, b, x, "introspect on tool %s", tool)
	})
	if p.introspect == nil {
		rec.skip("introspect is not listed, so it is not known on which tools it must not be")
	}
}

func checkEndpointFirst(p *prober, rec *recorder) {
	p.eachWrongTool(rec, everyOperation, func(o *operation, b *baseline, tool string) {
		if sound := p.call(tool, request(o, p.freshParams(o, b))); sound.answer.code != endpointMismatch {
			rec.unjudged("operation %s on tool %s is not refused with %s in the first place", o.Name, tool, endpointMismatch)
			return // endpoints/wrong reports it
		}
		x := p.call(tool, request(o, map[string]any{unknownName: "x"}))
		rec.expectCode(x, endpointMismatch, "operation %s on tool %s with wrong parameters", o.Name, tool)
	})
}

func checkEndpointNoEffect(p *prober, rec *recorder) {
	if len(p.tools) == 1 {
		rec.skip("there is only one tool")
		return
	}
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		u := f.resource.update
		name, value := p.updatableField(f, fields)
		if name == "" {
			rec.unjudged("a %s has no plain field to update", f.resource.noun)
			return
		}
		before, _ := p.readFixture(f)
		var last *exchange
		for _, tool := range p.otherTools(u) {
			params := with(with(p.baseline(u).params, f.resource.idOf(u), f.id), "input", map[string]any{name: value})
			if last = p.call(tool, request(u, params)); last.answer.success {
				rec.unjudged("operation %s is not refused on tool %s", u.Name, tool)
				return // endpoints/wrong reports it
			}
		}
		after, x := p.readFixture(f)
		switch {
		case last == nil:
			rec.skip("operation %s is on the only tool", u.Name)
		case before == nil || after == nil:
			rec.unjudged("what was created as a %s cannot be read as an object", f.resource.noun)
		case equal(before, after):
			rec.pass(x)
		default:
			rec.fail(exchanges(last, x),
				"operation %s was refused on the wrong tool and changed the %s all the same", u.Name, f.resource.noun)
		}
	})
}

func checkRightTool(p *prober, rec *recorder) {
	p.eachWrongTool(rec, everyOperation, func(o *operation, b *baseline, tool string) {
		x := p.call(tool, request(o, p.freshParams(o, b)))
		if !x.answer.failed || x.answer.code != endpointMismatch && !x.uncoded() {
			rec.unjudged("operation %s on tool %s is not refused with %s", o.Name, tool, endpointMismatch)
			return
		}
		text := strings.ToLower(x.answer.message)
		rec.expect(strings.Contains(text, strings.ToLower(o.Endpoint)) || strings.Contains(text, strings.ToLower(o.Tool)), x,
			"the refusal of operation %s on tool %s does not name the endpoint '%s'", o.Name, tool, o.Endpoint)
		if o.Name != "introspect" {
			expected, _ := x.answer.details["expected_endpoint"].(string)
			rec.expect(strings.EqualFold(expected, o.Endpoint), x,
				"'expected_endpoint' in the refusal of operation %s must be '%s'", o.Name, o.Endpoint)
		}
	})
}

func checkUnknownOperation(p *prober, rec *recorder) {
	for _, name := range []string{"no_such_operation", "Introspect", "INTROSPECT"} {
		x := p.call(p.introspectTool, map[string]any{"operation": name, "params": map[string]any{"query": "operations"}})
		if rec.expectCode(x, "NOT_FOUND_OPERATION", "operation %s, which is not listed,", name) {
			p.evidence.addFailure("unknown operation "+name, name, x)
		}
		if x.answer.failed {
			rec.expect(strings.Contains(x.answer.message, name), x, "the message does not name the operation %s", name)
		}
	}
}

// checkBothModes calls every operation through the tool of single mode if the server has both modes. Otherwise it
// compares the operations with those of the adapter in its other mode.
func checkBothModes(p *prober, rec *recorder) {
	if p.mode() == "all" {
		single := p.prefix + "mcp_aql"
		p.eachCallable(rec, func(o *operation, b *baseline) {
			x := p.call(single, request(o, p.freshParams(o, b)))
			rec.expect(paramsAccepted(x), x, "operation %s is not taken by the tool of single mode", o.Name)
		})
		p.evidence.otherMode = true
		return
	}
	if p.options.Other == nil {
		rec.skip("the adapter in its other mode was not given, and only the mode %s is there to be seen", p.mode())
		return
	}
	options := p.options
	options.Other = nil
	q := newProber(p.ctx, p.options.Other, options)
	if err := q.discover(); err != nil {
		rec.fail(nil, "the adapter in its other mode: %v", err)
		return
	}
	if q.mode() == p.mode() {
		rec.skip("the other server has the mode %s, too", q.mode())
		return
	}
	p.evidence.otherMode = true
	rec.pass(q.operationsList)
	for _, d := range p.details {
		other := q.detailsOf[d.name]
		if other == nil {
			rec.fail(exchanges(q.operationsList), "operation %s is missing in mode %s", d.name, q.mode())
			continue
		}
		if d.value == nil || other.value == nil {
			rec.unjudged("the details of operation %s cannot be read in both modes", d.name)
			continue
		}
		for _, member := range []string{"semantic_category", "parameters", "returns", "permissions"} {
			rec.expect(equal(d.value[member], other.value[member]), other.exchange,
				"'%s' of operation %s is another in mode %s", member, d.name, q.mode())
		}
	}
}
