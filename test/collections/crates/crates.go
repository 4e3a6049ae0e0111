// Package crates lists elements with computed fields, some of which have the values of stored ones.
package crates

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Crate is a crate.
type Crate struct {
	PartID  string     `json:"part_id" aql:"id,filter,sort,preset=minimal"`
	Lot     int        `json:"lot" aql:"id"`
	Title   string     `json:"title" aql:"filter,sort"`
	Minutes int64      `json:"minutes" aql:"filter,sort"`
	SoldAt  *time.Time `json:"sold_at" aql:"filter,sort"`
	Tags    []string   `json:"tags" aql:"filter"`
	Checked bool       `json:"checked" aql:"filter,sort"`

	Calls *Calls `json:"-"`
}

// Calls count the calls of what computes fields.
type Calls struct {
	Names    int // of SameTitle
	Totals   int // of Totals
	Elements int // that Totals was called with
}

// SameTitle is the title.
//
//aql:computed filter,sort
func (c *Crate) SameTitle() string {
	if c.Calls != nil {
		c.Calls.Names++
	}
	return c.Title
}

// SameMinutes is the minutes.
//
//aql:computed filter,sort,preset=rich|full
func (c *Crate) SameMinutes(ctx context.Context) int64 {
	if ctx.Value(Panics{}) != nil {
		panic("no minutes")
	}
	if ask, ok := ctx.Value(Asks{}).(func()); ok {
		ask()
	}
	return c.Minutes
}

// SameSoldAt is when it was sold.
//
//aql:computed filter,sort
func (c Crate) SameSoldAt() *time.Time { return c.SoldAt }

// SameTags are the tags.
//
//aql:computed filter
func (c *Crate) SameTags() []string { return c.Tags }

// SameChecked tells whether it was checked.
//
//aql:computed filter,sort
func (c *Crate) SameChecked() bool { return c.Checked }

// Total is what a crate sums up to.
type Total struct {
	Sum    int64  `json:"sum"`
	Tenant string `json:"tenant"` // Whose crate it is
	Reason string `json:"reason"`
}

// Panics is the key of a context in which computed fields panic.
type Panics struct{}

// Asks is the key of a context with a func() that computed fields call.
type Asks struct{}

// Tenant is the key of a context that has a tenant.
type Tenant struct{}

// Wrong is the key of a context that says what goes wrong.
type Wrong struct{}

// Totals sums crates up.
//
//aql:computed name=total,preset=rich
func (s *Scale) Totals(ctx context.Context, crates []*Crate) ([]*Total, error) {
	switch ctx.Value(Wrong{}) {
	case "failure":
		return nil, errors.New("the scale is broken")
	case "length":
		return make([]*Total, len(crates)+1), nil
	case "panic":
		panic("the scale fell over")
	}
	totals := make([]*Total, len(crates))
	for i, c := range crates {
		if c.Minutes > 0 {
			tenant, _ := ctx.Value(Tenant{}).(string)
			totals[i] = &Total{c.Minutes * 2, tenant, s.Reason}
		}
	}
	if len(crates) > 0 && crates[0].Calls != nil {
		crates[0].Calls.Totals++
		crates[0].Calls.Elements += len(crates)
	}
	return totals, ctx.Err()
}

// Scale weighs crates.
type Scale struct{ Reason string }

// Depot keeps crates.
type Depot struct {
	Crates []Crate
	Cancel context.CancelFunc // nil: nothing is cancelled
	// Answer ends queries in place of ListSlice; nil: it does.
	Answer func(ctx context.Context, query *aql.Query[Crate]) (*aql.Page[Crate], error)
}

// SliceRequest selects crates.
type SliceRequest struct {
	_ struct{} `aql:"category=READ,op=list_crates"`
	aql.Query[Crate]
	aql.Fields
}

// ListSlice lists crates that are in one slice.
func (d *Depot) ListSlice(ctx context.Context, req SliceRequest) (*aql.Page[Crate], error) {
	if d.Answer != nil {
		return d.Answer(ctx, &req.Query)
	}
	page, err := req.Slice(ctx, d.Crates)
	if d.Cancel != nil {
		d.Cancel()
	}
	return page, err
}

// PointersRequest selects crates.
type PointersRequest struct {
	_ struct{} `aql:"category=READ,op=list_crate_pointers"`
	aql.Query[Crate]
	aql.Fields
}

// ListPointers lists crates that are kept by pointer.
func (d *Depot) ListPointers(ctx context.Context, req PointersRequest) (*aql.Page[Crate], error) {
	all := make([]*Crate, len(d.Crates))
	for i := range d.Crates {
		all[i] = &d.Crates[i]
	}
	return req.Pointers(ctx, all)
}

// StreamRequest selects crates.
type StreamRequest struct {
	_ struct{} `aql:"category=READ,op=list_crate_stream"`
	aql.Query[Crate]
	aql.Fields
}

// ListStream lists crates that come one by one.
func (d *Depot) ListStream(ctx context.Context, req StreamRequest) (*aql.Page[Crate], error) {
	return req.Stream(ctx, func(yield func(Crate, error) bool) {
		for _, c := range d.Crates {
			if !yield(c, nil) {
				return
			}
		}
	})
}

// TakenRequest selects crates.
type TakenRequest struct {
	_ struct{} `aql:"category=READ,op=list_taken_crates"`
	aql.Query[Crate]
	aql.Fields
}

// ListTaken lists crates in the order that was taken, if it is by what identifies them. It fails where it is given what
// only the query can apply.
func (d *Depot) ListTaken(ctx context.Context, req TakenRequest) (*aql.Page[Crate], error) {
	for _, name := range []string{"same_title", "same_minutes", "same_sold_at", "same_tags", "same_checked"} {
		_, condition := req.Take("_computed." + name)
		_, order := req.TakeSort("_computed." + name)
		if condition || order {
			return nil, errors.New("a computed field was taken: " + name)
		}
	}
	order, ok := req.TakeSort("part_id")
	if !ok {
		return req.Slice(ctx, d.Crates)
	}
	sorted := slices.SortedFunc(slices.Values(d.Crates), func(a, b Crate) int {
		if order[0].Descending {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.PartID, b.PartID), cmp.Compare(a.Lot, b.Lot))
	})
	return req.Stream(ctx, func(yield func(Crate, error) bool) {
		for _, c := range sorted {
			if !yield(c, nil) {
				return
			}
		}
	})
}

// GetRequest selects fields.
type GetRequest struct {
	_ struct{} `aql:"category=READ,op=get_crate"`
	aql.Fields

	At int `json:"at" aql:"required"` // Index of the crate
}

// GetCrate reads a crate.
func (d *Depot) GetCrate(_ context.Context, req GetRequest) (Crate, error) {
	return d.Crates[req.At], nil
}

// ShelvesRequest selects fields.
type ShelvesRequest struct {
	_ struct{} `aql:"category=READ,op=list_shelves"`
	aql.Fields
}

// ListShelves lists the crates of each shelf.
func (d *Depot) ListShelves(context.Context, ShelvesRequest) ([][]*Crate, error) {
	var shelves [][]*Crate
	for i := range d.Crates {
		shelves = append(shelves, []*Crate{&d.Crates[i], nil})
	}
	return shelves, nil
}

// NoneRequest has no choice of fields.
type NoneRequest struct {
	_ struct{} `aql:"category=READ,op=any_crate"`
}

// AnyCrate reads a crate as it is.
func (d *Depot) AnyCrate(context.Context, NoneRequest) (*Crate, error) { return &d.Crates[0], nil }
