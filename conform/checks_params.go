package conform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// contradictsIntrospection reports whether the refusal of a valid request contradicts what introspection reports about
// names, types and required parameters. Other refusals are about constraints that introspection does not report, such
// as the form of a text.
func contradictsIntrospection(x *exchange) bool {
	switch x.answer.code {
	case "VALIDATION_MISSING_PARAM":
		return true
	case "VALIDATION_INVALID_TYPE":
		expected, _ := x.answer.details["expected_type"].(string)
		actual, _ := x.answer.details["actual_type"].(string)
		isType := func(name string) bool { return slices.Contains(basicTypes, name) }
		return expected == "" || actual == "" || isType(actual) && slices.ContainsFunc(alternatives(expected), isType)
	}
	return false
}

// checkValid sends valid requests: with the required parameters, with each optional one in addition, and with all of
// them.
func checkValid(p *prober, rec *recorder) {
	for _, name := range p.unread {
		rec.unjudged("the details of operation %s cannot be read", name)
	}
	for _, o := range p.operations {
		if why := p.exclusion(o); why != "" {
			rec.skip("%s", why)
		}
	}
	for _, o := range p.callable() {
		b := p.baseline(o)
		for _, x := range b.rejected {
			if contradictsIntrospection(x) {
				rec.fail(exchanges(x),
					"operation %s refuses a request that is as introspection describes it: %s", o.Name, clip(x.answer.message, 200))
			}
		}
		if b.params == nil {
			rec.unjudged("%s", noRequest(o, b))
			continue
		}
		rec.pass(b.exchange)
		for _, x := range p.sendVariations(o, b) {
			switch {
			case x.answer.success:
				rec.pass(x)
			case refusalOf(x) == perhaps:
				rec.unjudged("operation %s fails%s on a request that is valid by introspection, and no code says whether "+
					"it refuses the request", o.Name, because(x))
			case refusalOf(x) == unknown:
				rec.unjudged("the answer of operation %s can be read neither as success nor as failure", o.Name)
			default:
				rec.expect(!contradictsIntrospection(x) && x.answer.code != "NOT_FOUND_OPERATION", x,
					"operation %s refuses a request that is as introspection describes it: %s", o.Name,
					clip(x.answer.message, 200))
			}
		}
	}
}

// sendVariations sends valid requests, once in a run: the baseline with each optional parameter, and requests with all
// parameters except those that control the answer.
func (p *prober) sendVariations(o *operation, b *baseline) []*exchange {
	if all, done := p.variations[o]; done {
		return all
	}
	var all []*exchange
	for _, d := range o.Parameters {
		if d.Required {
			continue
		}
		if value, ok := p.optionalValue(o, &d); ok {
			all = append(all, p.send(o, with(p.freshParams(o, b), d.Name, value)))
		}
	}
	for range 2 {
		if params, ok := p.contentParams(o); ok && o.Name != "introspect" {
			all = append(all, p.send(o, params))
		}
	}
	p.variations[o] = all
	return all
}

func checkDocumented(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		for _, d := range o.Parameters {
			if d.Required {
				continue
			}
			value, ok := p.optionalValue(o, &d)
			if !ok {
				continue
			}
			x := p.send(o, with(p.freshParams(o, b), d.Name, value))
			switch refusalOf(x) {
			case perhaps, unknown:
				rec.unjudged("operation %s does not succeed with its parameter '%s', and no code says why", o.Name, d.Name)
			default:
				if rec.expect(x.answer.code != "VALIDATION_UNKNOWN_PARAM", x,
					"operation %s documents the parameter '%s' and refuses it as unknown", o.Name, d.Name) {
					p.evidence.addAccepted(o, d.Name)
				}
			}
		}
		for _, d := range o.required() {
			rec.pass(b.exchange)
			p.evidence.addAccepted(o, d.Name)
		}
	})
}

func hasRequired(o *operation) bool { return len(o.required()) > 0 }
func hasParams(o *operation) bool   { return len(o.Parameters) > 0 }

