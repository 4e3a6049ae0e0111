package conform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func fieldChecks() []check {
	return []check{
		{"fields/supported", "field selection is supported, and said to be", []string{"REQ-CL-02", "REQ-PM-04"}, Should, Features, 2, checkFields},
		{"fields/only-requested", "only the fields that were asked for come back", []string{"REQ-FS-01", "REQ-FS-05"}, Must, Features, 2, checkOnlyRequested},
		{"fields/nested", "a path selects a nested value, and keeps it nested", []string{"REQ-FS-02"}, Must, Features, 2, checkNested},
		{"fields/items", "in lists, fields select from each item and leave the page alone", []string{"REQ-FS-05"}, Must, Features, 2, checkFieldsOfItems},
		{"fields/presets", "the presets minimal, standard and full are taken, each with no more than the next", []string{"REQ-FS-01"}, Must, Features, 2, checkPresets},
		{"fields/malformed", "a path of another form is refused", []string{"REQ-FS-09"}, Must, Features, 2, checkMalformedFields},
		{"fields/unknown", "an unknown field is not passed over in silence", []string{"REQ-FS-07"}, Should, Features, 2, checkUnknownFields},
	}
}

// selecting are the READ operations that document fields.
func (p *prober) selecting() []*operation {
	return slices.DeleteFunc(slices.Clone(p.operations), func(o *operation) bool {
		return o.Category != "READ" || o.param("fields") == nil || p.barred(o) != ""
	})
}

func checkFields(p *prober, v *verdict) {
	claimed := p.capability("field_selection")
	documented := len(p.selecting()) > 0
	switch {
	case documented:
		v.hold(claimed, p.operationsList, "operations take fields, but the capability field_selection is not claimed")
	case claimed:
		v.wrong(exchanges(p.operationsList), "the capability field_selection is claimed, but no READ operation documents fields")
	default:
		v.wrong(exchanges(p.operationsList), "field selection is not supported, which level 2 recommends")
	}
}

// selection is one thing, read whole, by an operation that can select from it.
type selection struct {
	operation *operation
	params    map[string]any
	object    map[string]any // what comes back with all fields
	item      bool           // object is the first item of a list
}

// selected asks again with fields and gives the object that comes back.
func (p *prober) selected(s selection, fields any) (map[string]any, *exchange) {
	x := p.send(s.operation, with(s.params, "fields", fields))
	data, _ := x.answer.data.(map[string]any)
	if s.item {
		list := objects(data["items"])
		if len(list) == 0 {
			return nil, x
		}
		return list[0], x
	}
	return data, x
}

// selections reads something whole with every operation that takes fields.
func (p *prober) selections(v *verdict, items bool) []selection {
	var all []selection
	for _, r := range p.resources {
		p.shared(r) // so that lists are not empty
	}
	for _, o := range p.selecting() {
		b := p.base(o)
		if b.params == nil {
			v.skip("no sound request to operation %s is known", o.Name)
			continue
		}
		s := selection{operation: o, params: b.params}
		x := p.send(o, b.params)
		data, _ := x.answer.data.(map[string]any)
		_, s.item = data["items"].([]any)
		if s.item != items {
			continue
		}
		if !x.answer.success || data == nil {
			v.skip("operation %s has nothing to select from", o.Name)
			continue
		}
		if !s.item {
			s.object = data
		} else if s.object, _ = p.selected(s, "full"); s.object == nil {
			v.skip("operation %s has nothing to select from", o.Name)
			continue
		}
		all = append(all, s)
	}
	if len(p.selecting()) == 0 {
		v.skip("no READ operation documents fields")
	}
	return all
}

// plainFields are names of an object that can be asked for, and have a value.
func plainFields(object map[string]any) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if snake.MatchString(name) && object[name] != nil {
			all = append(all, name)
		}
	}
	return all
}

// surplus are members beyond those asked for, metadata aside.
func surplus(object map[string]any, asked ...string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !strings.HasPrefix(name, "_") && !slices.Contains(asked, name) {
			all = append(all, name)
		}
	}
	return all
}

