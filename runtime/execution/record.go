package execution

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// State is where an execution is in its life (MCP-AQL core §8.4.1).
type State string

// The states of the protocol, and Retrying, which is one of running: an attempt has failed and another one follows.
const (
	Pending   State = "pending"
	Running   State = "running"
	Retrying  State = "retrying"
	Completed State = "completed"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Terminal reports whether an execution has ended.
func (s State) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// Progress is how far an execution is (MCP-AQL core §8.4.3).
type Progress struct {
	Percentage *float64 `json:"percentage,omitempty"`
	Current    *int     `json:"current,omitempty"`
	Total      *int     `json:"total,omitempty"`
	Message    string   `json:"message,omitempty"`
}

// Record is an execution as the store has it. The version of its entry is the fence: whoever does not know it can
// change nothing.
type Record struct {
	ID        string    `json:"id"`
	Operation string    `json:"operation"`
	CallerKey string    `json:"caller_key,omitempty"` // whose it is
	Caller    []byte    `json:"caller,omitempty"`     // as the adapter has written it
	Params    []byte    `json:"params,omitempty"`     // sealed where there is a key; none of an attached one
	Attached  bool      `json:"attached,omitempty"`   // it ends with its session and its process
	State     State     `json:"state"`
	Worker    string    `json:"worker,omitempty"` // that has it; empty: it is queued, or has ended
	Attempt   int       `json:"attempt,omitempty"`
	Repeats   int       `json:"repeats,omitempty"` // of failed attempts since it was started, or started again
	Again     int       `json:"again,omitempty"`   // how often it was started again after it had failed
	Final     bool      `json:"final,omitempty"`   // it has failed and cannot be started again: its steps are removed
	Lost      int       `json:"lost,omitempty"`    // attempts in a row whose worker was lost before a step was done
	Steps     int       `json:"steps,omitempty"`   // that were done when the last worker was lost
	Cancel    bool      `json:"cancel,omitempty"`  // the cancellation was asked for
	Reason    string    `json:"reason,omitempty"`  // of the cancellation
	Created   time.Time `json:"created"`
	Started   time.Time `json:"started,omitzero"`
	Finished  time.Time `json:"finished,omitzero"`
	Due       time.Time `json:"due,omitzero"`      // of its entry in the queue
	Waiting   *Waiting  `json:"waiting,omitempty"` // of the last pause
	Progress  *Progress `json:"progress,omitempty"`
	Result    []byte    `json:"result,omitempty"` // sealed as Params
	Failure   *Failure  `json:"failure,omitempty"`
	Warnings  string    `json:"warnings,omitempty"` // see Run.Warn
	Once      string    `json:"once,omitempty"`     // digest of the key
	Place     string    `json:"place,omitempty"`    // of its caller's, as long as it is under way
	Buried    bool      `json:"buried,omitempty"`   // it never was: the record keeps its maker from making it
	Outside   bool      `json:"outside,omitempty"`  // it is carried out elsewhere
	Until     time.Time `json:"until,omitzero"`     // and has failed then, unless more is heard of it
	Nonce     string    `json:"nonce,omitempty"`    // of the last change, by which its maker knows it
	Origin    string    `json:"origin,omitempty"`   // where it was started, in words of those who observe the adapter
	// Keep is how long it is kept after its end. Who ends it may not have its operation.
	Keep time.Duration `json:"keep,omitempty"`
	// ParamsAside says that the parameters are an entry of their own, and ResultAside is the name of that of the result.
	ParamsAside bool   `json:"params_aside,omitempty"`
	ResultAside string `json:"result_aside,omitempty"`
	// Told has Progress, Reason, Failure, Waiting and Warnings, sealed, where there is a key: these are not in the store
	// then.
	Told []byte `json:"told,omitempty"`

	version store.Version
	unread  bool  // Told could not be opened
	was     State // as the store has it; empty: it has none
	lost    bool  // it was taken from a worker that is gone, which the store does not have yet
}

// Version identifies this state of the record.
func (r *Record) Version() uint64 { return uint64(r.version) }

// over reports whether an execution has ended and cannot be started again, by whatever version of the program.
func (r *Record) over() bool { return r.State.Terminal() && (r.State != Failed || r.Final) }

// queued reports whether an attempt could be claimed.
func (r *Record) queued() bool { return !r.State.Terminal() && r.Worker == "" && !r.Outside }

// recordFormat is the first byte of a record: which form it has.
const recordFormat = '1'

// errFormat says that a later version of the program has written a record.
var errFormat = errors.New("the record is of another version of the program")

// read returns a record; nil: there is none.
func (e *Engine) read(ctx context.Context, id string) (*Record, error) {
	entry, err := e.o.Store.Get(ctx, e.recordKey(id))
	if err != nil || !entry.Exists() {
		return nil, err
	}
	return e.decode(entry)
}

// save writes a record over the version that was read. One that has ended expires a while after that, however often it
// is written since: its steps do. A change of which the store does not say whether it was made is looked up.
func (e *Engine) save(ctx context.Context, r *Record) error {
	r.Nonce = rand.Text()
	if e.o.Operations[r.Operation] != nil {
		r.Keep = e.keep(r)
	}
	text, err := e.encode(r)
	if err != nil {
		return err
	}
	ttl := time.Duration(0)
	switch {
	case r.Buried:
		ttl = buriedFor
	case r.State.Terminal():
		ttl = max(e.Expires(r).Sub(e.now()).Truncate(time.Millisecond), time.Millisecond)
	}
	version, err := e.o.Store.Put(ctx, e.recordKey(r.ID), text, r.version, ttl)
	if err != nil && !errors.Is(err, store.ErrConflict) {
		now, readErr := e.read(ctx, r.ID)
		if readErr != nil || now == nil || now.Nonce != r.Nonce {
			return fmt.Errorf("writing execution %s: %w", r.ID, err)
		}
		version, err = now.version, nil
	}
	if err != nil {
		return err
	}
	r.version = version
	e.changed(ctx, r)
	e.notify(r.ID)
	e.tell(ctx, recordPart+r.ID)
	return nil
}

// operation returns how the execution of a record runs. Where this process does not have its operation, that is how one
// runs which says nothing.
func (e *Engine) operation(r *Record) *Operation {
	if o := e.o.Operations[r.Operation]; o != nil {
		return o
	}
	return &Operation{Durable: !r.Attached}
}

// buriedFor is how long its maker may be frozen who is kept from making an execution.
const buriedFor = 365 * 24 * time.Hour

// bury makes a record that keeps the maker of an execution from making it. It returns false where there is a record.
func (e *Engine) bury(ctx context.Context, id string) (bool, error) {
	err := e.save(ctx, &Record{ID: id, State: Cancelled, Buried: true})
	if errors.Is(err, store.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

func (e *Engine) recordKey(id string) string { return e.root + recordPart + id }

func (e *Engine) workKey(worker, id string) string { return e.root + workPart + worker + "/" + id }

func (e *Engine) queueKey(r *Record) string { return e.queueKeyOf(r.ID, r.Due) }

func (e *Engine) queueKeyOf(id string, due time.Time) string {
	return fmt.Sprintf("%s%s%016x/%s", e.root, queuePart, uint64(due.UnixNano()), id)
}

// soon returns when an execution is due that is to go on now. It is never the time of the attempt before, by however
// coarse a clock: the entry in the queue which that has had may be about to be removed.
func (e *Engine) soon(r *Record) time.Time { return e.now().Add(time.Duration(r.Attempt)) }

// dueOf returns when the entry of a key of the queue is due.
func (e *Engine) dueOf(key string) (time.Time, bool) {
	text := key[len(e.root)+len(queuePart):]
	var nano uint64
	if _, err := fmt.Sscanf(text, "%016x/", &nano); err != nil {
		return time.Time{}, false
	}
	return time.Unix(0, int64(nano)), true
}

func (e *Engine) ownerPrefix(callerKey string) string {
	return e.root + ownerPart + digest(callerKey) + "/"
}

func (e *Engine) ownerKey(r *Record) string {
	return fmt.Sprintf("%s%016x/%s", e.ownerPrefix(r.CallerKey), uint64(math.MaxInt64-r.Created.UnixNano()), r.ID)
}