func checkRequired(p *prober, rec *recorder) {
	p.eachCallableWith(rec, hasRequired, func(o *operation, b *baseline) {
		for _, d := range o.required() {
			x := p.send(o, without(p.freshParams(o, b), d.Name))
			if x.answer.success {
				rec.fail(exchanges(x), "operation %s says that '%s' is required, and succeeds without it", o.Name, d.Name)
				continue
			}
			if !p.expectRefusedAs(rec, o, b, x, "VALIDATION_MISSING_PARAM", "operation %s without '%s'", o.Name, d.Name) {
				continue
			}
			if rec.expect(strings.Contains(x.answer.message, d.Name), x,
				"operation %s without '%s' fails with a message that does not name it", o.Name, d.Name) {
				p.evidence.addMissing(o, d.Name, x)
			}
		}
	})
	rec.skip("no operation that may be called documents a required parameter")
}

func checkTopLevel(p *prober, rec *recorder) {
	topLevel := p.call(p.introspectTool, map[string]any{"operation": "introspect", "query": "operations"})
	listsBeside := false
	if topLevel.answer.success {
		_, _, listsBeside = p.readEntries(topLevel, "operations")
	}
	if !listsBeside {
		rec.skip("introspect does not list the operations for a 'query' beside 'operation'")
		return
	}
	if none := p.call(p.introspectTool, map[string]any{"operation": "introspect"}); none.answer.success {
		if _, _, lists := p.readEntries(none, "operations"); lists {
			rec.unjudged("introspect lists the operations without any 'query', so it does not show which one it takes")
			return
		}
	}
	x := p.call(p.introspectTool,
		map[string]any{"operation": "introspect", "query": "no_such_query", "params": map[string]any{"query": "operations"}})
	rec.expectSuccess(x, "introspect with a valid 'query' in params, which must win over another beside operation,")
	x = p.call(p.introspectTool,
		map[string]any{"operation": "introspect", "params": map[string]any{"query": "operations"}, unknownName: "x"})
	rec.expectRefusal(x, func() *exchange { return p.callIntrospect(p.introspectTool, "operations", "") },
		"introspect with an unknown parameter beside operation, where it takes parameters,")
}

func checkMetadata(p *prober, rec *recorder) {
	x := p.call(p.introspectTool, map[string]any{
		"operation": "introspect", "params": map[string]any{"query": "operations", "_probe": "x"},
		"_request_id": "probe", "_meta": map[string]any{"probe": true}, "_probe": "x",
	})
	rec.expectSuccess(x, "introspect with keys that begin with an underscore")
}

func checkOrder(p *prober, rec *recorder) {
	p.eachCallableWith(rec, hasRequired, func(o *operation, b *baseline) {
		required := o.required()
		if !p.refusesUnknown(o, b) {
			rec.unjudged("operation %s does not refuse unknown parameters", o.Name)
			return
		}
		alone := p.send(o, without(p.freshParams(o, b), required[0].Name))
		if alone.answer.code != "VALIDATION_MISSING_PARAM" {
			rec.unjudged("operation %s without '%s' does not fail with VALIDATION_MISSING_PARAM", o.Name, required[0].Name)
			return // params/required reports it
		}
		x := p.send(o, with(without(p.freshParams(o, b), required[0].Name), unknownName, "x"))
		rec.expectCode(x, "VALIDATION_MISSING_PARAM", "operation %s without '%s' and with an unknown parameter", o.Name,
			required[0].Name)
	})
	rec.skip("no operation that may be called documents a required parameter")
}

// valuesOfOtherTypes returns values that do not have the type of a parameter.
func (p *prober) valuesOfOtherTypes(d *param) []any {
	var others []any
	names := alternatives(d.Type)
	is := func(name string) bool { return slices.Contains(names, name) }
	if len(names) == 1 && p.types[names[0]] != nil {
		switch p.types[names[0]].Kind {
		case "enum":
			return []any{7}
		case "object":
			return []any{"x", []any{1}}
		}
		return nil
	}
	isList := func(name string) bool { return strings.HasSuffix(name, "[]") }
	isNamed := func(name string) bool { return !slices.Contains(basicTypes, name) && !isList(name) }
	if slices.ContainsFunc(names, isNamed) || is("any") {
		return nil
	}
	if !is("object") {
		others = append(others, map[string]any{"x": 1})
	}
	if !is("array") && !slices.ContainsFunc(names, isList) {
		others = append(others, []any{true})
	}
	if !is("string") {
		others = append(others, map[string]any{"boolean": "true", "integer": "5", "number": "5"}[names[0]])
		if others[len(others)-1] == nil {
			others[len(others)-1] = "x"
		}
	}
	if !is("integer") && !is("number") && !isIntegerText(d.Pattern) {
		others = append(others, 7)
	}
	if is("integer") && !is("number") {
		others = append(others, 1.5)
	}
	return others
}

