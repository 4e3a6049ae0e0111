package conform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// refused reports whether the parameters were found wanting.
func refused(x *exchange) bool {
	return x.answer.wellFormed && !x.answer.success && strings.HasPrefix(x.answer.code, "VALIDATION_")
}

// contradicts reports whether a refusal of a sound request contradicts what introspection says about names, types and what is
// required. Other refusals are about constraints that introspection keeps to itself, such as the form of a text.
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

// checkValid makes requests with the required parameters, each with one more, and some with everything.
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
				rec.fail(exchanges(x), "operation %s refuses a request that is as introspection describes it: %s", o.Name, x.answer.message)
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
			rec.expect(!contradictsIntrospection(x) && x.answer.code != "NOT_FOUND_OPERATION", x, "operation %s refuses a request that is as introspection describes it: %s", o.Name, x.answer.message)
		}
	}
}

// variations are sound requests: the base with each other parameter, and with all that are content.
func (p *prober) sendVariations(o *operation, b *baseline) []*exchange {
	if all, done := p.variations[o]; done {
		return all
	}
	var all []*exchange
	for _, d := range o.Parameters {
		if d.Required {
			continue
		}
		if value, ok := p.optionalValue(o, &d, true); ok {
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
			value, ok := p.optionalValue(o, &d, true)
			if !ok {
				continue
			}
			x := p.send(o, with(p.freshParams(o, b), d.Name, value))
			rec.expect(x.answer.code != "VALIDATION_UNKNOWN_PARAM", x, "operation %s documents the parameter '%s' and refuses it", o.Name, d.Name)
			if x.answer.code != "VALIDATION_UNKNOWN_PARAM" {
				p.evidence.addAccepted(o, d.Name)
			}
		}
		for _, d := range o.required() {
			p.evidence.addAccepted(o, d.Name)
		}
	})
}

// crossCutting are the standard parameters (operations §4.4.1) with a value that each would accept.
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
			if !rec.expect(refused(x) || !x.answer.wellFormed, x, "operation %s accepts the parameter '%s', which it does not document", o.Name, d.Name) {
				p.evidence.addAccepted(o, d.Name)
			}
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
				rec.fail(exchanges(x), "operation %s without '%s' must fail with VALIDATION_MISSING_PARAM, not with %s", o.Name, d.Name, x.answer.code)
			case !strings.Contains(x.answer.message, d.Name):
				rec.fail(exchanges(x), "operation %s without '%s' fails with a message that does not name it", o.Name, d.Name)
			default:
				rec.pass(x)
				p.evidence.addMissing(o, d.Name, x)
			}
		}
	})
}

// unknownName is a parameter that no operation has.
const unknownName = "no_such_parameter"

// withUnknown sends a sound request with one unknown parameter more.
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
			rec.fail(exchanges(x), "operation %s with an unknown parameter must fail with VALIDATION_UNKNOWN_PARAM, not with %s", o.Name, x.answer.code)
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
		if rec.expect(strings.Contains(x.answer.message, unknownName), x, "the message of operation %s does not name the unknown parameter '%s'", o.Name, unknownName) {
			p.evidence.addUnknown(o, unknownName, x)
		}
		const second = "another_unknown"
		two := p.send(o, with(with(p.freshParams(o, b), unknownName, "x"), second, 1))
		if x.introspection { // its errors have no details
			rec.expect(strings.Contains(two.answer.message, unknownName), two, "the message of operation %s names no unknown parameter", o.Name)
			return
		}
		listed := texts(two.answer.details["unknown_params"])
		rec.expect(slices.Contains(listed, unknownName) && slices.Contains(listed, second), two, "'unknown_params' of operation %s must list both unknown parameters", o.Name)
		valid := texts(two.answer.details["valid_params"])
		for _, d := range o.Parameters {
			rec.expect(slices.Contains(valid, d.Name), two, "'valid_params' of operation %s lacks '%s'", o.Name, d.Name)
		}
		rec.expect(two.answer.details["operation"] == o.Name, two, "the details of operation %s do not say which operation it is", o.Name)
	})
}

// texts are the strings in a list.
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

func checkTopLevel(p *prober, rec *recorder) {
	beside := p.call(p.introspectTool, map[string]any{"operation": "introspect", "query": "operations"})
	if !beside.answer.success {
		rec.skip("parameters beside operation are not taken")
		return
	}
	x := p.call(p.introspectTool, map[string]any{"operation": "introspect", "query": "no_such_query", "params": map[string]any{"query": "operations"}})
	rec.expect(x.answer.success, x, "the parameter in params must win over the one beside operation")
	x = p.call(p.introspectTool, map[string]any{"operation": "introspect", "params": map[string]any{"query": "operations"}, unknownName: "x"})
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
			return // another check's business
		}
		x := p.send(o, with(without(p.freshParams(o, b), required[0].Name), unknownName, "x"))
		rec.expect(x.answer.code == "VALIDATION_MISSING_PARAM", x, "operation %s must tell of the missing '%s' before an unknown parameter", o.Name, required[0].Name)
	})
}

