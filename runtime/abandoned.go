package aql

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// abandoned counts the handlers that were given up and still run.
type abandoned struct {
	most  int // 0: no bound
	total atomic.Int64

	mu sync.Mutex
	by map[string]int // operation
}

// defaultAbandoned is Options.MaxAbandoned where it is not set.
const defaultAbandoned = 64

func checkAbandoned(most int) error {
	if most < 0 {
		return fmt.Errorf("MaxAbandoned is %d; it is a number of handlers, or zero for %d", most, defaultAbandoned)
	}
	return nil
}

// refuses reports whether an operation must not run, because as many handlers were given up as may: of all operations,
// or a quarter of these of this one.
func (a *abandoned) refuses(operation string) bool {
	total := a.total.Load()
	if total == 0 || a.most == 0 {
		return false
	}
	if total >= int64(a.most) {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[operation] >= max(a.most/4, 1)
}

func (a *abandoned) add(operation string, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = make(map[string]int)
	}
	if a.by[operation] += n; a.by[operation] == 0 {
		delete(a.by, operation)
	}
	a.total.Add(int64(n))
}
