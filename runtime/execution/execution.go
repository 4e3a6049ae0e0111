// Package execution runs operations that outlive the call which starts them, and keeps what they come to in a store
// (MCP-AQL core §8.4).
//
// An execution is attempted until it ends. An attempt runs the function of its operation from the beginning. What a
// step of it has returned is kept: a later attempt gets that, and does not do the step again. An attempt whose process
// is killed or frozen is taken over by another process that shares the store, as soon as the lease of the dead one is
// over.
//
// Package aql is what services use: a handler with a *aql.Run makes an operation one of this package.
package execution

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Operation is how the executions of one operation run.
type Operation struct {
	// Durable executions outlive the session in which they were started, and the process. Others end with either.
	Durable bool
	// Retry is how often an attempt that has failed is repeated, and how often a failed execution may be started again.
	Retry int
	// Keep is how long an execution that has ended can be read. Default: 24 hours.
	Keep time.Duration
	// Timeout bounds an attempt; zero: no bound. No step begins after that, and an attempt whose step was refused for it
	// has failed.
	Timeout time.Duration
	// Outside says that executions are carried out elsewhere, such as by an agent: no process attempts them. They run from
	// Start on until Complete, Cancel, or when nothing was heard of them for too long: see Start.Silence.
	Outside bool
	// Do makes an attempt; nil: other processes make them. Its context ends when the attempt is to end. What it returns
	// does not count when Run.Stopped is not nil, except that an execution whose cancellation was asked for is completed
	// where it fails no more.
	Do func(ctx context.Context, run *Run) (result []byte, failed *Failure)
	// Decided returns the answer to the question of a paused execution that a person is asked; nil: nobody has decided
	// yet. A nil function: the operation asks nobody, or other processes look for that.
	Decided func(ctx context.Context, r *Record) (answer []byte, err error)
}

// defaultKeep is the default of Operation.Keep.
const defaultKeep = 24 * time.Hour

func (o *Operation) keep() time.Duration {
	return cmp.Or(o.Keep, defaultKeep).Truncate(time.Millisecond)
}

// Options configures an engine. Store and Operations are required.
type Options struct {
	Store store.Store
	// Dispatcher queues executions that are not attached, and hands them out; nil: Store does.
	Dispatcher Dispatcher
	// Name separates the executions of adapters that share a store.
	Name string
	// Operations by their names. Executions of other operations are left to other processes.
	Operations map[string]*Operation
	// Slots is how many attempts run at the same time. Default: 16.
	Slots int
	// Lease is how long a worker that is not heard of is believed to be alive. Default: 15 seconds.
	Lease time.Duration
	// Poll is how often a worker looks for executions that other processes have started. Default: 1 second.
	Poll time.Duration
	// Drain is how long attempts may go on to the end of their step when the worker is to end. Default: 5 seconds.
	Drain time.Duration
	// Grace is how long an attempt may run whose context has ended, before it is given up. Default: 10 seconds.
	Grace time.Duration
	// Losses is how many workers in a row an execution may lose without a step done, before it fails: it may be what kills
	// them. Default: 5.
	Losses int
	// Most is how many executions of one caller may be under way, in all processes. Default: 10,000.
	Most int
	// Keys encrypt parameters, results of steps, results, progress, failures, reasons and warnings; the first one
	// encrypts, all of them decrypt. Without a key they are in the store as they are.
	Keys [][]byte
	// Backoff returns the pause before an attempt is repeated for the nth time, from 1 on. Default: 1 second, doubled
	// each time up to 5 minutes, and a fifth more or less.
	Backoff func(n int) time.Duration
	// Decisions returns a channel that receives when Operation.Decided may have news; nil: that is asked in intervals.
	Decisions func(ctx context.Context) <-chan struct{}
	// Undecided returns the Waiting.Ref of all questions about which nobody has decided: Operation.Decided is not asked
	// about these. nil: it is asked about each, in every interval.
	Undecided func(ctx context.Context) (refs []string, err error)
	// Ended is called when an execution has ended, and may be called again, and after it was started again: it releases
	// what others have for that one since before Record.Finished.
	Ended func(ctx context.Context, r *Record) error
	// Changed is told of each change of an execution that this process has made; nil: nobody is.
	Changed func(ctx context.Context, c Change)
	// Logger is required.
	Logger *slog.Logger
	// Now is the clock; nil: time.Now. Only when something is due goes by it, and what records say.
	Now func() time.Time
}

