package conform

import (
	"maps"
	"slices"
	"strings"
)

// resource is a kind of data that can be created and read. Its operations are found by their names and types.
type resource struct {
	noun                              string
	create, get, update, list, delete *operation // update, list and delete may be nil
	id                                string     // the identifying parameter of get
}

// fixture is a resource that this run created.
type fixture struct {
	resource *resource
	sent     map[string]any // the parameters of create
	data     map[string]any // the answer of create
	id       any
	exchange *exchange
}

// findResources pairs the operations of each resource.
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
			required := o.required()
			switch {
			case o.Category == "READ" && len(required) == 1 && of == noun && slices.Contains(getVerbs, verb):
				r.get = o
			case o.Category == "READ" && len(required) == 0 && verb == "list" && isPlural(of, noun):
				r.list = o
			case o.Category == "UPDATE" && of == noun && (r.update == nil || verb == "update") && o.param("input") != nil:
				r.update = o
			case o.Category == "DELETE" && of == noun:
				r.delete = o
			}
		}
		if r.get == nil {
			r.get = p.getterOf(create)
		}
		if r.get == nil {
			continue
		}
		r.id = r.get.required()[0].Name
		p.resources = append(p.resources, r)
	}
}

// getVerbs begin the names of operations that read one resource.
var getVerbs = []string{"get", "read", "show", "fetch", "describe", "view"}

// isPlural reports whether a word is the plural of a noun, or the noun itself.
func isPlural(word, noun string) bool {
	return word == noun || word == noun+"s" || word == noun+"es" || strings.TrimSuffix(word, "ies")+"y" == noun
}

// getterOf finds the operation that reads what another one creates, by the type that both return; nil: there is none.
func (p *prober) getterOf(create *operation) *operation {
	for _, o := range p.operations {
		required := o.required()
		if o.Category == "READ" && len(required) == 1 && required[0].Type == "string" &&
			o.Returns.Kind == "object" && o.Returns.Name == create.Returns.Name {
			return o
		}
	}
	return nil
}

// fixtureID returns the identifier of a fixture for a parameter that identifies a resource.
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

// withNewFixtures returns params with the identifiers of new fixtures, for an operation that destroys them.
func (p *prober) withNewFixtures(o *operation, params map[string]any) map[string]any {
	changed := maps.Clone(params)
	for name := range params {
		if value, ok := p.fixtureID(o, name); ok {
			changed[name] = value
		}
	}
	return changed
}

// sharedFixture returns a fixture for checks that do not depend on its content; nil: none can be created.
func (p *prober) sharedFixture(r *resource) *fixture {
	if f, ok := p.fixtures[r]; ok {
		return f
	}
	if p.creating[r] {
		return nil // creating it needs one
	}
	p.creating[r] = true
	p.fixtures[r] = p.createFixture(r)
	delete(p.creating, r)
	return p.fixtures[r]
}

// createFixture creates a fixture with as many parameters as create accepts; nil: it does not succeed.
func (p *prober) createFixture(r *resource) *fixture {
	if p.exclusion(r.create) != "" {
		return nil
	}
	for _, source := range []func() (map[string]any, bool){
		func() (map[string]any, bool) { return p.contentParams(r.create) },
		func() (map[string]any, bool) { return p.requiredParams(r.create, true) },
		func() (map[string]any, bool) { return p.requiredParams(r.create, false) },
	} {
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

// unwrap returns the resource in {"todo":{…}}.
func (r *resource) unwrap(data map[string]any) map[string]any {
	if inner, ok := data[r.noun].(map[string]any); ok && len(data) == 1 {
		return inner
	}
	return data
}

// readFixture reads a fixture; nil: it cannot be read.
func (p *prober) readFixture(f *fixture) (map[string]any, *exchange) {
	x := p.send(f.resource.get, map[string]any{f.resource.id: f.id})
	data, _ := x.answer.data.(map[string]any)
	if !x.answer.success {
		return nil, x
	}
	return f.resource.unwrap(data), x
}

// eachFixture calls look with a new fixture of every resource.
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

// eachUpdatable calls look with a new fixture of every resource that can be updated, and the fields that can change.
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
		fields := p.updatableFields(u.param("input"))
		if len(fields) == 0 {
			rec.skip("introspection does not say what operation %s can change", u.Name)
			return
		}
		look(f, fields)
	})
}

// updateFixture updates a fixture.
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
