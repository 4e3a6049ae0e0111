package conform

import (
	"maps"
	"slices"
	"strings"
)

// resource is a kind of thing that can be created and read: what the round trips are about. Names and types pair its
// operations.
type resource struct {
	noun                              string
	create, get, update, list, delete *operation // all but create and get may be nil
	id                                string     // the parameter of get that says which one
}

// fixture is a thing that this run created.
type fixture struct {
	resource *resource
	sent     map[string]any // the parameters it was created with
	data     map[string]any // what create answered
	id       any
	exchange *exchange
}

// pair finds the resources.
func (p *prober) findResources() {
	for _, create := range p.operations {
		if create.Category != "CREATE" {
			continue
		}
		_, noun := verbNoun(create.Name)
		if noun == "" {
			continue
		}
		r := &resource{noun: noun, create: create}
		for _, o := range p.operations {
			verb, of := verbNoun(o.Name)
			switch {
			case o.Category == "READ" && len(o.required()) == 1 && (of == noun && slices.Contains([]string{"get", "read", "show", "fetch", "describe", "view"}, verb)):
				r.get = o
			case o.Category == "READ" && len(o.required()) == 0 && verb == "list" && (of == noun+"s" || of == noun+"es" || of == noun || strings.TrimSuffix(of, "ies")+"y" == noun):
				r.list = o
			case o.Category == "UPDATE" && of == noun && (r.update == nil || verb == "update") && o.param("input") != nil:
				r.update = o
			case o.Category == "DELETE" && of == noun:
				r.delete = o
			}
		}
		if r.get == nil { // by what it returns
			for _, o := range p.operations {
				if o.Category == "READ" && len(o.required()) == 1 && o.Returns.Kind == "object" && o.Returns.Name == create.Returns.Name && o.required()[0].Type == "string" {
					r.get = o
					break
				}
			}
		}
		if r.get == nil {
			continue
		}
		r.id = r.get.required()[0].Name
		p.resources = append(p.resources, r)
	}
}

// identifier is the value of a parameter that says which of the things of this run is meant.
func (p *prober) fixtureID(o *operation, name string) (any, bool) {
	for _, r := range p.resources {
		if r.id != name || r.create == o || r.id == "id" && !strings.HasSuffix(o.Name, "_"+r.noun) {
			continue
		}
		f := p.sharedFixture(r)
		if f != nil && o.danger >= destructive {
			f = p.createFixture(r)
		}
		if f != nil {
			return f.id, true
		}
	}
	return nil, false
}

// rebound puts a new thing in the place of the identifiers, for an operation that destroys.
func (p *prober) withNewFixtures(o *operation, params map[string]any) map[string]any {
	changed := maps.Clone(params)
	for name := range params {
		if value, ok := p.fixtureID(o, name); ok {
			changed[name] = value
		}
	}
	return changed
}

// shared is a thing that checks use which leave it as it is, or do not mind.
func (p *prober) sharedFixture(r *resource) *fixture {
	if f, ok := p.fixtures[r]; ok {
		return f
	}
	if p.creating[r] {
		return nil // it needs itself
	}
	p.creating[r] = true
	p.fixtures[r] = p.createFixture(r)
	delete(p.creating, r)
	return p.fixtures[r]
}

// make creates a thing with all that create takes; nil: it does not succeed.
func (p *prober) createFixture(r *resource) *fixture {
	if p.exclusion(r.create) != "" {
		return nil
	}
	whole := func() (map[string]any, bool) { return p.contentParams(r.create) }
	made := func() (map[string]any, bool) { return p.requiredParams(r.create, true) }
	shown := func() (map[string]any, bool) { return p.requiredParams(r.create, false) }
	for _, source := range []func() (map[string]any, bool){whole, made, shown} {
		params, ok := source()
		if !ok {
			continue
		}
		x := p.send(r.create, params)
		if !x.answer.success {
			continue
		}
		data, _ := x.answer.data.(map[string]any)
		data = r.unwrap(data)
		for _, candidate := range []any{data[r.id], data["id"], data[r.noun+"_id"], params[r.id]} {
			if candidate != nil {
				return &fixture{resource: r, sent: params, data: data, id: candidate, exchange: x}
			}
		}
	}
	return nil
}

// bare takes the thing out of {"thing":{…}}.
func (r *resource) unwrap(data map[string]any) map[string]any {
	if inner, ok := data[r.noun].(map[string]any); ok && len(data) == 1 {
		return inner
	}
	return data
}

// read gets a thing.
func (p *prober) readFixture(f *fixture, more ...map[string]any) (map[string]any, *exchange) {
	params := map[string]any{f.resource.id: f.id}
	for _, m := range more {
		maps.Copy(params, m)
	}
	x := p.send(f.resource.get, params)
	data, _ := x.answer.data.(map[string]any)
	if !x.answer.success {
		return nil, x
	}
	return f.resource.unwrap(data), x
}

// paired looks at every resource of which a new thing can be made and read.
func (p *prober) eachFixture(rec *recorder, look func(f *fixture)) {
	if len(p.resources) == 0 {
		rec.skip("no operations that create and read the same kind of thing could be paired")
	}
	for _, r := range p.resources {
		if why := p.exclusion(r.create); why != "" {
			rec.skip("%s", why)
			continue
		}
		f := p.createFixture(r)
		if f == nil {
			rec.skip("no %s could be created", r.noun)
			continue
		}
		look(f)
	}
}

// updated looks at every resource that can be updated, too.
func (p *prober) eachUpdatable(rec *recorder, look func(f *fixture, fields []param)) {
	p.eachFixture(rec, func(f *fixture) {
		u := f.resource.update
		if u == nil {
			rec.skip("no operation updates a %s", f.resource.noun)
			return
		}
		if why := p.exclusion(u); why != "" {
			rec.skip("%s", why)
			return
		}
		if p.baseline(u).params == nil {
			rec.skip("no sound request to operation %s is known", u.Name)
			return
		}
		fields := p.updatableFields(u, u.param("input"))
		if len(fields) == 0 {
			rec.skip("introspection does not say what operation %s can change", u.Name)
			return
		}
		look(f, fields)
	})
}

// update changes a thing.
func (p *prober) updateFixture(f *fixture, input any, more ...map[string]any) *exchange {
	u := f.resource.update
	params := with(p.baseline(u).params, "input", input)
	if _, ok := params[f.resource.id]; ok || u.param(f.resource.id) != nil {
		params[f.resource.id] = f.id
	}
	for _, m := range more {
		maps.Copy(params, m)
	}
	return p.send(u, params)
}
