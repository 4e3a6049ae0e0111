package conform

import "strings"

func checkUpdateInput(p *prober, rec *recorder) {
	for _, o := range p.operations {
		if o.Category != "UPDATE" {
			continue
		}
		d := o.param("input")
		rec.expect(d != nil && d.Required, p.detailExchange(o),
			"operation %s must have the required parameter 'input'", o.Name)
		if d != nil {
			t := p.types[d.Type]
			rec.expect(d.Type == "object" || t != nil && t.Kind == "object", p.detailExchange(o),
				"'input' of operation %s must be an object, and is of type %s", o.Name, d.Type)
		}
	}
}

func checkUnknownField(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		const name = "no_such_field"
		x := p.updateFixture(f, map[string]any{name: "x"})
		rec.expect(x.answer.code == "VALIDATION_UNKNOWN_FIELD" && strings.Contains(x.answer.message, name), x,
			"operation %s must refuse the unknown field '%s' by name with VALIDATION_UNKNOWN_FIELD", f.resource.update.Name,
			name)
	})
}

func checkIdentifierInInput(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		x := p.updateFixture(f, map[string]any{f.resource.id: "x"})
		rec.expect(refused(x), x,
			"operation %s takes the identifier '%s' inside 'input'", f.resource.update.Name, f.resource.id)
	})
}

// checkReadOnlyFields tries to set the fields that are read-only by the type of the resource.
func checkReadOnlyFields(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		t := p.types[f.resource.get.Returns.Name]
		if t == nil {
			return
		}
		for _, d := range t.Fields {
			if !d.readOnly() || d.Name == f.resource.id {
				continue
			}
			value, ok := p.newValue(&d, 1)
			if !ok {
				continue
			}
			x := p.updateFixture(f, map[string]any{d.Name: value})
			rec.expect(refused(x), x, "operation %s takes '%s', which is read-only", f.resource.update.Name, d.Name)
		}
		rec.skip("no field of a %s is said to be read-only", f.resource.noun)
	})
}

func checkFieldTypes(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		for _, d := range fields {
			for _, value := range p.valuesOfOtherTypes(&d) {
				x := p.updateFixture(f, map[string]any{d.Name: value})
				rec.expect(refused(x), x, "operation %s takes %s for 'input.%s', which is of type %s", f.resource.update.Name,
					describeValue(value), d.Name, d.Type)
			}
		}
	})
}

func checkIfMatch(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		u := f.resource.update
		if u.param("if_match") == nil {
			rec.skip("operation %s documents no if_match", u.Name)
			return
		}
		name, value := p.updatableField(f, fields)
		if name == "" {
			return
		}
		before, _ := p.readFixture(f)
		x := p.updateFixture(f, map[string]any{name: value}, map[string]any{"if_match": `W/"no-such-version"`})
		rec.expect(x.answer.code == "CONFLICT_VERSION_MISMATCH", x,
			"operation %s for another version must fail with CONFLICT_VERSION_MISMATCH", u.Name)
		after, y := p.readFixture(f)
		rec.expect(equal(before, after), y, "operation %s for another version changed the %s", u.Name, f.resource.noun)
		tag, _ := after["_etag"].(string)
		if tag == "" {
			return
		}
		x = p.updateFixture(f, map[string]any{name: value}, map[string]any{"if_match": tag})
		rec.expect(x.answer.success, x, "operation %s for the version that was read fails", u.Name)
	})
}