// isIntegerText reports whether a pattern is that of integers. An adapter that has them travel as strings may accept
// numbers too (MCP-AQL core §4.7.3).
func isIntegerText(pattern string) bool {
	re, err := regexp.Compile(pattern)
	return pattern != "" && err == nil && re.MatchString("7") && re.MatchString("10") && !re.MatchString("x") &&
		!re.MatchString("")
}

func checkTypes(p *prober, rec *recorder) {
	p.eachCallableWith(rec, hasParams, func(o *operation, b *baseline) {
		for i := range o.Parameters {
			d := &o.Parameters[i]
			if p.rejectedSample(o, b, d) != nil {
				rec.unjudged("operation %s refuses even a valid value of '%s'", o.Name, d.Name)
				continue // params/valid reports it
			}
			for _, value := range p.valuesOfOtherTypes(d) {
				x := p.send(o, with(p.freshParams(o, b), d.Name, value))
				isEnum := len(d.Enum) > 0 || p.types[d.Type] != nil
				typed := x.answer.code == "VALIDATION_INVALID_TYPE" ||
					isEnum && x.answer.code == "VALIDATION_INVALID_ENUM" ||
					o.Name == "introspect" && x.answer.code == "INTROSPECTION_ERROR"
				what := fmt.Sprintf("operation %s with %s for '%s', which is of type %s,", o.Name, describeValue(value), d.Name,
					d.Type)
				switch {
				case typed:
					rec.pass(x)
					p.evidence.addFailure(fmt.Sprintf("%s: %s of another type", o.Name, d.Name), d.Name, x)
				case refusalOf(x) == refused:
					rec.fail(exchanges(x), "%s must fail with VALIDATION_INVALID_TYPE, not with %s", what, x.answer.code)
				default:
					p.expectRefused(rec, o, b, x, "%s", what)
				}
			}
		}
	})
	rec.skip("no operation that may be called documents a parameter of which values of another type are known")
}

// rejectedSample returns the refusal of a value that is valid by introspection; nil: the server accepts it.
func (p *prober) rejectedSample(o *operation, b *baseline, d *param) *exchange {
	if x, done := p.rejectedSamples[d]; done || d.Required { // the baseline has a value that is accepted
		return x
	}
	p.rejectedSamples[d] = nil
	if value, ok := p.optionalValue(o, d); ok {
		x := p.send(o, with(p.freshParams(o, b), d.Name, value))
		if contradictsIntrospection(x) || x.answer.code == "VALIDATION_UNKNOWN_PARAM" || x.uncoded() {
			p.rejectedSamples[d] = x
		}
	}
	return p.rejectedSamples[d]
}

// describeValue describes the type of a value in a message.
func describeValue(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "text"
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a fraction"
	}
	return "a number"
}

func checkEnvelope(p *prober, rec *recorder) {
	for _, tt := range []struct {
		what    string
		request any
	}{
		{"without an operation", map[string]any{"params": map[string]any{"query": "operations"}}},
		{"with an empty operation", map[string]any{"operation": ""}},
		{"with a number for an operation", map[string]any{"operation": 7}},
		{"with a list for params", map[string]any{"operation": "introspect", "params": []any{}}},
		{"with text for params", map[string]any{"operation": "introspect", "params": "query"}},
	} {
		x := p.call(p.introspectTool, tt.request)
		x.malformed = true
		switch {
		case x.unreadable() && x.reply.Fault == "":
			rec.unjudged("the answer to a request %s can be read neither as success nor as failure", tt.what)
		case x.answer.success:
			rec.fail(exchanges(x), "a request %s must fail, and succeeds", tt.what)
		case x.reply.Fault != "":
			rec.pass(x) // the transport refused it
		case x.uncoded():
			rec.pass(x)
			rec.unjudged("the error of a request %s has no code that could be one of VALIDATION_", tt.what)
		default:
			rec.expect(refusalOf(x) == refused, x, "a request %s must fail with a VALIDATION_ code, not with %s", tt.what,
				x.answer.code)
		}
	}
}
