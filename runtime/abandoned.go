package aql

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// abandoned counts the handlers that were given up and still run. An operation has a quarter of the number that keeps
// out all calls, and so has a caller: no one operation, and no one caller, keeps out the others.
type abandoned struct {
	most    int // 0: no bound
	running atomic.Int64

	mu         sync.Mutex
	operations map[string]int
	callers    map[string]int // of the handlers within the quarter of their operation
	total      int            // of these the ones within the quarter of their caller
}

// defaultAbandoned is Options.MaxAbandoned where it is not set.
const defaultAbandoned = 64

func checkAbandoned(most int) error {
	if most < 0 {
		return fmt.Errorf("MaxAbandoned is %d; it is a number of handlers, or zero for %d", most, defaultAbandoned)
	}
	return nil
}

// refuses reports whether a call of an operation must not run: as many handlers were given up as may be, of all, of the
// operation or of the caller.
func (a *abandoned) refuses(ctx context.Context, operation string) bool {
	if a.running.Load() == 0 || a.most == 0 {
		return false
	}
	caller := CallerOf(ctx).Key()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total >= a.most || a.operations[operation] >= a.quarter() || a.callers[caller] >= a.most
}

func (a *abandoned) quarter() int { return max(a.most/4, 1) }

// add counts a handler. Calls that were let in before may pass the bounds; within says that this one is within the
// quarter of its operation.
func (a *abandoned) add(operation string, caller Caller) (within bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.operations == nil {
		a.operations, a.callers = make(map[string]int), make(map[string]int)
	}
	a.running.Add(1)
	within = a.operations[operation] < a.quarter()
	a.operations[operation]++
	if within {
		a.change(caller, 1)
	}
	return within
}

// remove takes back what add has counted.
func (a *abandoned) remove(operation string, caller Caller, within bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running.Add(-1)
	if a.operations[operation]--; a.operations[operation] == 0 {
		delete(a.operations, operation)
	}
	if within {
		a.change(caller, -1)
	}
}

// change changes the number of a caller, and with it the total. Anonymous callers are many, who have no quarter.
func (a *abandoned) change(caller Caller, n int) {
	key, share := caller.Key(), a.quarter()
	if caller.Anonymous() {
		share = a.most
	}
	before := min(a.callers[key], share)
	if a.callers[key] += n; a.callers[key] == 0 {
		delete(a.callers, key)
	}
	a.total += min(a.callers[key], share) - before
}
