package conform

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// eachList calls look with every READ operation that documents a parameter, and its baseline parameters.
func (p *prober) eachList(rec *recorder, name string, look func(o *operation, params map[string]any)) {
	for _, r := range p.resources {
		p.sharedFixture(r)
	}
	rec.skip("no operation documents %s", name)
	for _, o := range p.operations {
		if o.Category != "READ" || o.param(name) == nil || p.exclusion(o) != "" {
			continue
		}
		b := p.baseline(o)
		if b.params == nil {
			continue
		}
		look(o, b.params)
	}
}

func checkPages(p *prober, rec *recorder) {
	documented := slices.ContainsFunc(p.operations,
		func(o *operation) bool { return o.param("first") != nil || o.param("last") != nil })
	paged := documented || slices.ContainsFunc(p.operations, func(o *operation) bool {
		return o.param("limit") != nil || o.param("page") != nil
	})
	claimed := p.capability("pagination")
	rec.expect(claimed || !documented, p.operationsList,
		"operations take first or last, but the capability pagination is not claimed")
	rec.expect(paged || !claimed, p.operationsList,
		"the capability pagination is claimed, but no operation documents parameters for it")
}

func checkPageSize(p *prober, rec *recorder) {
	for _, name := range []string{"limit", "first", "page_size"} {
		p.eachList(rec, name, func(o *operation, params map[string]any) {
			x := p.send(o, with(params, name, 1))
			if list, ok := memberOf(x.answer.data, "items").([]any); ok {
				rec.expect(len(list) <= 1, x, "operation %s was asked for one item, and answers %d", o.Name, len(list))
			}
		})
	}
}

func checkOffsets(p *prober, rec *recorder) {
	for _, name := range []string{"limit", "page_size"} {
		p.eachList(rec, name, func(o *operation, params map[string]any) {
			x := p.send(o, with(params, name, 1))
			if _, ok := memberOf(x.answer.data, "items").([]any); !ok {
				rec.skip("what operation %s answers is no list of items", o.Name)
				return
			}
			rec.expect(equal(json.Number("1"), memberOf(memberOf(x.answer.data, "pagination"), name)), x,
				"operation %s does not tell 'pagination.%s'", o.Name, name)
		})
	}
}

func checkPageInfo(p *prober, rec *recorder) {
	p.eachList(rec, "first", func(o *operation, params map[string]any) {
		x := p.send(o, with(params, "first", 1))
		info, _ := memberOf(x.answer.data, "pageInfo").(map[string]any)
		wrong := isBool("pageInfo.hasNextPage", info["hasNextPage"])
		wrong = append(wrong, isBool("pageInfo.hasPreviousPage", info["hasPreviousPage"])...)
		if list, _ := memberOf(x.answer.data, "items").([]any); len(list) > 0 {
			wrong = append(wrong, isNonEmpty("pageInfo.startCursor", info["startCursor"])...)
			wrong = append(wrong, isNonEmpty("pageInfo.endCursor", info["endCursor"])...)
		}
		rec.expect(len(wrong) == 0, x, "operation %s: %s", o.Name, strings.Join(wrong, "; "))
	})
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
				rec.expect(refused(x), x, "operation %s takes %s together", o.Name, asJSON(pair))
			}
		}
	})
}

func checkCursor(p *prober, rec *recorder) {
	p.eachList(rec, "after", func(o *operation, params map[string]any) {
		if o.param("first") == nil {
			return
		}
		x := p.send(o, with(with(params, "first", 1), "after", "no cursor of yours"))
		rec.expect(refused(x), x, "operation %s takes a cursor that it never gave", o.Name)
		for _, r := range p.resources { // so that there are two items at least
			if r.list == o {
				p.createFixture(r)
			}
		}
		first := p.send(o, with(params, "first", 1))
		cursor, _ := memberOf(memberOf(first.answer.data, "pageInfo"), "endCursor").(string)
		if memberOf(memberOf(first.answer.data, "pageInfo"), "hasNextPage") != true || cursor == "" {
			rec.skip("operation %s has a single page", o.Name)
			return
		}
		next := p.send(o, with(with(params, "first", 1), "after", cursor))
		rec.expect(next.answer.success && !equal(memberOf(first.answer.data, "items"), memberOf(next.answer.data, "items")),
			next, "operation %s does not go on behind the cursor %s", o.Name, fmt.Sprintf("%q", cursor))
	})
}
