package conform

import "strings"

func updateChecks() []check {
	return []check{
		{"update/input", "UPDATE operations take what changes in a required object 'input'", []string{"REQ-UP-01", "REQ-UP-02"}, Must, Parameters, 1, checkInput},
		{"update/unknown-field", "an unknown field of 'input' is refused by name", []string{"REQ-UP-05", "REQ-UK-09"}, Should, Parameters, 1, checkUnknownField},
		{"update/identifier", "an identifier inside 'input' is refused", []string{"REQ-UP-06"}, Must, Parameters, 1, checkIdentifier},
		{"update/read-only", "a field that says it is read-only is not written", []string{"REQ-UP-12"}, Should, Parameters, 1, checkReadOnlyFields},
		{"update/field-types", "fields of 'input' are held against their types", []string{"REQ-UP-04"}, Must, Parameters, 1, checkFieldTypes},
		{"update/if-match", "an update for another version is refused and changes nothing", []string{"REQ-CC-04"}, Should, Parameters, 1, checkIfMatch},
	}
}

func checkInput(p *prober, v *verdict) {
	for _, o := range p.operations {
		if o.Category != "UPDATE" {
			continue
		}
		d := o.param("input")
		v.hold(d != nil && d.Required, p.exchangeOf(o), "operation %s must have the required parameter 'input'", o.Name)
		if d != nil {
			t := p.types[d.Type]
			v.hold(d.Type == "object" || t != nil && t.Kind == "object", p.exchangeOf(o), "'input' of operation %s must be an object, and is of type %s", o.Name, d.Type)
		}
	}
}

func checkUnknownField(p *prober, v *verdict) {
	p.updated(v, func(f *fixture, _ []param) {
		const name = "no_such_field"
		x := p.update(f, map[string]any{name: "x"})
		v.hold(x.answer.code == "VALIDATION_UNKNOWN_FIELD" && strings.Contains(x.answer.message, name), x, "operation %s must refuse the unknown field '%s' by name with VALIDATION_UNKNOWN_FIELD", f.resource.update.Name, name)
	})
}

func checkIdentifier(p *prober, v *verdict) {
	p.updated(v, func(f *fixture, _ []param) {
		x := p.update(f, map[string]any{f.resource.id: "x"})
		v.hold(refused(x), x, "operation %s takes the identifier '%s' inside 'input'", f.resource.update.Name, f.resource.id)
	})
}

// checkReadOnlyFields tries to write the fields that the thing's type calls read-only, and compares afterwards.
func checkReadOnlyFields(p *prober, v *verdict) {
	p.updated(v, func(f *fixture, _ []param) {
		t := p.types[f.resource.get.Returns.Name]
		if t == nil {
			return
		}
		for _, d := range t.Fields {
			if !d.readOnly() || d.Name == f.resource.id {
				continue
			}
			value, ok := p.value(&d, 1)
			if !ok {
				continue
			}
			x := p.update(f, map[string]any{d.Name: value})
			v.hold(refused(x), x, "operation %s takes '%s', which is read-only", f.resource.update.Name, d.Name)
		}
		v.skip("no field of a %s is said to be read-only", f.resource.noun)
	})
}

func checkFieldTypes(p *prober, v *verdict) {
	p.updated(v, func(f *fixture, fields []param) {
		for _, d := range fields {
			for _, value := range p.otherwise(&d) {
				x := p.update(f, map[string]any{d.Name: value})
				v.hold(refused(x), x, "operation %s takes %s for 'input.%s', which is of type %s", f.resource.update.Name, written(value), d.Name, d.Type)
			}
		}
	})
}

func checkIfMatch(p *prober, v *verdict) {
	p.updated(v, func(f *fixture, fields []param) {
		u := f.resource.update
		if u.param("if_match") == nil {
			v.skip("operation %s documents no if_match", u.Name)
			return
		}
		name, value := p.plainField(f, fields)
		if name == "" {
			return
		}
		before, _ := p.read(f)
		x := p.update(f, map[string]any{name: value}, map[string]any{"if_match": `W/"no-such-version"`})
		v.hold(x.answer.code == "CONFLICT_VERSION_MISMATCH", x, "operation %s for another version must fail with CONFLICT_VERSION_MISMATCH", u.Name)
		after, y := p.read(f)
		v.hold(equal(before, after), y, "operation %s for another version changed the %s", u.Name, f.resource.noun)
		tag, _ := after["_etag"].(string)
		if tag == "" {
			return
		}
		x = p.update(f, map[string]any{name: value}, map[string]any{"if_match": tag})
		v.hold(x.answer.success, x, "operation %s for the version that was read fails", u.Name)
	})
}
