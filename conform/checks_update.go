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
				"'input' of operation %s must be an object, and is of type '%s'", o.Name, d.written)
		}
	}
	for _, name := range p.unread {
		rec.unjudged("the details of operation %s cannot be read", name)
	}
	p.unknownCategories(rec)
	rec.skip("no operation is UPDATE")
}

func checkUnknownField(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		const name = unknownField
		x := p.updateFixture(f, map[string]any{name: "x"})
		u := f.resource.update
		if p.expectRefusedAs(rec, u, p.baseline(u), x, "VALIDATION_UNKNOWN_FIELD",
			"operation %s with the unknown field '%s'", u.Name, name) {
			rec.expect(strings.Contains(x.answer.message, name), x,
				"the refusal of the unknown field '%s' by operation %s does not name it", name, u.Name)
		}
	})
}

func checkIdentifierInInput(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		u := f.resource.update
		x := p.updateFixture(f, map[string]any{f.resource.id: "x"})
		p.expectRefused(rec, u, p.baseline(u), x, "operation %s with the identifier '%s' inside 'input'",
			u.Name, f.resource.id)
	})
}

// checkReadOnlyFields tries to set the fields that are read-only by the type of the resource.
func checkReadOnlyFields(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, _ []param) {
		u, t := f.resource.update, p.types[f.resource.get.Returns.Name]
		if t == nil {
			rec.unjudged("introspection does not describe what operation %s returns", f.resource.get.Name)
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
			p.expectRefused(rec, u, p.baseline(u), x, "operation %s with '%s', which is read-only,", u.Name, d.Name)
		}
		rec.skip("no field of a %s is said to be read-only", f.resource.noun)
	})
}

func checkFieldTypes(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		for _, d := range fields {
			for _, value := range p.valuesOfOtherTypes(&d) {
				x := p.updateFixture(f, map[string]any{d.Name: value})
				u := f.resource.update
				p.expectRefused(rec, u, p.baseline(u), x, "operation %s with %s for 'input.%s', which is of type %s,", u.Name,
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
		before, _ := p.readFixture(f)
		if name == "" || before == nil {
			rec.unjudged("a %s has no plain field to update, or cannot be read as an object", f.resource.noun)
			return
		}
		x := p.updateFixture(f, map[string]any{name: value}, map[string]any{"if_match": `W/"no-such-version"`})
		rec.expectCode(x, "CONFLICT_VERSION_MISMATCH", "operation %s for another version", u.Name)
		after, y := p.readFixture(f)
		rec.expect(equal(before, after), y, "operation %s for another version changed the %s", u.Name, f.resource.noun)
		tag, _ := after["_etag"].(string)
		if tag == "" {
			rec.unjudged("operation %s tells no '_etag' of a version", f.resource.get.Name)
			return
		}
		x = p.updateFixture(f, map[string]any{name: value}, map[string]any{"if_match": tag})
		rec.expectSuccess(x, "operation %s for the version that was read", u.Name)
	})
}
