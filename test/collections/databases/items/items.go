// Package items lists items as a test wants it: from memory, or from a database.
package items

//go:generate go tool aql-tag

import (
	"context"
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

// Maker is who makes items.
type Maker struct {
	Name string `json:"name" aql:"filter,sort,group"`
	Rank *int   `json:"rank" aql:"filter,sort,group,sum"`
}

// Plan says when an item is made again.
type Plan struct {
	DueAt time.Time `json:"due_at" aql:"filter,sort"`
}

// Item is an element of each kind that a column may have.
type Item struct {
	ItemID  string     `json:"item_id" aql:"id,filter,sort"`
	Lot     int8       `json:"lot" aql:"id,filter,sort,sum"`
	Title   string     `json:"title" aql:"filter,sort,search,group"`
	Note    *string    `json:"note" aql:"filter,sort,search,group"`
	Grade   Grade      `json:"grade" aql:"filter,sort,group"`
	Former  *Grade     `json:"former" aql:"filter,sort,group"`
	Minutes int        `json:"minutes" aql:"filter,sort,group,sum"`
	Stock   *int64     `json:"stock" aql:"filter,sort,group,sum"`
	Weight  float64    `json:"weight" aql:"filter,sort,sum"`
	Share   *float64   `json:"share" aql:"filter,sort,sum"`
	Ratio   float32    `json:"ratio" aql:"filter,sort,sum"`
	Checked bool       `json:"checked" aql:"filter,sort,group"`
	Sealed  *bool      `json:"sealed" aql:"filter,sort,group"`
	MadeAt  time.Time  `json:"made_at" aql:"filter,sort"`
	SoldAt  *time.Time `json:"sold_at" aql:"filter,sort"`
	Tags    []string   `json:"tags" aql:"filter,search,group"`
	Counts  []int      `json:"counts" aql:"filter,group"`
	Maker   Maker      `json:"maker"`
	Plan    *Plan      `json:"plan"`

	Serial  uint64                `json:"serial" aql:"filter,sort,group,sum"`
	Address netip.Addr            `json:"address" aql:"filter,sort,group"`
	SeenAt  time.Time             `json:"seen_at,omitzero" aql:"filter,sort"`
	Reserve aql.Optional[float64] `json:"reserve" aql:"filter,sort,sum"`
	Marks   []Grade               `json:"marks" aql:"filter,group"`
	Parts   []float64             `json:"parts" aql:"filter"`
	Flags   []bool                `json:"flags" aql:"filter,group"`
}

// Service lists items.
type Service struct {
	// Answer ends the query of a request.
	Answer func(ctx context.Context, query *aql.Query[Item]) (*aql.Page[Item], error)
}

// ListItemsRequest selects items.
type ListItemsRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Item]
}

// ListItems lists items.
func (s *Service) ListItems(ctx context.Context, req ListItemsRequest) (*aql.Page[Item], error) {
	return s.Answer(ctx, &req.Query)
}

// SearchItemsRequest looks for items.
type SearchItemsRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Item]
}

// SearchItems lists items whose texts have words.
func (s *Service) SearchItems(ctx context.Context, req SearchItemsRequest) (*aql.Page[Item], error) {
	return s.Answer(ctx, &req.Query)
}

// SkipItemsRequest selects items by an offset.
type SkipItemsRequest struct {
	_ struct{} `aql:"category=READ,paging=offset"`
	aql.Query[Item]
}

// SkipItems lists items behind an offset.
func (s *Service) SkipItems(ctx context.Context, req SkipItemsRequest) (*aql.Page[Item], error) {
	return s.Answer(ctx, &req.Query)
}
