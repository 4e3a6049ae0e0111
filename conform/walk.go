package conform

// pageStyle is how the parameters of an operation name a page of its list, and where its answers tell of the page
// (MCP-AQL operations §4.4.3).
type pageStyle struct {
	size, place         string // parameters
	around, more, total string // members of the answer
}

// pageStyles are the styles of the protocol, the one with cursors first.
var pageStyles = [...]pageStyle{
	{"first", "after", "pageInfo", "hasNextPage", "totalCount"},
	{"page_size", "page", "pagination", "has_more", "total_items"},
	{"limit", "offset", "pagination", "has_more", "total_items"},
}

// listPage is a page of a list.
type listPage struct {
	x     *exchange
	items []any
}

// walk reads the pages of a list from the beginning, no more than a number of them, and reports whether the last one is
// the end.
func (p *prober) walk(
	o *operation, params map[string]any, s pageStyle, size, most int,
) (pages []listPage, complete bool) {
	params = with(params, s.size, size)
	for n := range most {
		x := p.send(o, params)
		items, ok := p.itemsOf(x)
		if !x.answer.success || !ok {
			return pages, false
		}
		pages = append(pages, listPage{x, items})
		around := memberOf(x.answer.data, s.around)
		more, told := memberOf(around, s.more).(bool)
		if !told && s.place != "after" { // it may be left out
			more = len(items) == size
		}
		if !more {
			return pages, true
		}
		switch s.place {
		case "after":
			cursor, _ := memberOf(around, "endCursor").(string)
			params = with(params, s.place, cursor)
		case "page":
			params = with(params, s.place, n+2)
		default:
			params = with(params, s.place, (n+1)*size)
		}
	}
	return pages, false
}

// mostCounted is how many items of a list are counted.
const mostCounted = 300

// count counts the items on all pages of a list, of which there should be a number, in no more than five requests. It
// reports whether the last page is the end.
func (p *prober) count(o *operation, params map[string]any, s pageStyle, expected int) (counted int, complete bool) {
	pages, complete := p.walk(o, params, s, expected/3+1, 5)
	for _, page := range pages {
		counted += len(page.items)
	}
	return counted, complete
}
