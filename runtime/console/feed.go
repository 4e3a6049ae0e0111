package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/console/internal/calls"
	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// watchKey is in the state while somebody looks at calls. It is renewed at each look, but not before renewWatch.
	watchKey                   = "console/watch"
	renewWatch, longestWatched = 5 * time.Second, 10 * time.Second
	// livePart begins the keys under which processes have what they were asked for lately, while somebody looks. An entry
	// is written every second, and has mostPublished calls. Whether somebody looks is asked every askEvery.
	livePart              = "console/live/"
	publishEvery          = time.Second
	askEvery, longestLive = 2 * time.Second, 5 * time.Second
	mostPublished         = 100
	// mostReplicas bounds the processes of which a page shows something.
	mostReplicas = 64
)

// feed has the calls of this process for the consoles of all processes that share the state.
type feed struct {
	store    store.Store
	log      *slog.Logger
	now      func() time.Time
	recorder *calls.Recorder
	own      replica

	places // of pages that are open

	mu      sync.Mutex
	watched time.Time     // when it was last in the state that somebody looks
	version store.Version // of that entry
	last    *doings       // what the pages show that are open
	seen    time.Time     // when that was looked at
}

// replica is a process that shares the state, and what it was asked for lately.
type replica struct {
	ID      string         `json:"-"`
	Host    string         `json:"host"`
	Process int            `json:"process"`
	Since   time.Time      `json:"since"`
	Calls   []calls.Call   `json:"calls,omitempty"`   // the latest first
	Minutes []calls.Minute `json:"minutes,omitempty"` // in their order
}

// doings is what all replicas were asked for lately.
type doings struct {
	replicas []replica // this one first
	err      error     // the others are missing
	digest   string    // of what pages show, except for times; where nothing happens it changes with the minute
}

// newFeed returns the feed of this process, and has its hooks called; nil: nobody calls them.
func newFeed(o Options) *feed {
	if o.Observe == nil {
		return nil
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &feed{
		store: o.Store, log: cmp.Or(o.Logger, slog.Default()), now: o.Now, recorder: calls.New(o.Now, o.Caller),
		own: replica{ID: rand.Text(), Process: os.Getpid(), Since: o.Now()},
	}
	f.own.Host, _ = os.Hostname() // which is for people
	o.Observe(f.recorder.Hooks())
	return f
}

// doing returns what this process was asked for lately.
func (f *feed) doing(most int) replica {
	own := f.own
	own.Calls, own.Minutes = f.recorder.Last(most)
	return own
}

// run publishes what this process is asked for, while somebody looks, until ctx ends.
func (f *feed) run(ctx context.Context) {
	var version store.Version
	fails := false
	for watched := false; ; {
		pause := askEvery
		if watched {
			pause = publishEvery
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		var err error
		if watched, err = f.isWatched(ctx); watched {
			version, err = f.publish(ctx, version)
		}
		if failed := err != nil; failed != fails && ctx.Err() == nil {
			if fails = failed; failed {
				f.log.Warn("consoles of other processes do not see the calls of this one", slog.Any("error", err))
			}
		}
	}
}

// isWatched reports whether somebody looks at calls, at whatever console.
func (f *feed) isWatched(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askEvery)
	defer cancel()
	entry, err := f.store.Get(ctx, watchKey)
	return err == nil && entry.Exists(), err
}

// publish tells other processes what this one was asked for lately.
func (f *feed) publish(ctx context.Context, old store.Version) (store.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, askEvery)
	defer cancel()
	text, err := json.Marshal(f.doing(mostPublished))
	if err != nil {
		return old, fmt.Errorf("encoding calls: %w", err)
	}
	return write(ctx, f.store, livePart+f.own.ID, text, old, longestLive)
}

// shared is look for pages that are open, which have one together every lookEvery.
func (f *feed) shared(ctx context.Context) *doings {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); f.last == nil || now.Sub(f.seen) >= lookEvery {
		f.last, f.seen = f.see(context.WithoutCancel(ctx)), now // others wait for it, too
	}
	return f.last
}

// look returns what all replicas were asked for lately, and has them go on to tell. Without the state it is this one
// alone.
func (f *feed) look(ctx context.Context) *doings {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.see(ctx)
}

// see is look, under the mutex.
func (f *feed) see(ctx context.Context) *doings {
	ctx, cancel := context.WithTimeout(ctx, askEvery)
	defer cancel()
	all := &doings{replicas: []replica{f.doing(calls.Kept)}}
	if all.err = f.renew(ctx); all.err == nil {
		all.err = f.readOthers(ctx, all)
	}
	all.digest = all.sum(f.now())
	return all
}

// readOthers adds what other replicas tell.
func (f *feed) readOthers(ctx context.Context, all *doings) error {
	entries, err := f.store.List(ctx, livePart, "", mostReplicas)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		var other replica
		if other.ID = strings.TrimPrefix(entry.Key, livePart); other.ID == f.own.ID {
			continue
		}
		if json.Unmarshal(entry.Value, &other) == nil { // otherwise it is of another version of this program
			other.Calls = other.Calls[:min(len(other.Calls), mostPublished)]
			all.replicas = append(all.replicas, other)
		}
	}
	slices.SortFunc(all.replicas[1:], func(x, y replica) int {
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.Process, y.Process), cmp.Compare(x.ID, y.ID))
	})
	return nil
}

// renew says in the state that somebody looks.
func (f *feed) renew(ctx context.Context) (err error) {
	now := f.now()
	if past := now.Sub(f.watched); past >= 0 && past < renewWatch {
		return nil
	}
	f.version, err = write(ctx, f.store, watchKey, []byte("{}"), f.version, longestWatched)
	if err == nil {
		f.watched = now
	}
	return err
}

// sum tells what pages show.
func (d *doings) sum(now time.Time) string {
	sum := sha256.New()
	for i := range d.replicas {
		of := &d.replicas[i]
		var last uint64
		if len(of.Calls) > 0 {
			last = of.Calls[0].Number
		}
		fmt.Fprintln(sum, of.ID, last, len(of.Minutes))
	}
	fmt.Fprintln(sum, calls.MinuteOf(now), d.err != nil)
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}
