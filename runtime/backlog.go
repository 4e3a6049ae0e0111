package aql

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
)

// Backlog is what waits in the state of an adapter, in all processes that share it.
type Backlog struct {
	Approvals int // open items of the inbox, of all adapters that share it
	// Blocked of these are about an agent that is blocked. OldestApproval is for how long the oldest other one has been
	// open; zero: none is.
	OldestApproval time.Duration
	Blocked        int
	// Due executions could run now, Later ones are queued for a later time, and Running ones are under way. Those that a
	// dispatcher has in a queue of its own, such as River's, are neither due nor later.
	Due, Later, Running int
	// Oldest is for how long the oldest one of those that are due has been; zero: none is.
	Oldest time.Duration
}

// Unrecorded returns how many records wait in this process until the audit log of Options.Audit has stored them; ok is
// false where there is none.
func (a *Adapter) Unrecorded() (records int, ok bool) {
	return a.options.Audit.Waiting(), a.options.Audit != nil
}

// The bounds of counting what waits: each time all items of the inbox are read.
const (
	backlogTimeout = 2 * time.Second  // for which the state has time
	backlogKept    = 10 * time.Second // for which a count is good, at least
	backlogShare   = 20               // times as long as counting took a count is good
)

// backlogs keeps what was counted last.
type backlogs struct {
	mutex   sync.Mutex
	counted Backlog
	err     error
	at      time.Time // when it was counted; zero: never
	until   time.Time // when it is too old
}

// Backlog counts what waits, by reading the inbox and the queue of executions. It is for those who watch the adapter,
// some times a minute. However many ask, and however much waits, the state is read by one of them at a time, for two
// seconds at most, and for a twentieth of the time at most: a count is good for ten seconds or more. So is an error.
// Entries of the inbox that cannot be read are not counted, and hide no others.
func (a *Adapter) Backlog(ctx context.Context) (Backlog, error) {
	k := &a.backlogs
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if now := a.options.Now(); k.at.IsZero() || !now.Before(k.until) || now.Before(k.at) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backlogTimeout) // others wait for it, too
		defer cancel()
		k.counted, k.err = a.countBacklog(ctx)
		k.at = a.options.Now()
		k.until = k.at.Add(max(backlogKept, backlogShare*k.at.Sub(now)))
	}
	return k.counted, k.err
}

func (a *Adapter) countBacklog(ctx context.Context) (b Backlog, err error) {
	defer func() { // metrics are often read in goroutines whose panics end the process
		if v := recover(); v != nil {
			b, err = Backlog{}, fmt.Errorf("reading what waits panicked: %v", v)
		}
	}()
	if inbox := a.view.Load().gate.Inbox(); inbox != nil {
		if a.looping != nil { // people also look after agents that are held
			inbox = a.looping.withHolds(inbox)
		}
		items, err := inbox.List(ctx)
		if _, some := errors.AsType[*approve.UnreadableError](err); err != nil && !some {
			return Backlog{}, fmt.Errorf("reading the inbox: %w", err)
		}
		now := a.options.Now()
		for i := range items {
			if items[i].StateAt(now) != approve.Open {
				continue
			}
			b.Approvals++
			if items[i].Kind == approve.Block { // which has no end
				b.Blocked++
			} else {
				b.OldestApproval = max(b.OldestApproval, now.Sub(items[i].Opened))
			}
		}
	}
	if a.executing != nil {
		if err := a.executing.count(ctx, &b); err != nil {
			return Backlog{}, fmt.Errorf("counting executions: %w", err)
		}
	}
	return b, nil
}
