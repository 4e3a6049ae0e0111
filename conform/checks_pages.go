package conform

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// hasPages reports whether an operation documents a parameter of pages. Introspect may page its lists as it likes
// (MCP-AQL introspection §8.3): the schema of its answers has no place for what the pages of collections have.
func hasPages(o *operation, names ...string) bool {
	return o.Name != "introspect" && slices.ContainsFunc(names, func(name string) bool { return o.param(name) != nil })
}

// eachList calls look with every READ operation that documents a parameter, and its baseline parameters.
func (p *prober) eachList(rec *recorder, name string, look func(o *operation, params map[string]any)) {
	for _, r := range p.resources {
		p.sharedFixture(r)
	}
	for _, o := range p.operations {
		if o.Category != "READ" || !hasPages(o, name) {
			continue
		}
		if why := p.exclusion(o); why != "" {
			rec.skip("%s", why)
			continue
		}
		b := p.baseline(o)
		if b.params == nil {
			rec.unjudged("%s", noRequest(o, b))
			continue
		}
		look(o, b.params)
	}
}

// itemsOf returns the list in an answer: 'data.items' or, in servers that put it elsewhere, 'data' itself or the only
// list in it.
func (p *prober) itemsOf(x *exchange) ([]any, bool) {
	if list, ok := x.answer.data.([]any); ok {
		p.deviate(itemsPlace, "they are 'data' itself", x)
		return list, true
	}
	data, _ := x.answer.data.(map[string]any)
	if list, ok := data["items"].([]any); ok {
		return list, true
	}
	var found []any
	place := ""
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if list, ok := data[name].([]any); ok {
			if place != "" {
				return nil, false
			}
			found, place = list, name
		}
	}
	if place != "" {
		p.deviate(itemsPlace, "in 'data."+place+"'", x)
	}
	return found, place != ""
}

// eachPage calls an operation with one parameter more and calls look with its list.
func (p *prober) eachPage(
	rec *recorder, name string, value any, look func(o *operation, x *exchange, items []any),
) {
	p.eachList(rec, name, func(o *operation, params map[string]any) {
		x := p.send(o, with(params, name, value))
		if !x.answer.success {
			rec.unjudged("operation %s does not succeed with '%s' %s", o.Name, name, asJSON(value))
			return
		}
		items, ok := p.itemsOf(x)
		if !ok {
			rec.unjudged("what operation %s answers is no list of items", o.Name)
			return
		}
		look(o, x, items)
	})
}

func checkPages(p *prober, rec *recorder) {
	documented := slices.ContainsFunc(p.operations, func(o *operation) bool { return hasPages(o, "first", "last") })
	paged := documented ||
		slices.ContainsFunc(p.operations, func(o *operation) bool { return hasPages(o, "limit", "page") })
	claimed := p.capability("pagination")
	if !paged && !claimed {
		rec.skip("no operation documents pages, and the capability pagination is not claimed")
		return
	}
	rec.expect(claimed || !documented, p.operationsList,
		"operations take first or last, but the capability pagination is not claimed")
	rec.expect(paged || !claimed, p.operationsList,
		"the capability pagination is claimed, but no operation documents parameters for it")
}

func checkPageSize(p *prober, rec *recorder) {
	for _, name := range []string{"limit", "first", "page_size"} {
		p.eachPage(rec, name, 1, func(o *operation, x *exchange, items []any) {
			if len(items) == 0 {
				rec.unjudged("operation %s has no items, so the size of a page does not show", o.Name)
				return
			}
			rec.expect(len(items) <= 1, x, "operation %s was asked for one item by '%s', and answers %d",
				o.Name, name, len(items))
		})
	}
	rec.skip("no READ operation documents 'limit', 'first' or 'page_size'")
}

func checkOffsets(p *prober, rec *recorder) {
	for _, name := range []string{"limit", "page_size"} {
		p.eachPage(rec, name, 1, func(o *operation, x *exchange, _ []any) {
			rec.expect(equal(json.Number("1"), memberOf(memberOf(x.answer.data, "pagination"), name)), x,
				"operation %s does not tell 'pagination.%s'", o.Name, name)
		})
	}
	rec.skip("no READ operation documents 'limit' or 'page_size'")
}

func checkPageInfo(p *prober, rec *recorder) {
	p.eachPage(rec, "first", 1, func(o *operation, x *exchange, list []any) {
		info, _ := memberOf(x.answer.data, "pageInfo").(map[string]any)
		wrong := isBool("pageInfo.hasNextPage", info["hasNextPage"])
		wrong = append(wrong, isBool("pageInfo.hasPreviousPage", info["hasPreviousPage"])...)
		if len(list) > 0 {
			wrong = append(wrong, isNonEmpty("pageInfo.startCursor", info["startCursor"])...)
			wrong = append(wrong, isNonEmpty("pageInfo.endCursor", info["endCursor"])...)
		}
		rec.expect(len(wrong) == 0, x, "operation %s: %s", o.Name, strings.Join(wrong, "; "))
	})
	rec.skip("no READ operation documents 'first'")
}

func checkPageConflicts(p *prober, rec *recorder) {
	p.eachList(rec, "first", func(o *operation, params map[string]any) {
		for _, pair := range []map[string]any{
			{"first": 1, "last": 1}, {"after": "x"}, {"before": "x"}, {"first": 1, "before": "x"}, {"last": 1, "after": "x"},
		} {
			together := params
			known := true
			for name, value := range pair {
				together = with(together, name, value)
				known = known && o.param(name) != nil
			}
			if known {
				x := p.send(o, together)
				p.expectRefused(rec, o, p.baseline(o), x, "operation %s with %s together", o.Name, asJSON(pair))
			}
		}
	})
	rec.skip("no READ operation documents 'first'")
}

func checkCursor(p *prober, rec *recorder) {
	p.eachList(rec, "after", func(o *operation, params map[string]any) {
		if o.param("first") == nil {
			rec.unjudged("operation %s documents 'after' and not 'first'", o.Name)
			return
		}
		x := p.send(o, with(with(params, "first", 1), "after", "no cursor of yours"))
		p.expectRefused(rec, o, p.baseline(o), x, "operation %s with a cursor that it never gave", o.Name)
		for _, r := range p.resources { // so that there are two items at least
			if r.list == o {
				p.createFixture(r)
			}
		}
		first := p.send(o, with(params, "first", 1))
		cursor, _ := memberOf(memberOf(first.answer.data, "pageInfo"), "endCursor").(string)
		if memberOf(memberOf(first.answer.data, "pageInfo"), "hasNextPage") != true || cursor == "" {
			rec.unjudged("operation %s has a single page, or tells no cursor", o.Name)
			return
		}
		next := p.send(o, with(with(params, "first", 1), "after", cursor))
		if !rec.needSuccess(next, "operation %s with its own cursor", o.Name) {
			return
		}
		was, _ := p.itemsOf(first)
		is, _ := p.itemsOf(next)
		rec.expect(!equal(was, is), next, "operation %s answers the same page behind its cursor", o.Name)
	})
	rec.skip("no READ operation documents 'after'")
}
