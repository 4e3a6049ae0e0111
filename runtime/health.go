package aql

import (
	"context"
	"fmt"
	"time"
)

// Check is what became of looking at one of the things that an adapter depends on.
type Check struct {
	Name string        // store, audit, worker, or executions, without which the adapter is ready all the same
	Err  error         // for the operator, not for clients; nil: it is as it should be
	Took time.Duration // of the look
}

// healthTimeout bounds how long the state may take to answer a check.
const healthTimeout = time.Second

// healthKey is a key that nothing has.
const healthKey = "health"

// Health looks at what the adapter depends on, as far as it has it: whether the state answers within a second, whether
// the audit log keeps records, whether this process runs executions (see Work), and whether executions are due that it
// cannot run and that no other process takes. An adapter that has nothing of that has no checks, and is healthy.
func (a *Adapter) Health(ctx context.Context) (checks []Check) {
	look := func(name string, at func() error) {
		began := time.Now()
		err := at()
		checks = append(checks, Check{Name: name, Err: err, Took: time.Since(began)})
	}
	if s := a.options.State; s != nil {
		look("store", func() (err error) {
			defer func() {
				if v := recover(); v != nil {
					err = fmt.Errorf("reading the state: %w", newPanicError(v))
				}
			}()
			ctx, cancel := context.WithTimeout(ctx, healthTimeout)
			defer cancel()
			if _, err := s.Get(ctx, healthKey); err != nil {
				return fmt.Errorf("reading the state: %w", err)
			}
			return nil
		})
	}
	if a.options.Audit != nil {
		look("audit", a.options.Audit.Err)
	}
	if a.executing != nil {
		look("worker", a.executing.fault)
		look("executions", a.executing.unable)
	}
	return checks
}
