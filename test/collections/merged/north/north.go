// Package north lists goods and computes their owner.
package north

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/merged/goods"
)

// Store has goods.
type Store struct{ Owner string }

// ListRequest selects fields.
type ListRequest struct {
	_ struct{} `aql:"category=READ,op=list_north"`
	aql.Fields
}

// List lists goods.
func (s *Store) List(context.Context, ListRequest) ([]*goods.Good, error) {
	return []*goods.Good{{GoodID: "n"}}, nil
}

// Owners tells who owns goods.
//
//aql:computed name=owner
func (s *Store) Owners(_ context.Context, all []*goods.Good) ([]goods.Owner, error) {
	owners := make([]goods.Owner, len(all))
	for i := range owners {
		owners[i] = goods.Owner{Name: s.Owner, Phone: "555"}
	}
	return owners, nil
}
