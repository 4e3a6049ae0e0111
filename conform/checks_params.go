package conform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func parameterChecks() []check {
	return []check{
		{"params/valid", "requests that follow introspection are not refused", []string{"REQ-IN-11", "REQ-CL-07"}, Must, Fidelity, 1, checkValid},
		{"params/documented-accepted", "every parameter that is documented is accepted", []string{"REQ-IN-12"}, Should, Fidelity, 1, checkDocumented},
		{"params/undocumented", "no cross-cutting parameter is accepted that is not documented", []string{"REQ-IN-12", "REQ-UK-10", "REQ-RF-13"}, Must, Fidelity, 1, checkUndocumented},
		{"params/required", "each required parameter that is missing is refused by name", []string{"REQ-VO-02", "REQ-CL-07", "REQ-IN-12"}, Must, Parameters, 1, checkRequired},
		{"params/unknown", "an unknown parameter is refused", []string{"REQ-UK-01", "REQ-UK-07"}, Must, Parameters, 1, checkUnknown},
		{"params/unknown-named", "all unknown parameters are named", []string{"REQ-UK-02", "REQ-CL-07"}, Must, Parameters, 1, checkUnknownNamed},
		{"params/top-level", "parameters beside operation count, and those in params win", []string{"REQ-RF-05", "REQ-UK-04"}, Must, Parameters, 1, checkTopLevel},
		{"params/metadata", "keys that begin with an underscore are no parameters", []string{"REQ-RF-18", "REQ-UK-05"}, Must, Parameters, 1, checkMetadata},
		{"params/order", "what is missing is told before what is unknown", []string{"REQ-VO-02"}, Must, Parameters, 1, checkOrder},
		{"params/types", "a value of another type is refused, and nothing is converted", []string{"REQ-VO-05"}, Must, Parameters, 1, checkTypes},
		{"params/defaults", "the default that is documented is the one that works", []string{"REQ-VO-11"}, Must, Parameters, 1, checkDefaults},
		{"params/envelope", "what is no request is refused", []string{"REQ-RF-02", "REQ-RF-04"}, Must, Parameters, 1, checkEnvelope},
		{"params/no-effect", "a refused request changes nothing", []string{"REQ-UK-01", "REQ-VO-02"}, Must, Parameters, 1, checkNoEffect},
	}
}

// refused reports whether the parameters were found wanting.
func refused(x *exchange) bool {
	return x.answer.ok && !x.answer.success && strings.HasPrefix(x.answer.code, "VALIDATION_")
}

// contradicts reports whether a refusal of a sound request contradicts what introspection says about names, types and what is
// required. Other refusals are about constraints that introspection keeps to itself, such as the form of a text.
func contradicts(x *exchange) bool {
	switch x.answer.code {
	case "VALIDATION_MISSING_PARAM":
		return true
	case "VALIDATION_INVALID_TYPE":
		expected, _ := x.answer.details["expected_type"].(string)
		actual, _ := x.answer.details["actual_type"].(string)
		isType := func(name string) bool { return slices.Contains(basic, name) }
		return expected == "" || actual == "" || isType(actual) && slices.ContainsFunc(alternatives(expected), isType)
	}
	return false
}

// checkValid makes requests with the required parameters, each with one more, and some with everything.
func checkValid(p *prober, v *verdict) {
	for _, d := range p.trouble {
		v.wrong(nil, "%s", d)
	}
	for _, o := range p.operations {
		if why := p.barred(o); why != "" {
			v.skip("%s", why)
		}
	}
	for _, o := range p.runnable() {
		b := p.base(o)
		for _, x := range b.refused {
			if contradicts(x) {
				v.wrong(exchanges(x), "operation %s refuses a request that is as introspection describes it: %s", o.Name, x.answer.message)
			}
		}
		if b.params == nil {
			if b.exchange != nil && !b.exchange.answer.ok {
				v.skip("operation %s does not answer in a way that can be understood", o.Name)
			}
			continue
		}
		v.ok(b.exchange)
		for _, x := range p.variations(o, b) {
			v.hold(!contradicts(x) && x.answer.code != "NOT_FOUND_OPERATION", x, "operation %s refuses a request that is as introspection describes it: %s", o.Name, x.answer.message)
		}
	}
}

