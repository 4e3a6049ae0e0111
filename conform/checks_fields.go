package conform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// selectingOperations returns the READ operations that document the parameter fields.
func (p *prober) selectingOperations() []*operation {
	return slices.DeleteFunc(slices.Clone(p.operations), func(o *operation) bool {
		return o.Category != "READ" || o.param("fields") == nil || p.exclusion(o) != ""
	})
}

func checkFieldsSupported(p *prober, rec *recorder) {
	claimed := p.capability("field_selection")
	documented := slices.ContainsFunc(p.operations,
		func(o *operation) bool { return o.Category == "READ" && o.param("fields") != nil })
	switch {
	case documented:
		rec.expect(claimed, p.operationsList,
			"READ operations document 'fields', but the capability field_selection is not claimed")
	case len(p.unread) > 0:
		rec.unjudged("the details of operation %s cannot be read, and no other one documents 'fields'", p.unread[0])
	case claimed:
		rec.fail(exchanges(p.operationsList),
			"the capability field_selection is claimed, but no READ operation documents 'fields'")
	default:
		rec.fail(exchanges(p.operationsList), "no READ operation documents 'fields', and the capability field_selection is "+
			"not claimed; level 2 recommends field selection")
	}
}

// selection is an object with all its fields, and the operation that can select some of them.
type selection struct {
	operation *operation
	params    map[string]any
	object    map[string]any // with all fields
	item      bool           // object is the first item of a list
}

// selectFields calls the operation with a value for fields and returns the object in the answer; nil: there is none.
func (p *prober) selectFields(s selection, fields any) (map[string]any, *exchange) {
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

// readSelections reads an object with every operation that takes fields: those that return lists of items if items is
// set, else the others.
func (p *prober) readSelections(rec *recorder, items bool) []selection {
	var all []selection
	for _, r := range p.resources {
		p.sharedFixture(r) // so that lists are not empty
	}
	for _, o := range p.selectingOperations() {
		if s, ok := p.readSelection(rec, o, func(item bool) bool { return item == items }); ok {
			all = append(all, s)
		}
	}
	rec.skip("no READ operation that may be called, and answers in this form, documents 'fields'")
	return all
}

// readSelection reads an object with an operation that takes fields, if it is wanted alone or as the item of a list.
func (p *prober) readSelection(rec *recorder, o *operation, wanted func(item bool) bool) (selection, bool) {
	b := p.baseline(o)
	if b.params == nil {
		rec.unjudged("%s", noRequest(o, b))
		return selection{}, false
	}
	s := selection{operation: o, params: b.params}
	x := p.send(o, b.params)
	data, _ := x.answer.data.(map[string]any)
	if !x.answer.success || data == nil {
		rec.unjudged("operation %s does not answer with an object from which fields could be selected", o.Name)
		return s, false
	}
	if _, s.item = data["items"].([]any); !wanted(s.item) {
		return s, false
	}
	if !s.item {
		s.object = data
	} else if s.object, _ = p.selectFields(s, "full"); s.object == nil {
		rec.unjudged("the list of operation %s is empty, so there is nothing to select from", o.Name)
		return s, false
	}
	return s, true
}

// selectableFields returns the names of an object's members that can be selected and are not null.
func selectableFields(object map[string]any) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if snakeCase.MatchString(name) && object[name] != nil {
			all = append(all, name)
		}
	}
	return all
}

// extraMembers returns the names of members that were not selected, except metadata.
func extraMembers(object map[string]any, requested ...string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !strings.HasPrefix(name, "_") && !slices.Contains(requested, name) {
			all = append(all, name)
		}
	}
	return all
}

func (p *prober) expectSelection(rec *recorder, s selection) {
	fields := selectableFields(s.object)
	if len(fields) < 2 {
		rec.unjudged("what operation %s answers has too few fields to select from", s.operation.Name)
		return
	}
	for _, requested := range [][]string{{fields[0]}, {fields[len(fields)-1], fields[0]}} {
		object, x := p.selectFields(s, requested)
		if !rec.needSuccess(x, "operation %s with fields %s", s.operation.Name, strings.Join(requested, ", ")) {
			continue
		}
		if object == nil {
			rec.fail(exchanges(x), "operation %s with fields %s answers with nothing", s.operation.Name,
				strings.Join(requested, ", "))
			continue
		}
		more := extraMembers(object, requested...)
		rec.expect(len(more) == 0, x, "operation %s was asked for %s, and answers %s, too", s.operation.Name,
			strings.Join(requested, ", "), strings.Join(more, ", "))
		for _, name := range requested {
			rec.expect(equal(s.object[name], object[name]) || s.item && object[name] != nil, x,
				"operation %s was asked for %s, and its value is missing or another one", s.operation.Name, name)
		}
	}
}

