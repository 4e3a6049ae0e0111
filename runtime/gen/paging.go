package gen

import "fmt"

// Paging is how requests name a page of a collection (MCP-AQL operations §4.4.3).
type Paging string

// The styles of paging: by cursors, by the number of a page, and by an offset.
const (
	PagingCursor Paging = "cursor"
	PagingPage   Paging = "page"
	PagingOffset Paging = "offset"
)

// Pagings lists the styles, the usual one first.
func Pagings() []Paging { return []Paging{PagingCursor, PagingPage, PagingOffset} }

// Params returns the names of the parameters of a style, which no operation with another style has.
func (p Paging) Params() []string {
	switch p {
	case PagingPage:
		return []string{"page", "page_size"}
	case PagingOffset:
		return []string{"limit", "offset"}
	default:
		return []string{"first", "after", "last", "before"}
	}
}

// The sizes of pages where the options of an adapter say no others.
const (
	PageSize    = 25
	MaxPageSize = 100
)

// PageDescription returns the description of a parameter of a style of paging, for pages of a size where a request
// gives none, and of a greatest size.
func PageDescription(name string, size, most int) string {
	switch name {
	case "first", "page_size":
		return fmt.Sprintf("Page size; %d if absent, %d at most", size, most)
	case "after":
		return "endCursor of the page before; repeat first, filter and sort"
	case "last":
		return fmt.Sprintf("As first, from the end; %d at most", most)
	case "before":
		return "startCursor of the page behind, with last"
	case "page":
		return "Number of the page; 1 where none is given"
	case "limit":
		return fmt.Sprintf("How many items; %d if absent, %d at most", size, most)
	default: // offset
		return "How many items to skip; 0 where none is given"
	}
}
