package scan

import (
	"slices"

	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// pagingOf returns how requests of an operation name a page of its collection.
func pagingOf(o operation) gen.Paging {
	item, _ := tags.Find(o.items, "paging")
	if paging := gen.Paging(item.Value); slices.Contains(gen.Pagings(), paging) {
		return paging
	}
	return gen.PagingCursor
}

// queryParams returns the names of the parameters that aql.Query gives an operation.
func queryParams(o operation) []string {
	return append([]string{"filter", "sort", "aggregate", "include_items"}, pagingOf(o).Params()...)
}

// isOfOtherPaging reports whether a parameter of aql.Query belongs to another style than paging.
func isOfOtherPaging(f shapes.Field, paging gen.Paging) bool {
	return isQueryField(f) && slices.ContainsFunc(gen.Pagings(), func(other gen.Paging) bool {
		return other != paging && slices.Contains(other.Params(), f.Param.Name)
	})
}

// pageKey is a type aql.Page[T], or a pointer to it, in a style of paging.
type pageKey struct {
	shape  *shapes.Shape
	paging gen.Paging
}

// paged returns what agents see of a page in a style of paging. The types of two styles have names of their own, so
// that one package may have both.
func (b *builder) paged(page *shapes.Shape, paging gen.Paging) *shapes.Shape {
	key := pageKey{page, paging}
	if known := b.pages[key]; known != nil {
		return known
	}
	out := page.Clone()
	b.pages[key] = out
	if page.Kind == shapes.Pointer {
		out.Elem = b.paged(page.Elem, paging)
		return out
	}
	around, prefix := "pagination", ""
	switch paging {
	case gen.PagingCursor:
		around = "pageInfo"
	case gen.PagingPage:
		prefix = "Numbered"
	case gen.PagingOffset:
		prefix = "Offset"
	}
	out.Go.Name = prefix + out.Go.Name
	out.Fields = slices.DeleteFunc(out.Fields, func(f shapes.Field) bool {
		return f.Param.Name != around && (f.Param.Name == "pageInfo" || f.Param.Name == "pagination")
	})
	for i := range out.Fields {
		if f := &out.Fields[i]; f.Param.Name == "pagination" {
			f.Param.OmitZero, f.Shape = false, b.pagination(f.Shape, paging)
		}
	}
	return out
}

// pagination returns what agents see around a page in a style without cursors.
func (b *builder) pagination(shape *shapes.Shape, paging gen.Paging) *shapes.Shape {
	key := pageKey{shape, paging}
	if known := b.pages[key]; known != nil {
		return known
	}
	out := shape.Clone()
	b.pages[key] = out
	gone := []string{"limit", "offset", "returned"}
	out.Go.Name = "NumberedPageInfo"
	if paging == gen.PagingOffset {
		gone = []string{"page", "page_size", "total_pages"}
		out.Go.Name = "OffsetPageInfo"
	}
	out.Fields = slices.DeleteFunc(out.Fields, func(f shapes.Field) bool { return slices.Contains(gone, f.Param.Name) })
	return out
}
