package conform

import (
	"maps"
	"slices"
	"strings"
)

func checkCreateRead(p *prober, rec *recorder) {
	p.eachFixture(rec, func(f *fixture) {
		read, x := p.readFixture(f)
		if x.answer.success && read == nil {
			rec.unjudged("what operation %s answers is no object", f.resource.get.Name)
			return
		}
		if !rec.needSuccess(x, "operation %s of a %s that was just created", f.resource.get.Name, f.resource.noun) {
			return
		}
		returned := p.types[f.resource.get.Returns.Name]
		expected := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(f.sent)) {
			documented := returned != nil && slices.ContainsFunc(returned.Fields, func(d param) bool { return d.Name == name })
			if _, there := read[name]; !there && !documented {
				rec.unjudged("operation %s neither documents nor answers '%s', which was created", f.resource.get.Name, name)
				continue // it may be a secret, such as a password
			}
			where := firstDifference(f.sent[name], read[name], name)
			if where == "" {
				rec.pass(x)
				maps.Copy(expected, leafValues("data."+name, f.sent[name], read[name]))
			} else {
				rec.fail(exchanges(f.exchange, x), "'%s' of a %s reads otherwise than it was created", where, f.resource.noun)
			}
		}
		p.evidence.addRoundTrip("create and read "+f.resource.noun, expected, x)
	})
}

// leafValues returns what was read for each value that was sent and is not an object, by its path.
func leafValues(path string, sent, read any) map[string]any {
	all := map[string]any{}
	if object, ok := normalized(sent).(map[string]any); ok {
		for name, value := range object {
			if !strings.Contains(name, ".") {
				maps.Copy(all, leafValues(path+"."+name, value, memberOf(read, name)))
			}
		}
		return all
	}
	all[path] = read
	return all
}

// changesOnUpdate reports whether, by its name, a field changes with every update.
func changesOnUpdate(name string) bool {
	for _, part := range []string{"updated", "modified", "changed", "version", "revision", "etag", "last_"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasPrefix(name, "_")
}

// updatableField finds a field of a basic type and a new value for it; an empty name: there is none.
func (p *prober) updatableField(f *fixture, fields []param) (name string, value any) {
	for _, d := range fields {
		switch d.Type {
		case "string", "integer", "number", "boolean":
			for range 10 {
				if made, ok := p.newValue(&d, 1); ok && !equal(made, f.data[d.Name]) && d.Name != f.resource.id {
					return d.Name, made
				}
			}
		}
	}
	return "", nil
}

func checkUpdateApplies(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		name, value := p.updatableField(f, fields)
		if name == "" {
			rec.unjudged("a %s has no plain field to update", f.resource.noun)
			return
		}
		x := p.updateFixture(f, map[string]any{name: value})
		if !rec.needSuccess(x, "a valid update of '%s' of a %s", name, f.resource.noun) {
			return
		}
		read, y := p.readFixture(f)
		if read == nil {
			rec.unjudged("what operation %s answers is no object", f.resource.get.Name)
			return
		}
		if equal(value, read[name]) {
			rec.pass(y)
		} else {
			rec.fail(exchanges(x, y), "'%s' of a %s was updated, and reads otherwise", name, f.resource.noun)
		}
	})
}

func checkUpdatePreserves(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		before, _ := p.readFixture(f)
		name, value := p.updatableField(f, fields)
		if name == "" || before == nil {
			rec.unjudged("a %s has no plain field to update, or cannot be read as an object", f.resource.noun)
			return
		}
		x := p.updateFixture(f, map[string]any{name: value})
		after, y := p.readFixture(f)
		if !x.answer.success || after == nil {
			rec.unjudged("operation %s does not succeed, or what it updates cannot be read", f.resource.update.Name)
			return
		}
		preserved := map[string]any{}
		for _, other := range slices.Sorted(maps.Keys(before)) {
			if other == name || changesOnUpdate(other) {
				continue
			}
			if equal(before[other], after[other]) {
				rec.pass(y)
				maps.Copy(preserved, leafValues("data."+other, before[other], after[other]))
			} else {
				rec.fail(exchanges(x, y),
					"an update of '%s' of a %s changed '%s', which it does not name", name, f.resource.noun, other)
			}
		}
		p.evidence.addPreserved("update "+f.resource.noun, preserved, y)
	})
}

