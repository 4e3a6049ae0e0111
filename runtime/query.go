package aql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// Query lets agents filter, sort, page and summarise what a READ operation lists. Embed it in the request: the
// operation then has the parameters filter, sort, first, after, last, before, aggregate and include_items, as far as
// the tags of T allow (MCP-AQL operations §4.4, collection querying §2, aggregations §2). With paging=page in the tag
// of the request it has page and page_size in place of first, after, last and before, and with paging=offset limit and
// offset. The tag keys filter, sort, group and sum name the fields of T that agents may filter, sort and group by, and
// add up; if no field has one, all texts, numbers, booleans and times may be filtered and sorted by, enums and booleans
// grouped by, and numbers added up.
//
// A handler ends with one of Slice, Pointers and Stream, with all elements that the caller may see, or with Page.
// Before that it may take parts of the query, for a database or an API: what it takes is its own to apply, and what it
// leaves the query applies. The order is total: elements that are equal in it are ordered by what identifies them. The
// zero Query, which no request brought, fails.
type Query[T any] struct {
	body collection.Query[T] // the scanner and the codec know it by its name
}

// Page is what a query answers: items, or summaries of all elements that match, or both. Only the methods of Query make
// one: a handler that returns another fails. With items, it has Info where requests name pages by cursors, and
// Pagination where they name them by numbers or offsets.
type Page[T any] struct {
	Items        []T                        `json:"items,omitzero"`         // Absent where only summaries were asked for
	Info         PageInfo                   `json:"pageInfo,omitzero"`      // Absent without items
	Pagination   Pagination                 `json:"pagination,omitzero"`    // Absent without items
	Aggregations map[string]json.RawMessage `json:"aggregations,omitempty"` // Summaries by their labels in the request

	of *collection.Bound // the query of the request
}

// PageInfo tells what is around a page (MCP-AQL pagination §3).
type PageInfo struct {
	HasNextPage     bool   `json:"hasNextPage"`           // Whether there are items behind the page
	HasPreviousPage bool   `json:"hasPreviousPage"`       // Whether there are items in front of it
	StartCursor     string `json:"startCursor,omitempty"` // Of the first item; for before
	EndCursor       string `json:"endCursor,omitempty"`   // Of the last item; for after
	TotalCount      *int   `json:"totalCount,omitempty"`  // How many items match, on all pages

	known bool
}

// IsZero reports whether nothing is known of a page, because the answer has none.
func (i PageInfo) IsZero() bool { return !i.known }

// Pagination tells which part of a collection a page is, in the styles without cursors: Page, PageSize and TotalPages
// where the operation has the tag paging=page, and Limit, Offset and Returned where it has paging=offset (MCP-AQL
// operations §4.4.3). Totals that are not known are nil.
type Pagination struct {
	Page       int  `json:"page"`                  // Number of the page, from 1
	PageSize   int  `json:"page_size"`             // How many items it may have
	Limit      int  `json:"limit"`                 // How many items it may have
	Offset     int  `json:"offset"`                // How many items are in front of it
	Returned   int  `json:"returned"`              // How many items it has
	TotalItems *int `json:"total_items,omitempty"` // How many items match, on all pages
	TotalPages *int `json:"total_pages,omitempty"` // How many pages they take
	HasMore    bool `json:"has_more"`              // Whether there are items behind the page

	known bool
}

// IsZero reports whether nothing is known of a page, because the answer has none.
func (p Pagination) IsZero() bool { return !p.known }

// errNoQuery is the error of a Query that did not come with a request.
var errNoQuery = errors.New("aql: the query was not read from a request")

// Slice answers from elements that are all in memory. It reads the slice, which must not change meanwhile, and does not
// keep it. The items of the page are shallow copies: the slices, maps and pointers in them lead to what those of the
// elements do, and are read until the answer is written, after the handler has returned. So replace what elements point
// to, and do not change it in place.
//
// An order and a page that were taken are applied all the same, and so is everything that a sqlquery.Table took: the
// handler may have found that the database is down.
func (q *Query[T]) Slice(ctx context.Context, all []T) (*Page[T], error) {
	b := q.body.Bound
	if b == nil {
		return nil, errNoQuery
	}
	found, err := b.Slice(ctx, unsafe.Pointer(unsafe.SliceData(all)), unsafe.Sizeof(*new(T)), len(all))
	return pageOf[T](b, found, err)
}

// Pointers is Slice for elements that are kept by pointer, which are copied as shallowly: an element may change once
// Pointers has returned, and what it points to may not. It leaves out nil.
func (q *Query[T]) Pointers(ctx context.Context, all []*T) (*Page[T], error) {
	b := q.body.Bound
	if b == nil {
		return nil, errNoQuery
	}
	places := unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(unsafe.SliceData(all))), len(all))
	found, err := b.Pointers(ctx, places)
	return pageOf[T](b, found, err)
}

