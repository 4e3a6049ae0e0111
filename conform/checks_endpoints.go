package conform

import "strings"

func endpointChecks() []check {
	return []check{
		{"endpoints/wrong", "an operation on the tool of another family is refused", []string{"REQ-EP-04", "REQ-CL-01"}, Must, Parameters, 1, checkWrongEndpoint},
		{"endpoints/introspect", "introspect is refused on the tools of other families", []string{"REQ-EP-04", "REQ-IN-01"}, Must, Parameters, 1, checkIntrospectElsewhere},
		{"endpoints/first", "the wrong tool is told before wrong parameters", []string{"REQ-VO-01"}, Must, Parameters, 1, checkEndpointFirst},
		{"endpoints/no-effect", "an operation on the wrong tool changes nothing", []string{"REQ-EP-04"}, Must, Parameters, 1, checkEndpointNoEffect},
		{"endpoints/right-tool", "a refusal says which tool is the right one", []string{"REQ-TL-18"}, Should, ErrorsGood, 1, checkRightTool},
		{"endpoints/unknown-operation", "an operation that does not exist is told as such", []string{"REQ-RF-03", "REQ-ER-03"}, Must, ErrorsGood, 1, checkUnknownOperation},
		{"modes/both", "the other endpoint mode is there, with the same operations", []string{"REQ-CL-02", "REQ-EP-08"}, Must, Features, 2, checkBothModes},
	}
}

// elsewhere are the tools of other families than an operation's.
func (p *prober) elsewhere(o *operation) []string {
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

const mismatch = "VALIDATION_ENDPOINT_MISMATCH"

func (p *prober) wrongly(v *verdict, pick func(o *operation) bool, look func(o *operation, b *base, tool string)) {
	if p.mode() == "single" {
		v.skip("there is only one tool")
		return
	}
	p.each(v, func(o *operation, b *base) {
		if !pick(o) {
			return
		}
		for _, tool := range p.elsewhere(o) {
			look(o, b, tool)
		}
	})
}

func checkWrongEndpoint(p *prober, v *verdict) {
	pick := func(o *operation) bool { return o.Name != "introspect" }
	p.wrongly(v, pick, func(o *operation, b *base, tool string) {
		x := p.call(tool, request(o, p.fresh(o, b)))
		v.hold(x.answer.code == mismatch, x, "operation %s on tool %s must fail with %s", o.Name, tool, mismatch)
	})
}

func checkIntrospectElsewhere(p *prober, v *verdict) {
	pick := func(o *operation) bool { return o.Name == "introspect" }
	p.wrongly(v, pick, func(o *operation, b *base, tool string) {
		x := p.call(tool, request(o, b.params))
		v.hold(x.answer.code == mismatch, x, "introspect on tool %s must fail with %s", tool, mismatch)
	})
}

func checkEndpointFirst(p *prober, v *verdict) {
	pick := func(o *operation) bool { return true }
	p.wrongly(v, pick, func(o *operation, b *base, tool string) {
		if sound := p.call(tool, request(o, p.fresh(o, b))); sound.answer.code != mismatch {
			return // another check's business
		}
		x := p.call(tool, request(o, map[string]any{unknownName: "x"}))
		v.hold(x.answer.code == mismatch, x, "operation %s on tool %s with wrong parameters must fail with %s, not with %s", o.Name, tool, mismatch, x.answer.code)
	})
}

func checkEndpointNoEffect(p *prober, v *verdict) {
	if p.mode() == "single" {
		v.skip("there is only one tool")
		return
	}
	p.updated(v, func(f *fixture, _ []param) {
		u := f.resource.update
		before, _ := p.read(f)
		var last *exchange
		for _, tool := range p.elsewhere(u) {
			params := with(p.base(u).params, f.resource.id, f.id)
			last = p.call(tool, request(u, params))
			if last.answer.success {
				v.skip("operation %s is accepted on tool %s", u.Name, tool)
				return
			}
		}
		after, x := p.read(f)
		if before == nil || after == nil {
			v.skip("a %s that was created cannot be read", f.resource.noun)
			return
		}
		if equal(before, after) {
			v.ok(x)
		} else {
			v.wrong(exchanges(last, x), "operation %s was refused on the wrong tool and changed the %s all the same", u.Name, f.resource.noun)
		}
	})
}

func checkRightTool(p *prober, v *verdict) {
	pick := func(o *operation) bool { return true }
	p.wrongly(v, pick, func(o *operation, b *base, tool string) {
		x := p.call(tool, request(o, p.fresh(o, b)))
		if x.answer.code != mismatch {
			return
		}
		text := strings.ToLower(x.answer.message)
		v.hold(strings.Contains(text, strings.ToLower(o.Endpoint)) || strings.Contains(text, o.Tool), x, "the refusal of operation %s on tool %s does not name the endpoint '%s'", o.Name, tool, o.Endpoint)
		if o.Name != "introspect" {
			expected, _ := x.answer.details["expected_endpoint"].(string)
			v.hold(strings.EqualFold(expected, o.Endpoint), x, "'expected_endpoint' of the refusal must be '%s'", o.Endpoint)
		}
	})
}

func checkUnknownOperation(p *prober, v *verdict) {
	for _, name := range []string{"no_such_operation", "Introspect", "INTROSPECT"} {
		x := p.call(p.asked, map[string]any{"operation": name, "params": map[string]any{"query": "operations"}})
		if v.hold(x.answer.code == "NOT_FOUND_OPERATION", x, "operation %s does not exist: the code must be NOT_FOUND_OPERATION", name) {
			v.hold(strings.Contains(x.answer.message, name), x, "the message does not name the operation %s", name)
			p.evidence.failure("unknown operation "+name, name, x)
		}
	}
}

// checkBothModes asks the same adapter in the other mode for its operations.
func checkBothModes(p *prober, v *verdict) {
	if p.mode() == "all" {
		single := p.prefix + "mcp_aql"
		for _, o := range p.runnable() {
			b := p.base(o)
			if b.params == nil {
				continue
			}
			x := p.call(single, request(o, p.fresh(o, b)))
			v.hold(accepted(x), x, "operation %s is not taken by the tool of single mode", o.Name)
		}
		p.evidence.otherMode = true
		return
	}
	if p.options.Other == nil {
		v.skip("only the mode %s is there to be seen", p.mode())
		return
	}
	options := p.options
	options.Other = nil
	q := newProber(p.ctx, p.options.Other, options)
	if err := q.discover(); err != nil {
		v.wrong(nil, "the adapter in its other mode: %v", err)
		return
	}
	if q.mode() == p.mode() {
		v.skip("the other server has the mode %s, too", q.mode())
		return
	}
	p.evidence.otherMode = true
	v.ok(q.operationsList)
	for _, d := range p.details {
		other := q.operation(d.name)
		if !v.hold(other != nil, q.operationsList, "operation %s is missing in mode %s", d.name, q.mode()) {
			continue
		}
		for _, member := range []string{"semantic_category", "parameters", "returns", "permissions"} {
			v.hold(equal(d.value[member], within(q.exchangeOf(other).answer.data, "operation").(map[string]any)[member]), q.exchangeOf(other), "'%s' of operation %s is another in mode %s", member, d.name, q.mode())
		}
	}
}
