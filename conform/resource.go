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
	byNoun, returning := map[string][]*operation{}, map[string][]*operation{}
	for _, o := range p.operations {
		_, noun := verbNoun(o.Name)
		for _, each := range singulars(noun) {
			byNoun[each] = append(byNoun[each], o)
		}
		if o.Returns.Kind == "object" {
			returning[o.Returns.Name] = append(returning[o.Returns.Name], o)
		}
	}
	for _, create := range p.operations {
		_, noun := verbNoun(create.Name)
		if create.Category != "CREATE" || noun == "" || p.ended() {
			continue
		}
		r := &resource{noun: noun, create: create}
		for _, o := range byNoun[noun] {
			verb, of := verbNoun(o.Name)
			required := o.required()
			switch {
			case o.Category == "READ" && len(required) == 1 && of == noun && slices.Contains(getVerbs, verb):
				r.get = o
			case o.Category == "READ" && len(required) == 0 && verb == "list":
				r.list = o
			case o.Category == "UPDATE" && of == noun && (r.update == nil || verb == "update") && o.param("input") != nil:
				r.update = o
			case o.Category == "DELETE" && of == noun:
				r.delete = o
			}
		}
		for _, o := range returning[create.Returns.Name] {
			required := o.required()
			if r.get == nil && o.Category == "READ" && len(required) == 1 && required[0].Type == "string" {
				r.get = o // it reads what create returns, by its type
			}
		}
		if r.get == nil {
			continue
		}
		r.id = r.get.required()[0].Name
		p.resources = append(p.resources, r)
		key := idKey(r.id, r.noun)
		p.resourcesByID[key] = append(p.resourcesByID[key], r)
	}
}

// idKey returns the key of the resources that a parameter with a name identifies; noun is that of the operation, which
// counts where the name may be of any resource.
func idKey(name, noun string) string {
	switch name = snake(name); name {
	case "id", "name", "key":
		return name + " of " + noun
	}
	return name
}

// idOf returns the name of the parameter of an operation that identifies the resource.
func (r *resource) idOf(o *operation) string {
	for _, d := range o.Parameters {
		if snake(d.Name) == snake(r.id) {
			return d.Name
		}
	}
	return r.id
}

// getVerbs begin the names of operations that read one resource.
var getVerbs = []string{"get", "read", "show", "fetch", "describe", "view"}

// singulars returns the nouns of which a word may be the plural, and the word itself.
func singulars(word string) []string {
	all := []string{word}
	if short, ok := strings.CutSuffix(word, "ies"); ok {
		all = append(all, short+"y")
	}
	for _, plural := range []string{"s", "es"} {
		if short, ok := strings.CutSuffix(word, plural); ok && short != "" {
			all = append(all, short)
		}
	}
	return all
}

// fixtureID returns the identifier of a fixture for a parameter that identifies a resource.
func (p *prober) fixtureID(o *operation, name string) (any, bool) {
	_, noun := verbNoun(o.Name)
	last := noun[strings.LastIndex(noun, "_")+1:]
	for _, r := range slices.Concat(p.resourcesByID[idKey(name, noun)], p.resourcesByID[idKey(name, last)]) {
		if r.create == o {
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
		for range 3 { // an identifier of few characters may be taken
			if !strings.HasPrefix(x.answer.code, "CONFLICT_") {
				break
			}
			if params, ok = source(); ok {
				x = p.send(r.create, params)
			}
		}
		if !x.answer.success {
			continue
		}
		data, _ := x.answer.data.(map[string]any)
		data = r.unwrap(data)
		for _, names := range [][]string{{r.id}, {"id"}, {r.noun + "_id"}} {
			for _, values := range []map[string]any{data, params} {
				if id := memberLike(values, names[0]); id != nil {
					return &fixture{resource: r, sent: params, data: data, id: id, exchange: x}
				}
			}
		}
	}
	return nil
}

// memberLike returns the member with a name, in whatever case it is written.
func memberLike(object map[string]any, name string) any {
	if value := object[name]; value != nil {
		return value
	}
	for _, other := range slices.Sorted(maps.Keys(object)) {
		if snake(other) == snake(name) && object[other] != nil {
			return object[other]
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

// nothingPaired records why there are no resources, if there are none.
func (p *prober) nothingPaired(rec *recorder) {
	if len(p.resources) > 0 {
		return
	}
	for _, name := range p.unread {
		rec.unjudged("the details of operation %s cannot be read", name)
	}
	p.unknownCategories(rec)
	rec.skip("no operations that create and read the same kind of thing could be paired")
}

// unknownCategories records the operations of which it is not known whether they create, read, update or delete.
func (p *prober) unknownCategories(rec *recorder) {
	for _, o := range p.operations {
		if o.Category == "" {
			rec.unjudged("operation %s has no category that is known", o.Name)
		}
	}
}

// eachFixture calls look with a new fixture of every resource.
func (p *prober) eachFixture(rec *recorder, look func(f *fixture)) {
	if len(p.resources) == 0 {
		p.nothingPaired(rec)
	}
	for _, r := range p.resources {
		if why := p.exclusion(r.create); why != "" {
			rec.skip("%s", why)
			continue
		}
		f := p.createFixture(r)
		if f == nil {
			rec.unjudged("no %s could be created", r.noun)
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
			rec.unjudged("%s", noRequest(u, p.baseline(u)))
			return
		}
		fields := p.updatableFields(u.param("input"))
		if len(fields) == 0 {
			rec.unjudged("introspection does not say what operation %s can change", u.Name)
			return
		}
		look(f, fields)
	})
}

// updateFixture updates a fixture. Where input lacks fields that introspection requires in each update, they are sent
// as the fixture has them.
func (p *prober) updateFixture(f *fixture, input any, more ...map[string]any) *exchange {
	u := f.resource.update
	params := with(p.baseline(u).params, "input", p.withRequired(f, input))
	if id := f.resource.idOf(u); u.param(id) != nil {
		params[id] = f.id
	}
	for _, m := range more {
		maps.Copy(params, m)
	}
	return p.send(u, params)
}

// withRequired adds to an input the fields that an update requires and the input lacks.
func (p *prober) withRequired(f *fixture, input any) any {
	object, ok := input.(map[string]any)
	if !ok {
		return input
	}
	object = maps.Clone(object)
	for _, d := range p.updatableFields(f.resource.update.param("input")) {
		if _, there := object[d.Name]; d.Required && !there {
			object[d.Name] = f.data[d.Name]
		}
	}
	return object
}
