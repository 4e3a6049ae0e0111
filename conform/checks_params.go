package conform

import (
	"fmt"
	"slices"
	"strings"
)

// refused reports whether a request failed because of its parameters.
func refused(x *exchange) bool {
	return x.answer.wellFormed && !x.answer.success && strings.HasPrefix(x.answer.code, "VALIDATION_")
}

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
	for _, d := range p.unreadable {
		rec.fail(nil, "%s", d)
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
					"operation %s refuses a request that is as introspection describes it: %s", o.Name, x.answer.message)
			}
		}
		if b.params == nil {
			if b.exchange != nil && !b.exchange.answer.wellFormed {
				rec.skip("operation %s does not answer in a way that can be understood", o.Name)
			}
			continue
		}
		rec.pass(b.exchange)
		for _, x := range p.sendVariations(o, b) {
			rec.expect(!contradictsIntrospection(x) && x.answer.code != "NOT_FOUND_OPERATION", x,
				"operation %s refuses a request that is as introspection describes it: %s", o.Name, x.answer.message)
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
			rec.expect(x.answer.code != "VALIDATION_UNKNOWN_PARAM", x,
				"operation %s documents the parameter '%s' and refuses it", o.Name, d.Name)
			if x.answer.code != "VALIDATION_UNKNOWN_PARAM" {
				p.evidence.addAccepted(o, d.Name)
			}
		}
		for _, d := range o.required() {
			p.evidence.addAccepted(o, d.Name)
		}
	})
}

func checkRequired(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		for _, d := range o.required() {
			x := p.send(o, without(p.freshParams(o, b), d.Name))
			switch {
			case !refused(x):
				rec.fail(exchanges(x), "operation %s says that '%s' is required, and does without", o.Name, d.Name)
			case x.answer.code != "VALIDATION_MISSING_PARAM":
				rec.fail(exchanges(x),
					"operation %s without '%s' must fail with VALIDATION_MISSING_PARAM, not with %s", o.Name, d.Name, x.answer.code)
			case !strings.Contains(x.answer.message, d.Name):
				rec.fail(exchanges(x), "operation %s without '%s' fails with a message that does not name it", o.Name, d.Name)
			default:
				rec.pass(x)
				p.evidence.addMissing(o, d.Name, x)
			}
		}
	})
}

func checkTopLevel(p *prober, rec *recorder) {
	topLevel := p.call(p.introspectTool, map[string]any{"operation": "introspect", "query": "operations"})
	if !topLevel.answer.success {
		rec.skip("parameters beside operation are not taken")
		return
	}
	x := p.call(p.introspectTool,
		map[string]any{"operation": "introspect", "query": "no_such_query", "params": map[string]any{"query": "operations"}})
	rec.expect(x.answer.success, x, "the parameter in params must win over the one beside operation")
	x = p.call(p.introspectTool,
		map[string]any{"operation": "introspect", "params": map[string]any{"query": "operations"}, unknownName: "x"})
	rec.expect(refused(x), x, "an unknown parameter beside operation must be refused, as parameters there are taken")
}

func checkMetadata(p *prober, rec *recorder) {
	x := p.call(p.introspectTool, map[string]any{
		"operation": "introspect", "params": map[string]any{"query": "operations", "_probe": "x"},
		"_request_id": "probe", "_meta": map[string]any{"probe": true}, "_probe": "x",
	})
	rec.expect(x.answer.success, x, "keys that begin with an underscore must not be refused")
}

func checkOrder(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		required := o.required()
		if len(required) == 0 || !refused(p.sendWithUnknown(o, b)) {
			return
		}
		alone := p.send(o, without(p.freshParams(o, b), required[0].Name))
		if alone.answer.code != "VALIDATION_MISSING_PARAM" {
			return // params/required reports it
		}
		x := p.send(o, with(without(p.freshParams(o, b), required[0].Name), unknownName, "x"))
		rec.expect(x.answer.code == "VALIDATION_MISSING_PARAM", x,
			"operation %s must tell of the missing '%s' before an unknown parameter", o.Name, required[0].Name)
	})
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
	if !is("integer") && !is("number") {
		others = append(others, 7)
	}
	if is("integer") && !is("number") {
		others = append(others, 1.5)
	}
	return others
}

func checkTypes(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		for i := range o.Parameters {
			d := &o.Parameters[i]
			if p.rejectedSample(o, b, d) != nil {
				continue // params/valid reports it
			}
			for _, value := range p.valuesOfOtherTypes(d) {
				x := p.send(o, with(p.freshParams(o, b), d.Name, value))
				isEnum := len(d.Enum) > 0 || p.types[d.Type] != nil
				typed := x.answer.code == "VALIDATION_INVALID_TYPE" ||
					isEnum && x.answer.code == "VALIDATION_INVALID_ENUM" ||
					o.Name == "introspect" && x.answer.code == "INTROSPECTION_ERROR"
				switch {
				case !typed && !refused(x):
					rec.fail(exchanges(x),
						"operation %s takes %s for '%s', which is of type %s", o.Name, describeValue(value), d.Name, d.Type)
				case !typed:
					rec.fail(exchanges(x), "operation %s must refuse %s for '%s' with VALIDATION_INVALID_TYPE, not with %s", o.Name,
						describeValue(value), d.Name, x.answer.code)
				default:
					rec.pass(x)
					p.evidence.addFailure(fmt.Sprintf("%s: %s of another type", o.Name, d.Name), d.Name, x)
				}
			}
		}
	})
}

// rejectedSample returns the refusal of a value that is valid by introspection; nil: the server accepts it.
func (p *prober) rejectedSample(o *operation, b *baseline, d *param) *exchange {
	if x, done := p.rejectedSamples[d]; done || d.Required { // the baseline has a value that is accepted
		return x
	}
	p.rejectedSamples[d] = nil
	if value, ok := p.optionalValue(o, d); ok {
		x := p.send(o, with(p.freshParams(o, b), d.Name, value))
		if contradictsIntrospection(x) || x.answer.code == "VALIDATION_UNKNOWN_PARAM" {
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
	}
	return "a number or boolean"
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
		rec.expect(x.reply.Fault != "" || x.answer.wellFormed && !x.answer.success, x, "a request %s must fail", tt.what)
		if x.reply.Fault == "" {
			rec.expect(refused(x), x, "a request %s must fail with a VALIDATION_ code, not with %s", tt.what, x.answer.code)
		}
		x.malformed = true
	}
}
