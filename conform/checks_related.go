package conform

import (
	"maps"
	"slices"
	"strings"
)

// related is a field with an object, or a list of objects, that the type of a result announces and that "full" leaves
// out: what a resource is related to. Or the resource has no such field.
type related struct {
	selection
	name     string
	target   *typeDetails
	exchange *exchange // in which the field alone is selected
	there    bool      // the answer has the field: it is there only when it is selected
}

// relatedFields returns the related fields of what operations answer.
func (p *prober) relatedFields(rec *recorder) []related {
	var all []related
	for _, o := range p.selectingOperations() {
		t := p.resourceType(o)
		if t == nil || !slices.ContainsFunc(t.Fields, func(f param) bool { return p.objectType(&f) != nil }) {
			continue
		}
		s, ok := p.readSelection(rec, o, func(bool) bool { return true })
		if !ok {
			continue
		}
		full, x := p.selectFields(s, "full")
		if full == nil {
			rec.unjudged("operation %s does not answer with an object to the preset full%s", o.Name, because(x))
			continue
		}
		for i := range t.Fields {
			f := &t.Fields[i]
			target := p.objectType(f)
			if _, stored := full[f.Name]; stored || target == nil {
				continue
			}
			r := related{selection: s, name: f.Name, target: target}
			r.object, r.exchange = p.selectFields(s, []string{f.Name})
			_, r.there = r.object[f.Name]
			all = append(all, r)
		}
	}
	rec.skip("no READ operation that may be called announces an object that 'full' leaves out")
	return all
}

// resourceType returns the type of what an operation answers, or lists; nil: it is not known.
func (p *prober) resourceType(o *operation) *typeDetails {
	t := p.types[o.Returns.Name]
	if t == nil {
		return nil
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Name == "items" && f.Items != nil {
			return p.objectType(f)
		}
	}
	return t
}

// objectType returns the type of an object, or of those in a list; nil: it is not known.
func (p *prober) objectType(d *param) *typeDetails {
	if d.Type == "array" && d.Items != nil {
		d = d.Items
	}
	if t := p.types[d.Type]; t != nil && t.Kind == "object" {
		return t
	}
	return nil
}

// announces reports whether a type has a field.
func (t *typeDetails) announces(name string) bool {
	return slices.ContainsFunc(t.Fields, func(f param) bool { return f.Name == name })
}

// firstObject returns an object, or the first one of a list; nil: there is none.
func firstObject(value any) map[string]any {
	if list := objects(value); len(list) > 0 {
		return list[0]
	}
	object, _ := value.(map[string]any)
	return object
}

func checkRelated(p *prober, rec *recorder) {
	for _, r := range p.relatedFields(rec) {
		o := r.operation.Name
		if !rec.needSuccess(r.exchange, "operation %s with the field %s, which is announced,", o, r.name) {
			continue
		}
		one := firstObject(r.object[r.name])
		more := slices.DeleteFunc(slices.Sorted(maps.Keys(one)),
			func(name string) bool { return strings.HasPrefix(name, "_") || r.target.announces(name) })
		rec.expect(len(more) == 0, r.exchange, "'%s' of operation %s has %s, which its type does not announce", r.name, o,
			strings.Join(more, ", "))
		fields := selectableFields(one)
		if len(fields) == 0 {
			continue // it leads nowhere
		}
		path := r.name + "." + fields[0]
		object, x := p.selectFields(r.selection, []string{path})
		if !rec.needSuccess(x, "operation %s with the path %s, which is announced,", o, path) {
			continue
		}
		got := firstObject(object[r.name])
		rec.expect(len(extraMembers(got, fields[0])) == 0 && len(extraMembers(object, r.name)) == 0, x,
			"operation %s was asked for %s, and must answer just that, nested", o, path)
		rec.expect(equal(one[fields[0]], got[fields[0]]) || r.item && got[fields[0]] != nil, x,
			"operation %s was asked for %s, and its value is missing or another one", o, path)
	}
}

func checkRelatedUnknown(p *prober, rec *recorder) {
	for _, r := range p.relatedFields(rec) {
		if !r.there {
			continue
		}
		o, path := r.operation, r.name+"."+unknownField
		_, x := p.selectFields(r.selection, []string{path})
		if warnings, _ := x.answer.root["warnings"].([]any); x.answer.success {
			rec.expect(len(warnings) > 0, x, "operation %s succeeds with the unknown path %s, without a warning", o.Name, path)
			continue
		}
		p.expectRefused(rec, o, p.baseline(o), x, "operation %s with the unknown path %s", o.Name, path)
		told, _ := x.answer.details["valid_fields"].([]any)
		for _, each := range told {
			name, _ := each.(string)
			name = name[strings.LastIndexByte(name, '.')+1:]
			rec.expect(r.target.announces(name), x,
				"operation %s tells of the field %s in '%s', which its type does not announce", o.Name, name, r.name)
		}
	}
}

// longPath is how many times a path goes round a cycle, which is more than anybody has a use for.
const longPath = 20

func checkRelatedDepth(p *prober, rec *recorder) {
	for _, r := range p.relatedFields(rec) {
		if !r.there {
			continue
		}
		cycle := p.cycle(r)
		if cycle == nil {
			continue
		}
		path := strings.Join(append([]string{r.name}, slices.Repeat(cycle, longPath)...), ".")
		_, x := p.selectFields(r.selection, []string{path})
		p.expectRefused(rec, r.operation, p.baseline(r.operation), x,
			"operation %s with a path that goes %d times from '%s' round '%s'", r.operation.Name, longPath, r.name,
			strings.Join(cycle, "."))
	}
	rec.skip("nothing that is selected leads back to its own type by what 'full' leaves out")
}

// cycle returns the names of fields that lead from what a field is related to back to its type, the first of them a
// related field itself; nil: there are none.
func (p *prober) cycle(r related) []string {
	stored := firstObject(r.object[r.name])
	if stored == nil {
		return nil
	}
	for i := range r.target.Fields {
		f := &r.target.Fields[i]
		to := p.objectType(f)
		if _, there := stored[f.Name]; there || to == nil {
			continue
		}
		cycle := []string{f.Name}
		if to != r.target {
			if cycle = append(cycle, p.backTo(r.target, to)); cycle[1] == "" {
				continue
			}
		}
		object, _ := p.selectFields(r.selection, []string{r.name + "." + f.Name})
		if _, there := firstObject(object[r.name])[f.Name]; there {
			return cycle
		}
	}
	return nil
}

// backTo returns the field of a type that leads to another one; empty: there is none.
func (p *prober) backTo(to, from *typeDetails) string {
	for i := range from.Fields {
		if p.objectType(&from.Fields[i]) == to {
			return from.Fields[i].Name
		}
	}
	return ""
}