// Stream answers from elements that come one by one, in bounded memory: that of a page and some more. An error that seq
// yields ends the answer and is returned. It reads no more than Options.Collections.MaxScanned elements, and stops as
// soon as the page is known: where the order was taken, that is one element behind the page. If it was not, a page by
// its number or an offset also takes the memory of what is in front of it, up to Options.Collections.MaxSkipped
// elements. Summaries need all elements, and the memory of their groups, of which Options.Collections.MaxGroups are
// allowed each.
//
// What a sqlquery.Table took is applied to the elements, unless they are rows of the table: those of a statement that
// its Select has written, until seq yields an error.
func (q *Query[T]) Stream(ctx context.Context, seq iter.Seq2[T, error]) (*Page[T], error) {
	b := q.body.Bound
	if b == nil {
		return nil, errNoQuery
	}
	if b.InOrder() {
		return q.ordered(ctx, seq)
	}
	var part [collection.BlockSize]T
	n := 0
	s := b.Stream(kept[T])
	for element, err := range seq {
		if err != nil {
			b.Applied = false // what comes next is from elsewhere
			return nil, err
		}
		part[n] = element
		if n++; n < len(part) {
			continue
		}
		if err := s.Add(ctx, unsafe.Pointer(&part), unsafe.Sizeof(element), n); err != nil {
			return pageOf[T](b, collection.Found{}, err)
		}
		n = 0
	}
	if err := s.Add(ctx, unsafe.Pointer(&part), unsafe.Sizeof(part[0]), n); err != nil {
		return pageOf[T](b, collection.Found{}, err)
	}
	found, err := s.Found()
	return pageOf[T](b, found, err)
}

// ordered is Stream for elements that come in the order of the query.
func (q *Query[T]) ordered(ctx context.Context, seq iter.Seq2[T, error]) (*Page[T], error) {
	b := q.body.Bound
	s := b.Stream(kept[T])
	var pair [2]T // an element and the one in front of it
	i := 0
	for element, err := range seq {
		if err != nil {
			b.Applied = false
			return nil, err
		}
		pair[i%2] = element
		more, err := s.Next(ctx, unsafe.Pointer(&pair[i%2]))
		if err != nil {
			return pageOf[T](b, collection.Found{}, err)
		}
		if i++; !more {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := s.Found()
	return pageOf[T](b, found, err)
}

// kept copies the element at p.
func kept[T any](p unsafe.Pointer) unsafe.Pointer {
	element := *(*T)(p)
	return unsafe.Pointer(&element)
}

// pageOf makes a page of what was found.
func pageOf[T any](b *collection.Bound, found collection.Found, err error) (*Page[T], error) {
	if b.Refused != nil {
		err = b.Refused
	}
	if errors.Is(err, collection.ErrScanned) {
		return nil, tooManyScanned(b.MaxScanned)
	}
	if errors.Is(err, collection.ErrSkipped) {
		return nil, tooManySkipped(b.MaxSkipped)
	}
	if errors.Is(err, collection.ErrGroups) {
		return nil, tooManyGroups(b.MaxGroups)
	}
	if err != nil {
		return nil, err
	}
	page := &Page[T]{of: b}
	if page.Aggregations, err = aggregations(found.Summed); b.Itemless || err != nil {
		return page, err
	}
	page.Items = make([]T, len(found.Items))
	for i, p := range found.Items {
		page.Items[i] = *(*T)(p)
	}
	if b.Seal != nil {
		page.Info = infoOf(b, &found)
	} else {
		page.Pagination = paginationOf(b, &found)
	}
	return page, nil
}

func infoOf(b *collection.Bound, found *collection.Found) PageInfo {
	info := PageInfo{HasNextPage: found.Next, HasPreviousPage: found.Previous, known: true}
	if found.Total != collection.Unknown {
		total := found.Total
		info.TotalCount = &total
	}
	if n := len(found.Items); n > 0 {
		info.StartCursor, info.EndCursor = b.Cursor(found.Items[0]), b.Cursor(found.Items[n-1])
	}
	return info
}

// lister compiles the lister of an operation that returns such pages; see listerOf.
func (*Page[T]) lister(set *codec.Set, o *gen.Bound, c *cursors) (lister, error) {
	return newListing(set, o, c)
}

func (p *Page[T]) madeBy() (query *collection.Bound, items int, more bool, total *int) {
	if p == nil || p.of == nil {
		return nil, 0, false, nil
	}
	more = p.Info.HasNextPage || p.Pagination.HasMore
	if p.of.Backward {
		more = p.Info.HasPreviousPage
	}
	return p.of, len(p.Items), more, cmp.Or(p.Info.TotalCount, p.Pagination.TotalItems)
}