// The errors of requests.
var (
	// ErrNotFound says that there is no such execution, or that it is another caller's.
	ErrNotFound = errors.New("there is no such execution")
	// ErrTooMany says that too many executions of the caller are under way.
	ErrTooMany = errors.New("too many executions of the caller are under way")
	// ErrNotWorking says that nothing runs executions in this process.
	ErrNotWorking = errors.New("no worker runs in this process")
	// ErrWorking says that Work is called while it runs.
	ErrWorking = errors.New("the engine works already")
)

// The causes with which the context of an attempt ends.
var (
	// ErrLost says that another worker may have taken the execution over.
	ErrLost = errors.New("the execution may be with another worker")
	// ErrCancelled says that the cancellation of the execution was asked for.
	ErrCancelled = errors.New("the execution was cancelled")
	// ErrPaused says that the execution goes on later, with another attempt.
	ErrPaused = errors.New("the execution goes on later")
)

// StateError says that an execution is in a state in which what was asked for cannot be done.
type StateError struct {
	Record *Record
	Retry  bool // it was to be started again
	Answer bool // it was to be answered; otherwise to be cancelled
}

// Error names the state.
func (e *StateError) Error() string { return "the execution is " + string(e.Record.State) }

// OnceError says that the key of a start is that of an execution with other parameters.
type OnceError struct{ ID string }

// Error names the execution.
func (e *OnceError) Error() string {
	return "the key belongs to execution " + e.ID + ", whose parameters are others"
}

// Engine starts executions and runs them. It is safe for concurrent use.
type Engine struct {
	o       Options
	root    string // of all keys
	boxes   []cipher.AEAD
	secret  atomic.Pointer[[]byte] // of digests; nil: there is none, or it was not read yet
	slots   chan struct{}
	wake    chan struct{}
	places  chan struct{} // of those who wait for a change
	working atomic.Bool

	mu       sync.Mutex
	worker   string          // name of the worker; empty: none runs
	begins   chan struct{}   // is closed when one does
	active   map[string]bool // executions that this process is busy with
	runs     map[string]*Run
	orphans  map[string]time.Time // queued executions without record, and since when they are known
	unable   map[string]unable    // what is due that this process cannot run, by its key in the queue
	waiters  map[string]map[chan struct{}]bool
	holding  map[string]int // jobs of the dispatcher that this process has
	closing  bool
	lastBeat time.Time     // when the store was last told that the worker is alive
	tries    int           // attempts that run or wait
	idle     chan struct{} // is closed when none does; nil: nobody waits for that
}

// check fails on settings below zero, by which nothing could work.
func (o *Options) check() error {
	var faults []error
	for _, s := range []struct {
		name  string
		value any
		below bool
	}{
		{"Slots", o.Slots, o.Slots < 0}, {"Lease", o.Lease, o.Lease < 0}, {"Poll", o.Poll, o.Poll < 0},
		{"Drain", o.Drain, o.Drain < 0}, {"Grace", o.Grace, o.Grace < 0}, {"Losses", o.Losses, o.Losses < 0},
		{"Most", o.Most, o.Most < 0},
	} {
		if s.below {
			faults = append(faults, fmt.Errorf("%s of %v: it is not below zero", s.name, s.value))
		}
	}
	return errors.Join(faults...)
}

// New returns an engine. Nothing runs until Work is called.
func New(o Options) (*Engine, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.Slots, o.Lease, o.Poll = cmp.Or(o.Slots, 16), cmp.Or(o.Lease, 15*time.Second), cmp.Or(o.Poll, time.Second)
	o.Drain, o.Grace, o.Most = cmp.Or(o.Drain, 5*time.Second), cmp.Or(o.Grace, 10*time.Second), cmp.Or(o.Most, 10_000)
	o.Losses = cmp.Or(o.Losses, 5)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	if o.Lease < 10*time.Millisecond {
		return nil, fmt.Errorf("a Lease of %v: the least is 10ms", o.Lease)
	}
	e := &Engine{
		o: o, root: "exec/" + url.PathEscape(o.Name) + "/", slots: make(chan struct{}, o.Slots),
		wake: make(chan struct{}, 1), places: make(chan struct{}, mostWaiting),
		begins: make(chan struct{}),
		active: make(map[string]bool), runs: make(map[string]*Run),
		orphans: make(map[string]time.Time), waiters: make(map[string]map[chan struct{}]bool),
		holding: make(map[string]int), unable: make(map[string]unable),
	}
	return e, e.makeBoxes()
}

