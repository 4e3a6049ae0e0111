package serve

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

// pollPolicy is how often the policy file is checked for changes.
const pollPolicy = 2 * time.Second

// followedPolicy is the policy file of an adapter.
type followedPolicy struct {
	*policyfile.File
	fault   atomic.Pointer[error] // why the policy in force is not that of the file; nil: it is
	reloads *reloads              // for the console; nil: nobody looks
}

// follow sets the adapter's policy when its file changes, until ctx ends. It checks the file at intervals and on the
// hang-up signal. A policy with mistakes is logged and not set. tell is called when one was set.
func (f *followedPolicy) follow(ctx context.Context, adapter *aql.Adapter, log *slog.Logger, tell func()) {
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	defer signal.Stop(hangUp)
	poll := time.NewTicker(pollPolicy)
	defer poll.Stop()
	refused := false // by the adapter: the file has not changed since
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUp:
		case <-poll.C:
			if !f.Changed() {
				continue
			}
		}
		changed, err := f.Reload()
		if err == nil && (changed || refused) {
			err = adapter.SetPolicy(f.Policy())
			refused = err != nil
		}
		if err != nil {
			f.fault.Store(&err)
			f.reloads.note(err)
			log.Error("the policy was not reloaded; the one before it stays in force", slog.Any("error", err))
			continue
		}
		f.fault.Store(nil)
		if changed {
			f.reloads.note(nil)
			log.Info("the policy was reloaded")
			tell()
		}
	}
}

// policyCheck is the name of the check of a policy file.
const policyCheck = "policy"

// health returns the checks of an adapter, and whether the policy in force is that of the file.
func (f *followedPolicy) health(of func(context.Context) []aql.Check) func(context.Context) []aql.Check {
	return func(ctx context.Context) []aql.Check {
		check := aql.Check{Name: policyCheck}
		if fault := f.fault.Load(); fault != nil {
			check.Err = *fault
		}
		return append(of(ctx), check)
	}
}
