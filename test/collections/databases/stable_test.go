package databases

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/test/collections/databases/items"
)

// staying is how many items are in a table throughout a walk, and passing how many others are there at most. allowed is
// how many rows are inserted at most while a page is read: a database that nobody vacuums is slower the more rows were
// deleted, and a walk that is slower than its writers would not end.
const (
	staying = 300
	passing = 120
	allowed = 100
)

// REQ-PG-05: whoever walks through a table sees each row that stays once, while others are inserted and deleted, among
// them the very rows of the cursors.
func TestWalksAmongWrites(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			s := d.source(t)
			var all []items.Item
			for i := range staying {
				all = append(all, r.itemOf(fmt.Sprint("stays", i)))
			}
			d.load(t, all)
			w := &writers{database: d, random: random{rand.New(rand.NewPCG(*seed, 2))}, turns: make(chan struct{}, allowed)}
			for range passing {
				w.insert(t.Context(), t)
			}
			stop := w.start(t)
			removed := 0
			fields := []string{"sold_at", "made_at", "item_id", "title", "minutes", "former", "maker.rank"}
			if testing.Short() {
				fields = fields[:2]
			}
			for _, by := range fields {
				for _, order := range []string{"asc", "desc"} {
					query := map[string]any{"sort": map[string]any{"field": by, "order": order}}
					for _, forward := range []bool{true, false} {
						removed += w.walk(t, s, query, forward)
					}
				}
			}
			stop()
			t.Logf("%d writes, and %d rows of cursors deleted", w.writes, removed)
			if removed == 0 {
				t.Error("no row of a cursor was deleted")
			}
		})
	}
}

// itemOf makes a random item.
func (r random) itemOf(id string) items.Item {
	one := r.items(1)[0]
	one.ItemID = id
	return one
}

// writers insert and delete rows that do not stay.
type writers struct {
	*database
	random

	turns chan struct{} // one for each row that may be inserted

	mutex  sync.Mutex
	there  []items.Item // which do not stay
	writes int
}

// insert inserts a row that was never there, anywhere in the order.
func (w *writers) insert(ctx context.Context, t *testing.T) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	prefix := []string{"goes", "zz", "A"}[w.IntN(3)]
	one := w.itemOf(fmt.Sprint(prefix, w.Uint32(), "-", w.writes))
	if _, err := w.ExecContext(ctx, w.database.insert("items"), w.values(&one)...); err != nil && ctx.Err() == nil {
		t.Errorf("inserting: %v", err)
	}
	w.there = append(w.there, one)
	w.writes++
}

// remove deletes the row at an index.
func (w *writers) remove(ctx context.Context, t *testing.T, i int) {
	statement := "DELETE FROM items WHERE item_id = ?"
	if w.kind.numbers {
		statement = "DELETE FROM items WHERE item_id = $1"
	}
	if _, err := w.ExecContext(ctx, statement, w.there[i].ItemID); err != nil && ctx.Err() == nil {
		t.Errorf("deleting: %v", err)
	}
	w.there[i] = w.there[len(w.there)-1]
	w.there = w.there[:len(w.there)-1]
	w.writes++
}

// removeOne deletes a row, if it is there and does not stay.
func (w *writers) removeOne(ctx context.Context, t *testing.T, id string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for i := range w.there {
		if w.there[i].ItemID == id {
			w.remove(ctx, t, i)
			return true
		}
	}
	return false
}

// start writes until the function that it returns is called. As many rows go as come.
func (w *writers) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.turns:
			}
			w.insert(t.Context(), t)
			w.mutex.Lock()
			for len(w.there) > passing {
				w.remove(t.Context(), t, w.IntN(len(w.there)))
			}
			w.mutex.Unlock()
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop) // if the test ends before it calls it
	return stop
}

// allow lets as many rows be inserted as may be while a page is read.
func (w *writers) allow() {
	for {
		select {
		case w.turns <- struct{}{}:
		default:
			return
		}
	}
}

// walk walks through all pages and deletes the rows of cursors that do not stay; it returns how many.
func (w *writers) walk(t *testing.T, s source, query map[string]any, forward bool) (removed int) {
	t.Helper()
	seen := map[string]int{}
	for cursor, pages := "", 0; ; pages++ {
		w.allow()
		p := s.ask(t, paged(query, 7, forward, cursor))
		for _, one := range p.Data.Items {
			seen[one["item_id"].(string)]++
		}
		more, edge := p.Data.PageInfo.HasPreviousPage, 0
		cursor = p.Data.PageInfo.StartCursor
		if forward {
			more, edge, cursor = p.Data.PageInfo.HasNextPage, len(p.Data.Items)-1, p.Data.PageInfo.EndCursor
		}
		if !more {
			break
		}
		if pages > 100*staying {
			t.Fatalf("%s: the walk does not end", encode(t, query))
		}
		if w.removeOne(t.Context(), t, p.Data.Items[edge]["item_id"].(string)) {
			removed++
		}
	}
	for i := range staying {
		if n := seen[fmt.Sprint("stays", i)]; n != 1 {
			t.Fatalf("%s, forward %t: the row stays%d is seen %d times", encode(t, query), forward, i, n)
		}
	}
	for id, n := range seen {
		if n > 1 {
			t.Fatalf("%s, forward %t: the row %s is seen %d times", encode(t, query), forward, id, n)
		}
	}
	return removed
}