// variations are sound requests: the base with each other parameter, and with all that are content.
func (p *prober) variations(o *operation, b *base) []*exchange {
	var all []*exchange
	for _, d := range o.Parameters {
		if d.Required {
			continue
		}
		if value, ok := p.sample(o, &d, true); ok {
			all = append(all, p.send(o, with(p.fresh(o, b), d.Name, value)))
		}
	}
	for range 2 {
		if params, ok := p.whole(o); ok && o.Name != "introspect" {
			all = append(all, p.send(o, params))
		}
	}
	return all
}

func checkDocumented(p *prober, v *verdict) {
	p.each(v, func(o *operation, b *base) {
		for _, d := range o.Parameters {
			if d.Required {
				continue
			}
			value, ok := p.sample(o, &d, true)
			if !ok {
				continue
			}
			x := p.send(o, with(p.fresh(o, b), d.Name, value))
			v.hold(x.answer.code != "VALIDATION_UNKNOWN_PARAM", x, "operation %s documents the parameter '%s' and refuses it", o.Name, d.Name)
			if x.answer.code != "VALIDATION_UNKNOWN_PARAM" {
				p.evidence.accept(o, d.Name)
			}
		}
		for _, d := range o.required() {
			p.evidence.accept(o, d.Name)
		}
	})
}

