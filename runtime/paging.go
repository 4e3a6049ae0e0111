package aql

import (
	"context"
	"math"
	"strconv"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/collection"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// paginationOf tells what is around a page in a style without cursors.
func paginationOf(b *collection.Bound, found *collection.Found) Pagination {
	p := Pagination{HasMore: found.Next, known: true}
	if found.Total != collection.Unknown {
		total := found.Total
		p.TotalItems = &total
	}
	if b.Number == 0 {
		p.Limit, p.Offset, p.Returned = b.Size, b.Skip, len(found.Items)
		return p
	}
	if p.Page, p.PageSize = b.Number, b.Size; p.TotalItems != nil {
		pages := (found.Total + b.Size - 1) / b.Size
		p.TotalPages = &pages
	}
	return p
}

// cut sets which part of what a query finds a request asks for. It reports a cursor that is none.
func (a *asking) cut(
	ctx context.Context, c *handled, r *wire.Reader, asked *codec.Asked, gives func(name string) bool,
) (ok bool) {
	switch a.query.Paging() {
	case gen.PagingPage:
		a.bound.Size, a.bound.Number = a.size(asked.PageSize, gives("page_size")), 1
		if gives("page") {
			a.bound.Number = asked.Page
		}
		if a.bound.Skip = math.MaxInt; a.bound.Number-1 <= math.MaxInt/a.bound.Size {
			a.bound.Skip = (a.bound.Number - 1) * a.bound.Size
		}
		return true
	case gen.PagingOffset:
		a.bound.Size, a.bound.Skip = a.size(asked.Limit, gives("limit")), asked.Offset
		return true
	default:
		return a.cutAtCursor(ctx, c, r, asked, gives)
	}
}

// size returns the size of a page: the one that a request gives, or the usual one. One that is too large is clamped.
func (a *asking) size(asked int, given bool) int {
	options := &a.cursors.options
	if !given {
		return options.PageSize
	}
	if asked > options.MaxPage {
		a.clamped, asked = asked, options.MaxPage
	}
	return asked
}

// cutAtCursor sets the part behind a cursor, or in front of one (MCP-AQL pagination §2).
func (a *asking) cutAtCursor(
	ctx context.Context, c *handled, r *wire.Reader, asked *codec.Asked, gives func(name string) bool,
) (ok bool) {
	if a.box, a.failed = a.cursors.box(ctx); a.failed != nil {
		return false
	}
	a.boundTo, a.bound.Seal = a.bindings(c, asked), a.seal
	name, position := "after", asked.After
	a.bound.Size = a.size(asked.First, gives("first"))
	if a.bound.Backward = gives("last"); a.bound.Backward {
		name, position = "before", asked.Before
		a.bound.Size = a.size(asked.Last, true)
	}
	if !gives(name) {
		return true
	}
	text, ok := a.box.Open(a.boundTo[:], position)
	if ok {
		a.bound.At, ok = asked.Order.Position(text)
	}
	if !ok {
		r.Unacceptable(name, "cursor of this operation",
			"Repeat filter and sort as they were, or start again without "+name)
	}
	return ok
}

// paging returns the parameters of cursors that a request gives.
func paging(gives func(name string) bool) (given []string) {
	for _, name := range gen.PagingCursor.Params() {
		if gives(name) {
			given = append(given, name)
		}
	}
	return given
}

// conflict returns what to do about parameters of pages that contradict each other (MCP-AQL pagination §2.3); empty:
// they do not.
func (a *asking) conflict(gives func(name string) bool) string {
	first, after, last, before := gives("first"), gives("after"), gives("last"), gives("before")
	switch {
	case first && last:
		return "Send first to page forward, or last to page backward"
	case first && before:
		return "Send last with before, or after with first"
	case last && after:
		return "Send first with after, or before with last"
	case after && !first:
		return `Add first, such as "first":` + strconv.Itoa(a.cursors.options.PageSize)
	case before && !last:
		return `Add last, such as "last":` + strconv.Itoa(a.cursors.options.PageSize)
	}
	return ""
}

// tooManyScanned is the failure of a query whose iterator does not end in time.
func tooManyScanned(limit int) *Error {
	f := tooLarge("scanned_items", limit, limit+1, "items")
	f.Message += "; narrow what is listed with a parameter other than filter"
	return f
}

// tooManySkipped is the failure of a query whose page is too far behind in an iterator.
func tooManySkipped(limit int) *Error {
	f := tooLarge("skipped_items", limit, limit+1, "items")
	f.Message += "; narrow what is listed with filter, or sort in the other direction"
	return f
}
