// Package parts lists elements of every kind that a collection may have, from a slice, from pointers and from an
// iterator.
package parts

import (
	"context"
	"database/sql"
	"iter"
	"net/netip"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Grade is a grade. Its values are not in the order of their names.
type Grade string

// The grades.
const (
	Poor  Grade = "poor"
	Fair  Grade = "fair"
	Great Grade = "great"
)

// Origin is where a part comes from.
type Origin struct {
	Country string `json:"country" aql:"filter,sort,group"`
}

// Maker is who makes parts.
type Maker struct {
	Name  string  `json:"name" aql:"filter,sort,group"`
	Rank  *int    `json:"rank" aql:"filter,sort,group,sum"`
	Codes []int32 `json:"codes" aql:"filter,group"`
	Phone string  `json:"phone"`
}

// Step is a part of a plan.
type Step struct {
	Grade Grade  `json:"grade" aql:"filter,sort,group"`
	Count uint16 `json:"count" aql:"filter=eq|lt|null,sort,sum"`
}

// Plan says when a part is made again.
type Plan struct {
	DueAt time.Time           `json:"due_at" aql:"filter,sort"`
	Step  aql.Optional[*Step] `json:"step"`
}

// Part is an element.
type Part struct {
	Origin
	PartID  string                `json:"part_id" aql:"id,filter,sort"`
	Lot     int8                  `json:"lot" aql:"id,filter,sort"`
	Title   string                `json:"title" aql:"filter,sort,search,group"`
	Note    *string               `json:"note" aql:"filter,sort,group"`
	Grade   Grade                 `json:"grade" aql:"filter,sort,group"`
	Minutes int                   `json:"minutes" aql:"filter,sort,group,sum"`
	Serial  uint64                `json:"serial" aql:"filter,sort,group,sum"`
	Small   uint8                 `json:"small" aql:"filter,sort,sum"`
	Weight  float64               `json:"weight" aql:"filter,sort,sum"`
	Ratio   float32               `json:"ratio" aql:"filter,sort,sum"`
	Checked bool                  `json:"checked" aql:"filter,sort,group"`
	MadeAt  time.Time             `json:"made_at" aql:"filter,sort"`
	SoldAt  *time.Time            `json:"sold_at,omitempty" aql:"filter,sort"`
	SeenAt  time.Time             `json:"seen_at,omitzero" aql:"filter,sort"`
	Address netip.Addr            `json:"address" aql:"filter,sort,group"`
	Stock   sql.Null[int64]       `json:"stock" aql:"filter,sort,group,sum"`
	Reserve aql.Optional[float64] `json:"reserve" aql:"filter,sort,sum"`
	Tags    []string              `json:"tags" aql:"filter,search,group"`
	Counts  []int                 `json:"counts" aql:"filter,group"`
	Grades  []Grade               `json:"grades" aql:"filter,group"`
	Deep    **int                 `json:"deep" aql:"filter,sort,group,sum"`
	Maker   Maker                 `json:"maker"`
	Plan    *Plan                 `json:"plan"`
}

// Store has parts.
type Store struct {
	Parts []Part
	last  *aql.Page[Part]

	// Answer answers the operations that take parts of their queries.
	Answer func(ctx context.Context, q *aql.Query[Part]) (*aql.Page[Part], error)
}

// SliceRequest selects parts.
type SliceRequest struct {
	_ struct{} `aql:"category=READ,op=list_slice"`
	aql.Query[Part]
}

// Slice lists parts that are in one slice.
func (s *Store) Slice(ctx context.Context, req SliceRequest) (*aql.Page[Part], error) {
	return req.Slice(ctx, s.Parts)
}

// PointersRequest selects parts.
type PointersRequest struct {
	_ struct{} `aql:"category=READ,op=list_pointers"`
	aql.Query[Part]
}

// Pointers lists parts that are kept by pointer.
func (s *Store) Pointers(ctx context.Context, req PointersRequest) (*aql.Page[Part], error) {
	return req.Pointers(ctx, s.pointers())
}

// pointers are those to the parts.
func (s *Store) pointers() []*Part {
	all := make([]*Part, len(s.Parts))
	for i := range s.Parts {
		all[i] = &s.Parts[i]
	}
	return all
}

// StreamRequest selects parts.
type StreamRequest struct {
	_ struct{} `aql:"category=READ,op=list_stream"`
	aql.Query[Part]
}

// Stream lists parts that come one by one.
func (s *Store) Stream(ctx context.Context, req StreamRequest) (*aql.Page[Part], error) {
	return req.Stream(ctx, s.each())
}

// each yields the parts.
func (s *Store) each() iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		for _, p := range s.Parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// OwnRequest selects parts.
type OwnRequest struct {
	_ struct{} `aql:"category=READ,op=list_own"`
	aql.Query[Part]

	How    string `json:"how" aql:"alias=manner"` // Whose page it is
	Preset string `json:"preset"`                 // What machines were set to
}

// Own lists parts, and may answer with another page.
func (s *Store) Own(ctx context.Context, req OwnRequest) (*aql.Page[Part], error) {
	switch req.How {
	case "made by hand":
		return &aql.Page[Part]{Items: s.Parts}, nil
	case "none":
		return nil, nil
	case "of another request":
		return s.last, nil
	default:
		page, err := req.Slice(ctx, s.Parts)
		s.last = page
		return page, err
	}
}

// SearchRequest looks for parts.
type SearchRequest struct {
	_ struct{} `aql:"category=READ,op=search_parts"`
	aql.Query[Part]
}

// Search finds parts.
func (s *Store) Search(ctx context.Context, req SearchRequest) (*aql.Page[Part], error) {
	return req.Slice(ctx, s.Parts)
}

// SearchPointersRequest looks for parts.
type SearchPointersRequest struct {
	_ struct{} `aql:"category=READ,op=search_pointers"`
	aql.Query[Part]
}

// SearchPointers finds parts that are kept by pointer.
func (s *Store) SearchPointers(ctx context.Context, req SearchPointersRequest) (*aql.Page[Part], error) {
	return req.Pointers(ctx, s.pointers())
}

// SearchStreamRequest looks for parts.
type SearchStreamRequest struct {
	_ struct{} `aql:"category=READ,op=search_stream"`
	aql.Query[Part]
}

// SearchStream finds parts that come one by one.
func (s *Store) SearchStream(ctx context.Context, req SearchStreamRequest) (*aql.Page[Part], error) {
	return req.Stream(ctx, s.each())
}
