package conform

import (
	"slices"
	"strings"
)

// eachComputing calls look with what every READ operation answers that lists computed fields and documents fields.
func (p *prober) eachComputing(rec *recorder, look func(s selection)) {
	for _, o := range p.selectingOperations() {
		if len(o.Computed) == 0 {
			continue
		}
		if s, ok := p.readSelection(rec, o, func(bool) bool { return true }); ok {
			look(s)
		}
	}
	rec.skip("no READ operation that may be called lists computed fields and documents 'fields'")
}

// computedIn selects fields, and returns the names of the listed computed fields that are under _computed in what is
// answered, and those of other members that are no metadata; false: it is answered with nothing. Of a list all items
// count: where a value is missing, one of them may lack it.
func (p *prober) computedIn(s selection, fields []string) (computed, beside []string, x *exchange, ok bool) {
	x = p.send(s.operation, with(s.params, "fields", fields))
	list := []map[string]any{}
	if s.item {
		list = objects(memberOf(x.answer.data, "items"))
	} else if object, isObject := x.answer.data.(map[string]any); isObject {
		list = append(list, object)
	}
	for _, object := range list {
		beside = append(beside, extraMembers(object)...)
		under, _ := object[computedMember].(map[string]any)
		for _, f := range s.operation.Computed {
			if _, there := under[f.Name]; there {
				computed = append(computed, f.Name)
			}
		}
	}
	return distinct(computed), distinct(beside), x, x.answer.success && len(list) > 0
}

// distinct returns the different ones of some names, sorted.
func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// mostComputed is how many of the computed fields of an operation are selected.
const mostComputed = 10

func checkComputed(p *prober, rec *recorder) {
	p.eachComputing(rec, func(s selection) {
		o := s.operation
		for _, f := range o.Computed[:min(len(o.Computed), mostComputed)] {
			computed, beside, x, ok := p.computedIn(s, []string{f.path()})
			switch {
			case !rec.needSuccess(x, "operation %s with the field %s, which is listed,", o.Name, f.path()):
			case !ok:
				rec.unjudged("operation %s with the field %s answers with nothing", o.Name, f.path())
			case !slices.Contains(computed, f.Name):
				rec.fail(exchanges(x), "operation %s was asked for %s, and has no '%s' under '%s'", o.Name, f.path(), f.Name,
					computedMember)
			default:
				more := slices.DeleteFunc(computed, func(name string) bool { return name == f.Name })
				more = append(more, beside...)
				rec.expect(len(more) == 0, x, "operation %s was asked for %s, and answers %s, too", o.Name, f.path(),
					strings.Join(more, ", "))
			}
		}
		stored := selectableFields(s.object)
		if len(stored) == 0 {
			return
		}
		if computed, _, x, ok := p.computedIn(s, stored[:1]); ok {
			rec.expect(len(computed) == 0, x, "operation %s was asked for %s, and computes %s, too", o.Name, stored[0],
				strings.Join(computed, ", "))
		}
	})
}

func checkComputedUnknown(p *prober, rec *recorder) {
	p.eachComputing(rec, func(s selection) {
		o, path := s.operation, computedMember+"."+unknownField
		x := p.send(o, with(s.params, "fields", []string{path}))
		if warnings, _ := x.answer.root["warnings"].([]any); x.answer.success {
			rec.expect(len(warnings) > 0, x, "operation %s succeeds with %s, which is not listed, without a warning",
				o.Name, path)
			return
		}
		p.expectRefused(rec, o, p.baseline(o), x, "operation %s with %s, which is not listed,", o.Name, path)
	})
}

func checkComputedUses(p *prober, rec *recorder) {
	p.eachQueried(rec, "filter", func(o *operation, params map[string]any) {
		for _, f := range o.Computed {
			if f.Filterable || !p.isObject(o.param("filter")) {
				continue
			}
			value, ok := p.newValue(&param{Name: f.Name, Type: f.Type}, 0) // of another type it would be refused for that
			if !ok {
				rec.unjudged("no value for the computed field '%s' of operation %s can be made", f.Name, o.Name)
				continue
			}
			x := p.send(o, with(params, "filter", map[string]any{f.path(): value}))
			p.expectRefused(rec, o, p.baseline(o), x, "operation %s with a filter by %s, which is not listed as one for it,",
				o.Name, f.path())
		}
	})
	p.eachQueried(rec, "sort", func(o *operation, params map[string]any) {
		for _, f := range o.Computed {
			if f.Sortable {
				continue
			}
			var by any = f.path()
			if p.isObject(o.param("sort")) {
				by = map[string]any{"field": f.path()}
			}
			x := p.send(o, with(params, "sort", by))
			p.expectRefused(rec, o, p.baseline(o), x, "operation %s in the order of %s, which is not listed as one for it,",
				o.Name, f.path())
		}
	})
	rec.skip("no READ operation that documents 'filter' or 'sort' lists a computed field that is not for it")
}