// The first parts of keys, behind the root.
const (
	recordPart = "r/" // <id>: the record
	queuePart  = "q/" // <due>/<id>: what can be claimed, in the order in which it is due
	workPart   = "w/" // <worker>/<id>: what a worker has taken; whoever removes it has to leave no trace behind
	alivePart  = "a/" // <worker>: it is alive; ends with the lease
	stepPart   = "s/" // <id>/<mark of the name>: what a step has returned; and what is beside the record: see paramsEntry
	askedPart  = "c/" // <worker>/<id>: a cancellation that the worker has not seen; lookKey: the end of a pause
	oncePart   = "k/" // <digest>: the execution that a key has started
	placePart  = "u/" // <digest of the caller>/<number>: an execution that is under way; see takePlace
	ownerPart  = "o/" // <digest of the caller>/<time, newest first>/<id>: whose executions there are; see owned
)

// id returns a new identifier with a prefix.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// storeTimeout bounds what a call of the store may take where nobody waits for it.
const storeTimeout = 10 * time.Second

// nudge makes the worker look for executions now.
func (e *Engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// untilWorker is how long a start waits for the worker: a call may come as soon as the process serves.
const untilWorker = 5 * time.Second

// comingWorker returns the name of the worker, which may be about to begin; empty: none does.
func (e *Engine) comingWorker(ctx context.Context) string {
	timer := time.NewTimer(untilWorker)
	defer timer.Stop()
	for {
		e.mu.Lock()
		worker, begins, closing := e.worker, e.begins, e.closing
		e.mu.Unlock()
		if worker != "" || closing {
			return worker
		}
		select {
		case <-begins:
		case <-timer.C:
			return ""
		case <-ctx.Done():
			return ""
		}
	}
}

// name returns the name of the worker; empty: none runs.
func (e *Engine) name() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.worker
}

// activate makes the process busy with an execution. It returns false where it is already.
func (e *Engine) activate(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.active[id] {
		return false
	}
	e.active[id] = true
	return true
}

// spawn runs what has to end before the worker does.
func (e *Engine) spawn(attempt func()) {
	e.mu.Lock()
	e.tries++
	e.mu.Unlock()
	go func() {
		defer func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.tries--; e.tries == 0 && e.idle != nil {
				close(e.idle)
				e.idle = nil
			}
		}()
		attempt()
	}()
}

func (e *Engine) deactivate(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.active, id)
}

// drop deletes an entry at whatever version it is.
func (e *Engine) drop(ctx context.Context, key string) error {
	for {
		entry, err := e.o.Store.Get(ctx, key)
		if err != nil || !entry.Exists() {
			return err
		}
		if err = e.o.Store.Delete(ctx, key, entry.Version); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// put makes an entry, or leaves the one that there is.
func (e *Engine) put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	_, err := e.o.Store.Put(ctx, key, value, 0, ttl)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// renew makes an entry, or gives the one that there is a new version, so that nobody removes it who has read it before.
func (e *Engine) renew(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	for version := store.Version(0); ; {
		_, err := e.o.Store.Put(ctx, key, value, version, ttl)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		entry, err := e.o.Store.Get(ctx, key)
		if err != nil {
			return err
		}
		version = entry.Version
	}
}

// each calls visit with all entries that have a prefix, page by page, until it returns false.
func (e *Engine) each(ctx context.Context, prefix string, visit func(store.Entry) bool) error {
	return e.eachAfter(ctx, prefix, "", visit)
}

// eachAfter is each for the entries behind a key; empty: all.
func (e *Engine) eachAfter(ctx context.Context, prefix, after string, visit func(store.Entry) bool) error {
	const page = 500
	for {
		entries, err := e.o.Store.List(ctx, prefix, after, page)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !visit(entry) {
				return nil
			}
		}
		if len(entries) < page {
			return nil
		}
		after = entries[len(entries)-1].Key
	}
}

// lastOf returns the last part of a key.
func lastOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

func (e *Engine) now() time.Time { return e.o.Now().UTC() }

// Failure is why an execution has failed (MCP-AQL core §8.4.3).
type Failure struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
	// Final says that another attempt would fail too.
	Final bool `json:"-"`
}

// interrupted is the failure of an execution whose worker is gone.
func interrupted() *Failure {
	return &Failure{Code: "INTERNAL_ERROR", Message: "Internal error: 'interrupted'"}
}