func checkOnlyRequested(p *prober, rec *recorder) {
	for _, s := range p.readSelections(rec, false) {
		p.expectSelection(rec, s)
	}
}

func checkFieldsOfItems(p *prober, rec *recorder) {
	for _, s := range p.readSelections(rec, true) {
		p.expectSelection(rec, s)
		full := p.send(s.operation, with(s.params, "fields", "full"))
		fields := selectableFields(s.object)
		if len(fields) == 0 {
			continue
		}
		x := p.send(s.operation, with(s.params, "fields", fields[:1]))
		for _, page := range []string{"pagination", "pageInfo"} {
			if was := memberOf(full.answer.data, page); was != nil {
				rec.expect(equal(was, memberOf(x.answer.data, page)), x,
					"'%s' of operation %s is another one when fields are selected", page, s.operation.Name)
			}
		}
		for _, item := range objects(memberOf(x.answer.data, "items")) {
			rec.expect(len(extraMembers(item, fields[0])) == 0, x,
				"an item of operation %s has more than %s", s.operation.Name, fields[0])
		}
	}
}

func checkNested(p *prober, rec *recorder) {
	for _, s := range p.readSelections(rec, false) {
		found := false
		for _, name := range selectableFields(s.object) {
			inner, _ := s.object[name].(map[string]any)
			fields := selectableFields(inner)
			if len(fields) < 2 {
				continue
			}
			found = true
			one, x := p.selectFields(s, []string{name})
			if !x.answer.success || len(one) == len(s.object) && len(one) > 1 {
				rec.unjudged("operation %s does not select fields", s.operation.Name)
				break
			}
			path := name + "." + fields[0]
			object, x := p.selectFields(s, []string{path})
			got, _ := object[name].(map[string]any)
			rec.expect(x.answer.success && equal(inner[fields[0]], got[fields[0]]) && len(got) == 1,
				x, "operation %s was asked for %s, and must answer just that, nested", s.operation.Name, path)
			break
		}
		if !found {
			rec.skip("what operation %s answers has no nested fields", s.operation.Name)
		}
	}
}

func checkPresets(p *prober, rec *recorder) {
	for _, s := range append(p.readSelections(rec, false), p.readSelections(rec, true)...) {
		var before []string
		for _, preset := range []string{"minimal", "standard", "full"} {
			object, x := p.selectFields(s, preset)
			if !rec.needSuccess(x, "operation %s with the preset %s", s.operation.Name, preset) {
				break
			}
			for _, name := range before {
				_, there := object[name]
				rec.expect(there, x, "'%s' of operation %s is in a smaller preset and not in %s", name, s.operation.Name, preset)
			}
			before = extraMembers(object)
		}
	}
}

func checkMalformedFields(p *prober, rec *recorder) {
	for _, s := range append(p.readSelections(rec, false), p.readSelections(rec, true)...) {
		for _, path := range []string{"Title", "a..b", "a b"} {
			x := p.send(s.operation, with(s.params, "fields", []string{path}))
			if p.expectRefused(
				rec,
				s.operation,
				p.baseline(s.operation),
				x,
				"operation %s with '%s' for a path",
				s.operation.Name,
				path,
			) {
				p.evidence.addConstraint(fmt.Sprintf("%s: malformed path", s.operation.Name), x)
			}
		}
	}
}

func checkUnknownFields(p *prober, rec *recorder) {
	for _, s := range append(p.readSelections(rec, false), p.readSelections(rec, true)...) {
		x := p.send(s.operation, with(s.params, "fields", []string{unknownField}))
		if warnings, _ := x.answer.root["warnings"].([]any); x.answer.success {
			rec.expect(len(warnings) > 0, x, "operation %s succeeds with an unknown field, without a warning", s.operation.Name)
			continue
		}
		p.expectRefused(rec, s.operation, p.baseline(s.operation), x, "operation %s with an unknown field", s.operation.Name)
	}
}
