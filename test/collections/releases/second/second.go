// Package second lists parcels, as the second release of a service does.
package second

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Parcel is a parcel.
type Parcel struct {
	ParcelID string     `json:"parcel_id" aql:"id"`
	Weight   string     `json:"weight" aql:"sort"`
	Pieces   int64      `json:"pieces" aql:"sort"`
	SentAt   *time.Time `json:"sent_at" aql:"sort"`
	Color    string     `json:"color" aql:"filter,sort"`
}

// Depot keeps parcels.
type Depot struct{ Parcels []Parcel }

// ListRequest selects parcels.
type ListRequest struct {
	_ struct{} `aql:"category=READ,op=list_parcels"`
	aql.Query[Parcel]
}

// List lists parcels.
func (d *Depot) List(ctx context.Context, req ListRequest) (*aql.Page[Parcel], error) {
	return req.Slice(ctx, d.Parcels)
}

// ListOwnRequest selects parcels of the caller.
type ListOwnRequest struct {
	_ struct{} `aql:"category=READ,op=list_own_parcels"`
	aql.Query[Parcel]

	Depot string `json:"depot"` // Where they are
}

// ListOwn lists parcels of the caller.
func (d *Depot) ListOwn(ctx context.Context, req ListOwnRequest) (*aql.Page[Parcel], error) {
	return req.Slice(ctx, d.Parcels)
}