// otherwise are values of other types than that of a parameter.
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
	if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(basicTypes, name) && !strings.HasSuffix(name, "[]") }) || is("any") {
		return nil
	}
	listed := is("array") || slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "[]") })
	if !is("object") {
		others = append(others, map[string]any{"x": 1})
	}
	if !listed {
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
				continue // params/valid says what is wrong
			}
			for _, value := range p.valuesOfOtherTypes(d) {
				x := p.send(o, with(p.freshParams(o, b), d.Name, value))
				isEnum := len(d.Enum) > 0 || p.types[d.Type] != nil
				typed := x.answer.code == "VALIDATION_INVALID_TYPE" || isEnum && x.answer.code == "VALIDATION_INVALID_ENUM" || o.Name == "introspect" && x.answer.code == "INTROSPECTION_ERROR"
				switch {
				case !typed && !refused(x):
					rec.fail(exchanges(x), "operation %s takes %s for '%s', which is of type %s", o.Name, describeValue(value), d.Name, d.Type)
				case !typed:
					rec.fail(exchanges(x), "operation %s must refuse %s for '%s' with VALIDATION_INVALID_TYPE, not with %s", o.Name, describeValue(value), d.Name, x.answer.code)
				default:
					rec.pass(x)
					p.evidence.addFailure(fmt.Sprintf("%s: %s of another type", o.Name, d.Name), d.Name, x)
				}
			}
		}
	})
}

// claimed is the refusal of a sound value of a parameter, where introspection describes another one than the server takes.
func (p *prober) rejectedSample(o *operation, b *baseline, d *param) *exchange {
	if x, done := p.rejectedSamples[d]; done || d.Required { // the base has what is required
		return x
	}
	p.rejectedSamples[d] = nil
	if value, ok := p.optionalValue(o, d, true); ok {
		if x := p.send(o, with(p.freshParams(o, b), d.Name, value)); contradictsIntrospection(x) || x.answer.code == "VALIDATION_UNKNOWN_PARAM" {
			p.rejectedSamples[d] = x
		}
	}
	return p.rejectedSamples[d]
}

// written is a value in a message.
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

// checkDefaults compares what an answer tells of a parameter that was left out with its default. Where the answer says
// nothing, and reading changes nothing, asking with the default must have the same answer as asking without.
func checkDefaults(p *prober, rec *recorder) {
	p.eachCallable(rec, func(o *operation, b *baseline) {
		for _, d := range o.Parameters {
			if d.Default == nil || d.Required {
				continue
			}
			def, err := parse(asJSON(d.Default))
			if err != nil {
				continue
			}
			params := p.freshParams(o, b)
			x := p.send(o, without(params, d.Name))
			if !x.answer.success {
				rec.skip("operation %s does not succeed, so its defaults do not show", o.Name)
				continue
			}
			if path, value := findEcho(x.answer.data, "data", d.Name); path != "" {
				rec.expect(equal(def, value), x, "operation %s documents the default %s for '%s', and works with %s", o.Name, asJSON(def), d.Name, asJSON(value))
				if equal(def, value) {
					p.evidence.addDefault(o, d.Name, path, value, x)
				}
				continue
			}
			if o.Category != "READ" {
				rec.skip("the answer of operation %s does not show its defaults", o.Name)
				continue
			}
			same := p.send(o, with(params, d.Name, def))
			if same.answer.success {
				rec.expect(equal(x.answer.data, same.answer.data), same, "operation %s answers otherwise without '%s' than with its default %s", o.Name, d.Name, asJSON(def))
			}
		}
	})
}

// echoed finds a parameter's value in an answer, not in the items of a list.
func findEcho(value any, path, name string) (string, any) {
	object, ok := value.(map[string]any)
	if !ok {
		return "", nil
	}
	if found, there := object[name]; there {
		switch found.(type) {
		case nil, map[string]any, []any:
		default:
			return path + "." + name, found
		}
	}
	for _, inner := range slices.Sorted(maps.Keys(object)) {
		if where, found := findEcho(object[inner], path+"."+inner, name); where != "" {
			return where, found
		}
	}
	return "", nil
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

// checkNoEffect sends a sound update with an unknown parameter, and looks whether the thing is as before.
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
