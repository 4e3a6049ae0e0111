package conform

import "strings"

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
	if p.mode() == "single" {
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
		rec.expect(x.answer.code == endpointMismatch, x,
			"operation %s on tool %s must fail with %s", o.Name, tool, endpointMismatch)
	})
}

func checkIntrospectOnOtherTools(p *prober, rec *recorder) {
	applies := func(o *operation) bool { return o.Name == "introspect" }
	p.eachWrongTool(rec, applies, func(o *operation, b *baseline, tool string) {
		x := p.call(tool, request(o, b.params))
		rec.expect(x.answer.code == endpointMismatch, x, "introspect on tool %s must fail with %s", tool, endpointMismatch)
	})
}

func checkEndpointFirst(p *prober, rec *recorder) {
	p.eachWrongTool(rec, everyOperation, func(o *operation, b *baseline, tool string) {
		if sound := p.call(tool, request(o, p.freshParams(o, b))); sound.answer.code != endpointMismatch {
			return // endpoints/wrong reports it
		}
		x := p.call(tool, request(o, map[string]any{unknownName: "x"}))
		rec.expect(x.answer.code == endpointMismatch, x,
			"operation %s on tool %s with wrong parameters must fail with %s, not with %s", o.Name, tool, endpointMismatch,
			x.answer.code)
	})
}

func checkEndpointNoEffect(p *prober, rec *recorder) {
	if p.mode() == "single" {
		rec.skip("there is only one tool")
		return
	}
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		u := f.resource.update
		before, _ := p.readFixture(f)
		var last *exchange
		for _, tool := range p.otherTools(u) {
			params := with(p.baseline(u).params, f.resource.id, f.id)
			last = p.call(tool, request(u, params))
			if last.answer.success {
				rec.skip("operation %s is accepted on tool %s", u.Name, tool)
				return
			}
		}
		after, x := p.readFixture(f)
		if before == nil || after == nil {
			rec.skip("a %s that was created cannot be read", f.resource.noun)
			return
		}
		if equal(before, after) {
			rec.pass(x)
		} else {
			rec.fail(exchanges(last, x),
				"operation %s was refused on the wrong tool and changed the %s all the same", u.Name, f.resource.noun)
		}
	})
}

func checkRightTool(p *prober, rec *recorder) {
	p.eachWrongTool(rec, everyOperation, func(o *operation, b *baseline, tool string) {
		x := p.call(tool, request(o, p.freshParams(o, b)))
		if x.answer.code != endpointMismatch {
			return
		}
		text := strings.ToLower(x.answer.message)
		rec.expect(strings.Contains(text, strings.ToLower(o.Endpoint)) || strings.Contains(text, o.Tool), x,
			"the refusal of operation %s on tool %s does not name the endpoint '%s'", o.Name, tool, o.Endpoint)
		if o.Name != "introspect" {
			expected, _ := x.answer.details["expected_endpoint"].(string)
			rec.expect(strings.EqualFold(expected, o.Endpoint), x, "'expected_endpoint' of the refusal must be '%s'", o.Endpoint)
		}
	})
}

func checkUnknownOperation(p *prober, rec *recorder) {
	for _, name := range []string{"no_such_operation", "Introspect", "INTROSPECT"} {
		x := p.call(p.introspectTool, map[string]any{"operation": name, "params": map[string]any{"query": "operations"}})
		if rec.expect(x.answer.code == "NOT_FOUND_OPERATION", x,
			"operation %s does not exist: the code must be NOT_FOUND_OPERATION", name) {
			rec.expect(strings.Contains(x.answer.message, name), x, "the message does not name the operation %s", name)
			p.evidence.addFailure("unknown operation "+name, name, x)
		}
	}
}

// checkBothModes calls every operation through the tool of single mode if the server has both modes. Otherwise it
// compares the operations with those of the adapter in its other mode.
func checkBothModes(p *prober, rec *recorder) {
	if p.mode() == "all" {
		single := p.prefix + "mcp_aql"
		for _, o := range p.callable() {
			b := p.baseline(o)
			if b.params == nil {
				continue
			}
			x := p.call(single, request(o, p.freshParams(o, b)))
			rec.expect(paramsAccepted(x), x, "operation %s is not taken by the tool of single mode", o.Name)
		}
		p.evidence.otherMode = true
		return
	}
	if p.options.Other == nil {
		rec.skip("only the mode %s is there to be seen", p.mode())
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
		other := q.operation(d.name)
		if !rec.expect(other != nil, q.operationsList, "operation %s is missing in mode %s", d.name, q.mode()) {
			continue
		}
		x := q.detailExchange(other)
		details := memberOf(x.answer.data, "operation")
		for _, member := range []string{"semantic_category", "parameters", "returns", "permissions"} {
			rec.expect(equal(d.value[member], memberOf(details, member)), x,
				"'%s' of operation %s is another in mode %s", member, d.name, q.mode())
		}
	}
}
