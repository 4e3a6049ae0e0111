package conform

import (
	"encoding/json"
	"strconv"
)

// eachQueried calls look with every READ operation that documents a parameter and succeeds without it, and with the
// parameters of that request. Nothing is created for it.
func (p *prober) eachQueried(rec *recorder, name string, look func(o *operation, params map[string]any)) {
	for _, o := range p.operations {
		if o.Category != "READ" || !hasPages(o, name) {
			continue
		}
		if why := p.exclusion(o); why != "" {
			rec.skip("%s", why)
			continue
		}
		switch b := p.baseline(o); {
		case b.params == nil:
			rec.unjudged("%s", noRequest(o, b))
		case !b.exchange.answer.success:
			rec.unjudged("operation %s fails without '%s', so what it makes of it does not show", o.Name, name)
		default:
			look(o, b.params)
		}
	}
}

// isObject reports whether the values of a parameter are objects.
func (p *prober) isObject(d *param) bool {
	t := p.types[d.Type]
	return d.Type == "object" || t != nil && t.Kind == "object"
}

func checkFilterKeys(p *prober, rec *recorder) {
	p.eachQueried(rec, "filter", func(o *operation, params map[string]any) {
		if !p.isObject(o.param("filter")) {
			rec.skip("'filter' of operation %s is no object", o.Name)
			return
		}
		x := p.send(o, with(params, "filter", map[string]any{unknownField: "x"}))
		p.expectRefused(rec, o, p.baseline(o), x, "operation %s with a filter by a field that does not exist", o.Name)
	})
	rec.skip("no READ operation documents 'filter'")
}

func checkSortFields(p *prober, rec *recorder) {
	p.eachQueried(rec, "sort", func(o *operation, params map[string]any) {
		var by any = unknownField
		if p.isObject(o.param("sort")) {
			by = map[string]any{"field": unknownField}
		}
		x := p.send(o, with(params, "sort", by))
		p.expectRefused(rec, o, p.baseline(o), x, "operation %s in the order of a field that does not exist", o.Name)
	})
	rec.skip("no READ operation documents 'sort'")
}

// unknownField is a field that the elements of no list have.
const unknownField = "no_such_field"

// mostItems is the greatest number of items of a page (MCP-AQL pagination §5.3).
const mostItems = 1000

func checkLargePages(p *prober, rec *recorder) {
	const large = 100 * mostItems
	for _, s := range pageStyles {
		p.eachQueried(rec, s.size, func(o *operation, params map[string]any) {
			switch d := o.param(s.size); {
			case d.Type != "integer" && d.Type != "number":
				rec.skip("'%s' of operation %s is no number", s.size, o.Name)
				return
			case d.Maximum != nil:
				rec.skip("operation %s documents the greatest '%s'", o.Name, s.size)
				return
			}
			x := p.send(o, with(params, s.size, large))
			if !rec.needSuccess(x, "operation %s with '%s' %d, which no maximum forbids,", o.Name, s.size, large) {
				return
			}
			if items, ok := p.itemsOf(x); ok {
				rec.expect(len(items) <= mostItems, x, "operation %s answers %d items at once; %d is the most", o.Name,
					len(items), mostItems)
			}
		})
	}
	rec.skip("no READ operation documents 'first', 'page_size' or 'limit'")
}

func checkTotals(p *prober, rec *recorder) {
	for _, s := range pageStyles {
		p.eachQueried(rec, s.place, func(o *operation, params map[string]any) {
			if o.param(s.size) == nil {
				return
			}
			x := p.send(o, with(params, s.size, 1))
			told, ok := memberOf(memberOf(x.answer.data, s.around), s.total).(json.Number)
			total, err := strconv.Atoi(string(told))
			switch {
			case !x.answer.success:
				rec.unjudged("operation %s does not succeed with '%s' 1", o.Name, s.size)
				return
			case !ok || err != nil:
				rec.skip("operation %s tells no '%s.%s'", o.Name, s.around, s.total)
				return
			case total > mostCounted:
				rec.unjudged("operation %s tells of %d items, too many to count", o.Name, total)
				return
			}
			counted, complete := p.count(o, params, s, total)
			if !complete && counted <= total {
				rec.unjudged("the pages of operation %s cannot be read to their end", o.Name)
				return
			}
			rec.expect(counted == total, x, "operation %s tells of %d items in '%s.%s', and has %d on its pages", o.Name, total,
				s.around, s.total, counted)
		})
	}
	rec.skip("no READ operation documents 'after', 'page' or 'offset'")
}

func checkBackward(p *prober, rec *recorder) {
	cursors := pageStyles[0]
	p.eachQueried(rec, "before", func(o *operation, params map[string]any) {
		for _, name := range []string{"first", "after", "last"} {
			if o.param(name) == nil {
				rec.unjudged("operation %s documents 'before' and not '%s'", o.Name, name)
				return
			}
		}
		const size = 2
		pages, _ := p.walk(o, params, cursors, size, 4)
		if len(pages) < 2 {
			rec.unjudged("operation %s has fewer than %d items, or does not lead on, so there is no way back", o.Name, size+1)
			return
		}
		for i := len(pages) - 1; i > 0; i-- {
			cursor, _ := memberOf(memberOf(pages[i].x.answer.data, "pageInfo"), "startCursor").(string)
			x := p.send(o, with(with(params, "last", size), "before", cursor))
			if !rec.needSuccess(x, "operation %s with its own cursor in 'before'", o.Name) {
				return
			}
			if items, _ := p.itemsOf(x); !equal(items, pages[i-1].items) {
				rec.fail(exchanges(pages[i-1].x, x), "operation %s has other items on the way back than on the way there", o.Name)
				return
			}
		}
		rec.pass(pages[0].x)
	})
	rec.skip("no READ operation documents 'before'")
}

func checkChangedCursor(p *prober, rec *recorder) {
	p.eachQueried(rec, "after", func(o *operation, params map[string]any) {
		if o.param("first") == nil {
			rec.unjudged("operation %s documents 'after' and not 'first'", o.Name)
			return
		}
		first := p.send(o, with(params, "first", 1))
		cursor, _ := memberOf(memberOf(first.answer.data, "pageInfo"), "endCursor").(string)
		if cursor == "" {
			rec.unjudged("operation %s has no items, or tells no cursor", o.Name)
			return
		}
		x := p.send(o, with(with(params, "first", 1), "after", changedInside(cursor)))
		p.expectRefused(rec, o, p.baseline(o), x, "operation %s with a cursor in which one character was changed", o.Name)
	})
	rec.skip("no READ operation documents 'after'")
}

// changedInside returns a text with another character of the same kind in its middle.
func changedInside(text string) string {
	out := []byte(text)
	c := &out[len(out)/2]
	switch {
	case '0' <= *c && *c < '9', 'a' <= *c && *c < 'z', 'A' <= *c && *c < 'Z':
		*c++
	case *c == '9':
		*c = '0'
	case *c == 'z':
		*c = 'a'
	default:
		*c = 'A'
	}
	return string(out)
}