// crossCutting are the standard parameters (operations §4.4.1) with a value that each would accept.
func crossCutting() []param {
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

func checkUndocumented(p *prober, v *verdict) {
	p.each(v, func(o *operation, b *base) {
		if !refused(p.withUnknown(o, b)) {
			v.skip("operation %s accepts whatever parameter there is", o.Name)
			return
		}
		for _, d := range crossCutting() {
			if o.param(d.Name) != nil {
				continue
			}
			x := p.send(o, with(p.fresh(o, b), d.Name, d.Default))
			if !v.hold(refused(x) || !x.answer.ok, x, "operation %s accepts the parameter '%s', which it does not document", o.Name, d.Name) {
				p.evidence.accept(o, d.Name)
			}
		}
	})
}

func checkRequired(p *prober, v *verdict) {
	p.each(v, func(o *operation, b *base) {
		for _, d := range o.required() {
			x := p.send(o, without(p.fresh(o, b), d.Name))
			switch {
			case !refused(x):
				v.wrong(exchanges(x), "operation %s says that '%s' is required, and does without", o.Name, d.Name)
			case x.answer.code != "VALIDATION_MISSING_PARAM":
				v.wrong(exchanges(x), "operation %s without '%s' must fail with VALIDATION_MISSING_PARAM, not with %s", o.Name, d.Name, x.answer.code)
			case !strings.Contains(x.answer.message, d.Name):
				v.wrong(exchanges(x), "operation %s without '%s' fails with a message that does not name it", o.Name, d.Name)
			default:
				v.ok(x)
				p.evidence.missing(o, d.Name, x)
			}
		}
	})
}

// unknownName is a parameter that no operation has.
const unknownName = "no_such_parameter"

// withUnknown sends a sound request with one unknown parameter more.
func (p *prober) withUnknown(o *operation, b *base) *exchange {
	if p.unknown[o] == nil {
		p.unknown[o] = p.send(o, with(p.fresh(o, b), unknownName, "x"))
	}
	return p.unknown[o]
}

func checkUnknown(p *prober, v *verdict) {
	p.each(v, func(o *operation, b *base) {
		x := p.withUnknown(o, b)
		switch {
		case !refused(x):
			v.wrong(exchanges(x), "operation %s swallows a parameter that it does not know", o.Name)
		case x.answer.code != "VALIDATION_UNKNOWN_PARAM":
			v.wrong(exchanges(x), "operation %s with an unknown parameter must fail with VALIDATION_UNKNOWN_PARAM, not with %s", o.Name, x.answer.code)
		default:
			v.ok(x)
		}
	})
}

func checkUnknownNamed(p *prober, v *verdict) {
	p.each(v, func(o *operation, b *base) {
		x := p.withUnknown(o, b)
		if x.answer.code != "VALIDATION_UNKNOWN_PARAM" {
			v.skip("operation %s does not refuse unknown parameters as such", o.Name)
			return
		}
		if v.hold(strings.Contains(x.answer.message, unknownName), x, "the message of operation %s does not name the unknown parameter '%s'", o.Name, unknownName) {
			p.evidence.unknown(o, unknownName, x)
		}
		const second = "another_unknown"
		two := p.send(o, with(with(p.fresh(o, b), unknownName, "x"), second, 1))
		if x.introspection { // its errors have no details
			v.hold(strings.Contains(two.answer.message, unknownName), two, "the message of operation %s names no unknown parameter", o.Name)
			return
		}
		listed := texts(two.answer.details["unknown_params"])
		v.hold(slices.Contains(listed, unknownName) && slices.Contains(listed, second), two, "'unknown_params' of operation %s must list both unknown parameters", o.Name)
		valid := texts(two.answer.details["valid_params"])
		for _, d := range o.Parameters {
			v.hold(slices.Contains(valid, d.Name), two, "'valid_params' of operation %s lacks '%s'", o.Name, d.Name)
		}
		v.hold(two.answer.details["operation"] == o.Name, two, "the details of operation %s do not say which operation it is", o.Name)
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

func checkTopLevel(p *prober, v *verdict) {
	beside := p.call(p.asked, map[string]any{"operation": "introspect", "query": "operations"})
	if !beside.answer.success {
		v.skip("parameters beside operation are not taken")
		return
	}
	x := p.call(p.asked, map[string]any{"operation": "introspect", "query": "no_such_query", "params": map[string]any{"query": "operations"}})
	v.hold(x.answer.success, x, "the parameter in params must win over the one beside operation")
	x = p.call(p.asked, map[string]any{"operation": "introspect", "params": map[string]any{"query": "operations"}, unknownName: "x"})
	v.hold(refused(x), x, "an unknown parameter beside operation must be refused, as parameters there are taken")
}

func checkMetadata(p *prober, v *verdict) {
	x := p.call(p.asked, map[string]any{
		"operation": "introspect", "params": map[string]any{"query": "operations", "_probe": "x"},
		"_request_id": "probe", "_meta": map[string]any{"probe": true}, "_probe": "x",
	})
	v.hold(x.answer.success, x, "keys that begin with an underscore must not be refused")
}

func checkOrder(p *prober, v *verdict) {
	p.each(v, func(o *operation, b *base) {
		required := o.required()
		if len(required) == 0 || !refused(p.withUnknown(o, b)) {
			return
		}
		alone := p.send(o, without(p.fresh(o, b), required[0].Name))
		if alone.answer.code != "VALIDATION_MISSING_PARAM" {
			return // another check's business
		}
		x := p.send(o, with(without(p.fresh(o, b), required[0].Name), unknownName, "x"))
		v.hold(x.answer.code == "VALIDATION_MISSING_PARAM", x, "operation %s must tell of the missing '%s' before an unknown parameter", o.Name, required[0].Name)
	})
}

// otherwise are values of other types than that of a parameter.
func (p *prober) otherwise(d *param) []any {
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
	if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(basic, name) && !strings.HasSuffix(name, "[]") }) || is("any") {
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

func checkTypes(p *prober, v *verdict) {
	p.each(v, func(o *operation, b *base) {
		for _, d := range o.Parameters {
			if p.claimed(o, b, &d) != nil {
				continue // params/valid says what is wrong
			}
			for _, value := range p.otherwise(&d) {
				x := p.send(o, with(p.fresh(o, b), d.Name, value))
				isEnum := len(d.Enum) > 0 || p.types[d.Type] != nil
				typed := x.answer.code == "VALIDATION_INVALID_TYPE" || isEnum && x.answer.code == "VALIDATION_INVALID_ENUM" || o.Name == "introspect" && x.answer.code == "INTROSPECTION_ERROR"
				switch {
				case !typed && !refused(x):
					v.wrong(exchanges(x), "operation %s takes %s for '%s', which is of type %s", o.Name, written(value), d.Name, d.Type)
				case !typed:
					v.wrong(exchanges(x), "operation %s must refuse %s for '%s' with VALIDATION_INVALID_TYPE, not with %s", o.Name, written(value), d.Name, x.answer.code)
				default:
					v.ok(x)
					p.evidence.failure(fmt.Sprintf("%s: %s of another type", o.Name, d.Name), d.Name, x)
				}
			}
		}
	})
}

// claimed is the refusal of a sound value of a parameter, where introspection describes another one than the server takes.
func (p *prober) claimed(o *operation, b *base, d *param) *exchange {
	if d.Required {
		return nil // the base has it
	}
	value, ok := p.sample(o, d, true)
	if !ok {
		return nil
	}
	if x := p.send(o, with(p.fresh(o, b), d.Name, value)); contradicts(x) || x.answer.code == "VALIDATION_UNKNOWN_PARAM" {
		return x
	}
	return nil
}

// written is a value in a message.
func written(value any) string {
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
func checkDefaults(p *prober, v *verdict) {
	p.each(v, func(o *operation, b *base) {
		for _, d := range o.Parameters {
			if d.Default == nil || d.Required {
				continue
			}
			def, err := parse(asJSON(d.Default))
			if err != nil {
				continue
			}
			params := p.fresh(o, b)
			x := p.send(o, without(params, d.Name))
			if !x.answer.success {
				v.skip("operation %s does not succeed, so its defaults do not show", o.Name)
				continue
			}
			if path, value := echoed(x.answer.data, "data", d.Name); path != "" {
				v.hold(equal(def, value), x, "operation %s documents the default %s for '%s', and works with %s", o.Name, asJSON(def), d.Name, asJSON(value))
				if equal(def, value) {
					p.evidence.defaulted(o, d.Name, path, value, x)
				}
				continue
			}
			if o.Category != "READ" {
				v.skip("the answer of operation %s does not show its defaults", o.Name)
				continue
			}
			same := p.send(o, with(params, d.Name, def))
			if same.answer.success {
				v.hold(equal(x.answer.data, same.answer.data), same, "operation %s answers otherwise without '%s' than with its default %s", o.Name, d.Name, asJSON(def))
			}
		}
	})
}

// echoed finds a parameter's value in an answer, not in the items of a list.
func echoed(value any, path, name string) (string, any) {
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
		if where, found := echoed(object[inner], path+"."+inner, name); where != "" {
			return where, found
		}
	}
	return "", nil
}

func checkEnvelope(p *prober, v *verdict) {
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
		x := p.call(p.asked, tt.request)
		v.hold(x.reply.Fault != "" || x.answer.ok && !x.answer.success, x, "a request %s must fail", tt.what)
		if x.reply.Fault == "" {
			v.hold(refused(x), x, "a request %s must fail with a VALIDATION_ code, not with %s", tt.what, x.answer.code)
		}
		x.raw = true
	}
}

// checkNoEffect sends a sound update with an unknown parameter, and looks whether the thing is as before.
func checkNoEffect(p *prober, v *verdict) {
	p.updated(v, func(f *fixture, _ []param) {
		u := f.resource.update
		if !refused(p.withUnknown(u, p.base(u))) {
			v.skip("operation %s accepts whatever parameter there is", u.Name)
			return
		}
		before, _ := p.read(f)
		x := p.update(f, p.base(u).params["input"], map[string]any{unknownName: "x"})
		after, y := p.read(f)
		if before == nil || after == nil {
			v.skip("a %s that was created cannot be read", f.resource.noun)
			return
		}
		if equal(before, after) {
			v.ok(y)
		} else {
			v.wrong(exchanges(x, y), "operation %s was refused and changed the %s all the same", u.Name, f.resource.noun)
		}
	})
}
