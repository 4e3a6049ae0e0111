package execution

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/aqltag/aqltag/runtime/store"
)

// Query says which executions of a caller List returns.
type Query struct {
	CallerKey string
	State     State  // empty: any
	Operation string // empty: any
	First     int    // how many; at least 1
	After     string // Page.End of the page before; empty: from the newest one on
}

// Page are executions, the newest first.
type Page struct {
	Records []*Record
	// Start is the place of the first record; empty: there is none. End is where the page ends, and More says that others
	// may follow. A page may have fewer than were asked for, or none, although there are more.
	Start, End string
	More       bool
}

// mostLooked is how many executions one page looks at.
const mostLooked = 1000

// List returns executions of a caller.
func (e *Engine) List(ctx context.Context, q Query) (*Page, error) {
	page := &Page{}
	prefix := e.ownerPrefix(q.CallerKey)
	after := ""
	if q.After != "" {
		after = prefix + q.After
	}
	for looked := 0; ; {
		const chunk = 100
		entries, err := e.o.Store.List(ctx, prefix, after, chunk)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if len(page.Records) == q.First || looked == mostLooked {
				page.More = true
				return page, nil
			}
			looked++
			page.End, after = entry.Key[len(prefix):], entry.Key
			if q.leavesOut(entry) {
				continue
			}
			r, err := e.read(ctx, lastOf(entry.Key))
			if err == nil {
				r, err = e.heard(ctx, r)
			}
			switch {
			case errors.Is(err, errFormat):
				continue
			case err != nil:
				return nil, err
			case r == nil, r.Buried, r.CallerKey != q.CallerKey, q.State != "" && r.State != q.State,
				q.Operation != "" && r.Operation != q.Operation:
				continue
			}
			if len(page.Records) == 0 {
				page.Start = page.End
			}
			page.Records = append(page.Records, r)
		}
		if len(entries) < chunk {
			return page, nil
		}
	}
}

// owned is the value of an entry of whose executions there are: what never changes of an execution, so that those that
// a filter leaves out need not be read. Everything else is in the record, which is read for what is shown.
type owned struct {
	Operation string `json:"operation"`
	// Ended is the state of an execution that has ended completed or cancelled, which are final. It is written after the
	// record. Empty: the record says what it is.
	Ended State `json:"ended,omitempty"`
}

// ownedBy returns the value of the entry of an execution. Its record, if it has ended, is in the store.
func ownedBy(r *Record) []byte {
	o := owned{Operation: r.Operation}
	if r.State == Completed || r.State == Cancelled {
		o.Ended = r.State
	}
	text, _ := json.Marshal(o) // of two texts
	return text
}

// leavesOut reports whether the entry of an execution tells that the query leaves it out.
func (q *Query) leavesOut(entry store.Entry) bool {
	var o owned
	if json.Unmarshal(unmarked(entry.Value), &o) != nil {
		return false
	}
	return q.Operation != "" && o.Operation != "" && o.Operation != q.Operation ||
		q.State != "" && o.Ended != "" && o.Ended != q.State
}

// Outstanding counts what the store has of executions, for tests and for those who watch an adapter: queued ones, but
// for those that a dispatcher has, those with workers, and workers.
func (e *Engine) Outstanding(ctx context.Context) (queued, taken, workers int, err error) {
	for part, n := range map[string]*int{queuePart: &queued, workPart: &taken, alivePart: &workers} {
		if failed := e.each(ctx, e.root+part, func(store.Entry) bool { *n++; return true }); failed != nil {
			err = failed
		}
	}
	return queued, taken, workers, err
}
