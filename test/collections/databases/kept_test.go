package databases

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/test/collections/databases/items"
)

// Each database keeps items so that they are read as they were: what sources disagree about is the query.
func TestItemsAreKept(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			for range 5 {
				want := r.items(60)
				d.load(t, want)
				got := d.all(t)
				for _, list := range [][]items.Item{want, got} {
					slices.SortFunc(list, func(a, b items.Item) int {
						return cmp.Or(cmp.Compare(a.ItemID, b.ItemID), cmp.Compare(a.Lot, b.Lot))
					})
				}
				if diff := gocmp.Diff(elementsOf(t, want), elementsOf(t, got)); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// all reads all items, in any order.
func (d *database) all(t *testing.T) (all []items.Item) {
	t.Helper()
	rows, err := d.QueryContext(t.Context(), "SELECT "+d.selected("")+" FROM items")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		one, err := d.scan(rows)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
