package parts

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// NumberedRequest selects parts by the number of a page.
type NumberedRequest struct {
	_ struct{} `aql:"category=READ,op=list_numbered,paging=page"`
	aql.Query[Part]
	aql.Fields

	From string `json:"from" aql:"enum=slice|pointers|stream|taken,default=slice"` // Where parts are kept
}

// Numbered lists parts on pages that have numbers.
func (s *Store) Numbered(ctx context.Context, req NumberedRequest) (*aql.Page[Part], error) {
	return s.from(ctx, &req.Query, req.From)
}

// OffsetRequest selects parts by an offset.
type OffsetRequest struct {
	_ struct{} `aql:"category=READ,op=list_offset,paging=offset"`
	aql.Query[Part]
	aql.Fields

	From string `json:"from" aql:"enum=slice|pointers|stream|taken,default=slice"` // Where parts are kept
}

// Offset lists parts behind an offset.
func (s *Store) Offset(ctx context.Context, req OffsetRequest) (*aql.Page[Part], error) {
	return s.from(ctx, &req.Query, req.From)
}

// from answers a query from one of the places where parts are kept.
func (s *Store) from(ctx context.Context, q *aql.Query[Part], place string) (*aql.Page[Part], error) {
	switch place {
	case "pointers":
		all := make([]*Part, len(s.Parts))
		for i := range s.Parts {
			all[i] = &s.Parts[i]
		}
		return q.Pointers(ctx, all)
	case "taken":
		return s.Answer(ctx, q)
	case "stream":
		return q.Stream(ctx, s.each())
	default:
		return q.Slice(ctx, s.Parts)
	}
}