func checkDeepMerge(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		before, _ := p.readFixture(f)
		for _, d := range fields {
			t := p.types[d.Type]
			inner, _ := before[d.Name].(map[string]any)
			if t == nil || t.Kind != "object" || len(inner) < 2 {
				continue
			}
			name, value := p.updatableField(&fixture{resource: f.resource, data: inner}, t.Fields)
			if name == "" {
				continue
			}
			x := p.updateFixture(f, map[string]any{d.Name: map[string]any{name: value}})
			after, y := p.readFixture(f)
			if !rec.needSuccess(x, "a valid update of '%s.%s' of a %s", d.Name, name, f.resource.noun) {
				continue
			}
			if after == nil {
				rec.unjudged("what operation %s answers is no object", f.resource.get.Name)
				continue
			}
			rest := without(inner, name)
			now, _ := after[d.Name].(map[string]any)
			if equal(rest, without(now, name)) {
				rec.pass(y)
			} else {
				rec.fail(exchanges(x, y),
					"an update of '%s.%s' of a %s changed more of '%s' than that", d.Name, name, f.resource.noun, d.Name)
			}
		}
		rec.skip("a %s holds no object with several fields to update", f.resource.noun)
	})
}

func checkArraysReplace(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		for _, d := range fields {
			was, _ := f.data[d.Name].([]any)
			if d.Type != "array" || len(was) == 0 {
				continue
			}
			value, ok := p.newValue(&d, 1)
			list, _ := value.([]any)
			if !ok || len(list) == 0 {
				continue
			}
			if low, _ := itemBounds(d.Description); low < 2 {
				list = list[:1]
			}
			x := p.updateFixture(f, map[string]any{d.Name: list})
			if !rec.needSuccess(x, "a valid update of '%s' of a %s", d.Name, f.resource.noun) {
				continue
			}
			read, y := p.readFixture(f)
			if read == nil {
				rec.unjudged("what operation %s answers is no object", f.resource.get.Name)
				continue
			}
			if equal(list, read[d.Name]) {
				rec.pass(y)
			} else {
				rec.fail(exchanges(x, y), "the list '%s' of a %s was updated, and reads otherwise", d.Name, f.resource.noun)
			}
		}
		rec.skip("a %s holds no list to update", f.resource.noun)
	})
}

// checkNullRemoves sends null for fields that are optional and have no default. They must then be absent or empty.
func checkNullRemoves(p *prober, rec *recorder) {
	p.eachUpdatable(rec, func(f *fixture, fields []param) {
		created := f.resource.create
		for _, d := range fields {
			of := created.param(d.Name)
			if of == nil || of.Required || of.Default != nil || d.Default != nil || len(d.Enum) > 0 ||
				f.data[d.Name] == nil || p.types[d.Type] != nil {
				continue
			}
			x := p.updateFixture(f, map[string]any{d.Name: nil})
			if !x.answer.success {
				continue // null may be refused for a field that needs a value
			}
			read, y := p.readFixture(f)
			if read == nil {
				rec.unjudged("what operation %s answers is no object", f.resource.get.Name)
				continue
			}
			empty := read[d.Name] == nil || equal(read[d.Name],
				"") || equal(read[d.Name], []any{}) || equal(read[d.Name], map[string]any{})
			if empty {
				rec.pass(y)
			} else {
				rec.fail(exchanges(x, y), "null was sent for '%s' of a %s, and it reads as %s", d.Name, f.resource.noun,
					clip(asJSON(read[d.Name]), 80))
			}
		}
		rec.skip("a %s has no field that is optional and without a default, or null is refused for all", f.resource.noun)
	})
}
