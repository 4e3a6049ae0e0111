// Package south lists goods and computes their owner.
package south

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/merged/goods"
)

// Depot has goods.
type Depot struct{ Owner string }

// ListRequest selects fields.
type ListRequest struct {
	_ struct{} `aql:"category=READ,op=list_south"`
	aql.Fields
}

// List lists goods.
func (s *Depot) List(context.Context, ListRequest) ([]*goods.Good, error) {
	return []*goods.Good{{GoodID: "s"}}, nil
}

// Owners tells who owns goods.
//
//aql:computed name=owner
func (s *Depot) Owners(_ context.Context, all []*goods.Good) ([]goods.Owner, error) {
	owners := make([]goods.Owner, len(all))
	for i := range owners {
		owners[i] = goods.Owner{Name: s.Owner, Phone: "555"}
	}
	return owners, nil
}
