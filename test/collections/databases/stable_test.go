package databases

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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

// writing is how many goroutines write at the same time.
const writing = 4

// REQ-PG-05: whoever walks through a table sees each row that stays once, while several writers insert and delete
// others, among them the very rows of the cursors.
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
			w := &writers{database: d, turns: make(chan struct{}, allowed)}
			for range passing {
				w.insert(t, r)
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

	turns chan struct{} // one for each row that may be inserted

	mutex  sync.Mutex   // not held while a row is written
	there  []items.Item // which do not stay, and which nobody deletes yet
	writes int
}

// insert inserts a row that was never there, anywhere in the order.
func (w *writers) insert(t *testing.T, r random) {
	w.mutex.Lock()
	w.writes++
	prefix := []string{"goes", "zz", "A"}[r.IntN(3)]
	one := r.itemOf(fmt.Sprint(prefix, r.Uint32(), "-", w.writes))
	w.mutex.Unlock()
	if _, err := w.ExecContext(t.Context(), w.database.insert("items"), w.values(&one)...); err != nil {
		t.Errorf("inserting: %v", err)
		return
	}
	w.mutex.Lock()
	w.there = append(w.there, one)
	w.mutex.Unlock()
}

// remove deletes the row at the index that choose returns, which is negative for none. Two writers delete no row both.
func (w *writers) remove(t *testing.T, choose func(there []items.Item) int) bool {
	w.mutex.Lock()
	i := choose(w.there)
	if i < 0 {
		w.mutex.Unlock()
		return false
	}
	one := w.there[i]
	w.there[i] = w.there[len(w.there)-1]
	w.there = w.there[:len(w.there)-1]
	w.writes++
	w.mutex.Unlock()
	statement := "DELETE FROM items WHERE item_id = ? AND lot = ?" // the whole key, so that MariaDB locks nothing else
	if w.kind.numbers {
		statement = "DELETE FROM items WHERE item_id = $1 AND lot = $2"
	}
	if _, err := w.ExecContext(t.Context(), statement, one.ItemID, int64(one.Lot)); err != nil {
		t.Errorf("deleting: %v", err)
	}
	return true
}

// removeOne deletes a row, if it is there and does not stay.
func (w *writers) removeOne(t *testing.T, id string) bool {
	return w.remove(t, func(there []items.Item) int {
		return slices.IndexFunc(there, func(one items.Item) bool { return one.ItemID == id })
	})
}

// start writes until the function that it returns is called. As many rows go as come.
func (w *writers) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range writing {
		r := random{rand.New(rand.NewPCG(*seed, uint64(2+i)))}
		all.Go(func() { w.write(ctx, t, r) })
	}
	stop = func() {
		cancel()
		all.Wait()
	}
	t.Cleanup(stop) // if the test ends before it calls it
	return stop
}

// write inserts a row for each turn, and deletes one where there are enough, until ctx ends.
func (w *writers) write(ctx context.Context, t *testing.T, r random) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.turns:
		}
		w.insert(t, r)
		for w.remove(t, func(there []items.Item) int {
			if len(there) <= passing {
				return -1
			}
			return r.IntN(len(there))
		}) {
		}
	}
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
		if w.removeOne(t, p.Data.Items[edge]["item_id"].(string)) {
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