func (p *prober) checkSelection(v *verdict, s selection) {
	fields := plainFields(s.object)
	if len(fields) < 2 {
		v.skip("what operation %s answers has too few fields to select from", s.operation.Name)
		return
	}
	for _, asked := range [][]string{{fields[0]}, {fields[len(fields)-1], fields[0]}} {
		object, x := p.selected(s, asked)
		if !v.hold(x.answer.success && object != nil, x, "operation %s does not select %s", s.operation.Name, strings.Join(asked, ", ")) {
			continue
		}
		more := surplus(object, asked...)
		v.hold(len(more) == 0, x, "operation %s was asked for %s, and answers %s, too", s.operation.Name, strings.Join(asked, ", "), strings.Join(more, ", "))
		for _, name := range asked {
			v.hold(equal(s.object[name], object[name]) || s.item && object[name] != nil, x, "operation %s was asked for %s, and its value is missing or another one", s.operation.Name, name)
		}
	}
}

func checkOnlyRequested(p *prober, v *verdict) {
	for _, s := range p.selections(v, false) {
		p.checkSelection(v, s)
	}
}

func checkFieldsOfItems(p *prober, v *verdict) {
	for _, s := range p.selections(v, true) {
		p.checkSelection(v, s)
		whole := p.send(s.operation, with(s.params, "fields", "full"))
		fields := plainFields(s.object)
		if len(fields) == 0 {
			continue
		}
		x := p.send(s.operation, with(s.params, "fields", fields[:1]))
		for _, page := range []string{"pagination", "pageInfo"} {
			if was := within(whole.answer.data, page); was != nil {
				v.hold(equal(was, within(x.answer.data, page)), x, "'%s' of operation %s is another one when fields are selected", page, s.operation.Name)
			}
		}
		for _, item := range objects(within(x.answer.data, "items")) {
			v.hold(len(surplus(item, fields[0])) == 0, x, "an item of operation %s has more than %s", s.operation.Name, fields[0])
		}
	}
}

func checkNested(p *prober, v *verdict) {
	for _, s := range p.selections(v, false) {
		found := false
		for _, name := range plainFields(s.object) {
			inner, _ := s.object[name].(map[string]any)
			fields := plainFields(inner)
			if len(fields) < 2 {
				continue
			}
			found = true
			if plain, x := p.selected(s, []string{name}); !x.answer.success || len(plain) == len(s.object) && len(plain) > 1 {
				v.skip("operation %s does not heed fields", s.operation.Name)
				break
			}
			path := name + "." + fields[0]
			object, x := p.selected(s, []string{path})
			got, _ := object[name].(map[string]any)
			v.hold(x.answer.success && equal(inner[fields[0]], got[fields[0]]) && len(got) == 1,
				x, "operation %s was asked for %s, and must answer just that, nested", s.operation.Name, path)
			break
		}
		if !found {
			v.skip("what operation %s answers has no nested fields", s.operation.Name)
		}
	}
}

func checkPresets(p *prober, v *verdict) {
	for _, s := range append(p.selections(v, false), p.selections(v, true)...) {
		var before []string
		for _, preset := range []string{"minimal", "standard", "full"} {
			object, x := p.selected(s, preset)
			if !v.hold(x.answer.success && object != nil, x, "operation %s does not take the preset %s", s.operation.Name, preset) {
				break
			}
			for _, name := range before {
				_, there := object[name]
				v.hold(there, x, "'%s' of operation %s is in a smaller preset and not in %s", name, s.operation.Name, preset)
			}
			before = surplus(object)
		}
	}
}

func checkMalformedFields(p *prober, v *verdict) {
	for _, s := range append(p.selections(v, false), p.selections(v, true)...) {
		for _, path := range []string{"Title", "a..b", "a b"} {
			x := p.send(s.operation, with(s.params, "fields", []string{path}))
			if v.hold(refused(x), x, "operation %s takes '%s' for a path", s.operation.Name, path) {
				p.evidence.constraint(fmt.Sprintf("%s: malformed path", s.operation.Name), x)
			}
		}
	}
}

func checkUnknownFields(p *prober, v *verdict) {
	for _, s := range append(p.selections(v, false), p.selections(v, true)...) {
		x := p.send(s.operation, with(s.params, "fields", []string{"no_such_field"}))
		warnings, _ := x.answer.root["warnings"].([]any)
		v.hold(refused(x) || x.answer.success && len(warnings) > 0, x, "operation %s passes over an unknown field without a warning", s.operation.Name)
	}
}
