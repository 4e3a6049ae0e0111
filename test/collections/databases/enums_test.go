package databases

import (
	"testing"

	"github.com/aqltag/aqltag/test/collections/databases/items"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// Values that are none of an enum's constants are behind them, in the order of their texts: in databases as in memory.
func TestUnknownValuesOfEnumsAgree(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			all := r.items(60)
			for i, grade := range []items.Grade{"zeta", "alpha", "Zeta", "beta", "alpha", "", "poor ", "great", "fairer"} {
				if i < len(all) {
					all[i].Grade = grade
					all[len(all)-1-i].Former = &grade
				}
			}
			memory := inMemory(t)[0]
			memory.load(t, all)
			d.load(t, all)
			for _, by := range []string{"grade", "former"} {
				for _, descending := range []bool{false, true} {
					for size := 1; size < 4; size++ {
						query := map[string]any{"sort": reference.Order(by, descending)}
						for _, forward := range []bool{true, false} {
							walk(t, []source{memory, d.source(t)}, query, size, forward, len(all))
						}
					}
				}
			}
		})
	}
}
