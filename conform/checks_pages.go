package conform

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func pageChecks() []check {
	return []check{
		{"pages/advertised", "pagination is claimed where operations have cursors, and only there", []string{"REQ-PM-04"}, Should, Features, 2, checkPages},
		{"pages/size", "a page has no more items than were asked for", []string{"REQ-CQ-07"}, Should, Features, 2, checkPageSize},
		{"pages/offset", "pages and offsets are told with the result", []string{"REQ-PG-09", "REQ-PG-10", "REQ-CQ-08"}, Should, Features, 2, checkOffsets},
		{"pages/info", "cursors come with pageInfo", []string{"REQ-PG-03"}, Must, Features, 2, checkPageInfo},
		{"pages/conflicts", "controls that contradict each other are refused", []string{"REQ-PG-01", "REQ-PG-02"}, Must, Features, 2, checkPageConflicts},
		{"pages/cursor", "a cursor leads on, and a made-up one is refused", []string{"REQ-PG-05", "REQ-PG-06"}, Must, Features, 2, checkCursor},
	}
}

// lists are the READ operations that take a parameter and answer with items.
func (p *prober) lists(v *verdict, name string, look func(o *operation, params map[string]any)) {
	for _, r := range p.resources {
		p.shared(r)
	}
	v.skip("no operation documents %s", name)
	for _, o := range p.operations {
		if o.Category != "READ" || o.param(name) == nil || p.barred(o) != "" {
			continue
		}
		b := p.base(o)
		if b.params == nil {
			continue
		}
		look(o, b.params)
	}
}

func checkPages(p *prober, v *verdict) {
	documented := slices.ContainsFunc(p.operations, func(o *operation) bool { return o.param("first") != nil || o.param("last") != nil })
	paged := documented || slices.ContainsFunc(p.operations, func(o *operation) bool {
		return o.param("limit") != nil || o.param("page") != nil
	})
	claimed := p.capability("pagination")
	v.hold(claimed || !documented, p.operationsList, "operations take first or last, but the capability pagination is not claimed")
	v.hold(paged || !claimed, p.operationsList, "the capability pagination is claimed, but no operation documents parameters for it")
}

func checkPageSize(p *prober, v *verdict) {
	for _, name := range []string{"limit", "first", "page_size"} {
		p.lists(v, name, func(o *operation, params map[string]any) {
			x := p.send(o, with(params, name, 1))
			if list, ok := within(x.answer.data, "items").([]any); ok {
				v.hold(len(list) <= 1, x, "operation %s was asked for one item, and answers %d", o.Name, len(list))
			}
		})
	}
}

func checkOffsets(p *prober, v *verdict) {
	for _, name := range []string{"limit", "page_size"} {
		p.lists(v, name, func(o *operation, params map[string]any) {
			x := p.send(o, with(params, name, 1))
			if _, ok := within(x.answer.data, "items").([]any); !ok {
				v.skip("what operation %s answers is no list of items", o.Name)
				return
			}
			v.hold(equal(json.Number("1"), within(within(x.answer.data, "pagination"), name)), x, "operation %s does not tell 'pagination.%s'", o.Name, name)
		})
	}
}

func checkPageInfo(p *prober, v *verdict) {
	p.lists(v, "first", func(o *operation, params map[string]any) {
		x := p.send(o, with(params, "first", 1))
		info, _ := within(x.answer.data, "pageInfo").(map[string]any)
		wrong := isBool("pageInfo.hasNextPage", info["hasNextPage"])
		wrong = append(wrong, isBool("pageInfo.hasPreviousPage", info["hasPreviousPage"])...)
		if list, _ := within(x.answer.data, "items").([]any); len(list) > 0 {
			wrong = append(wrong, isFilled("pageInfo.startCursor", info["startCursor"])...)
			wrong = append(wrong, isFilled("pageInfo.endCursor", info["endCursor"])...)
		}
		v.hold(len(wrong) == 0, x, "operation %s: %s", o.Name, strings.Join(wrong, "; "))
	})
}

func checkPageConflicts(p *prober, v *verdict) {
	p.lists(v, "first", func(o *operation, params map[string]any) {
		for _, pair := range []map[string]any{{"first": 1, "last": 1}, {"after": "x"}, {"before": "x"}, {"first": 1, "before": "x"}, {"last": 1, "after": "x"}} {
			together := params
			known := true
			for name, value := range pair {
				together = with(together, name, value)
				known = known && o.param(name) != nil
			}
			if known {
				x := p.send(o, together)
				v.hold(refused(x), x, "operation %s takes %s together", o.Name, asJSON(pair))
			}
		}
	})
}

func checkCursor(p *prober, v *verdict) {
	p.lists(v, "after", func(o *operation, params map[string]any) {
		if o.param("first") == nil {
			return
		}
		x := p.send(o, with(with(params, "first", 1), "after", "no cursor of yours"))
		v.hold(refused(x), x, "operation %s takes a cursor that it never gave", o.Name)
		for _, r := range p.resources { // two things at least
			if r.list == o {
				p.make(r)
			}
		}
		first := p.send(o, with(params, "first", 1))
		cursor, _ := within(within(first.answer.data, "pageInfo"), "endCursor").(string)
		if within(within(first.answer.data, "pageInfo"), "hasNextPage") != true || cursor == "" {
			v.skip("operation %s has a single page", o.Name)
			return
		}
		next := p.send(o, with(with(params, "first", 1), "after", cursor))
		v.hold(next.answer.success && !equal(within(first.answer.data, "items"), within(next.answer.data, "items")), next, "operation %s does not go on behind the cursor %s", o.Name, fmt.Sprintf("%q", cursor))
	})
}
