package serve

import (
	"context"
	"log/slog"
	"sync/atomic"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/observe"
)

// sight is what a console sees of an adapter. It is opened when the adapter is there, whose hooks are fixed by then:
// those of the sight call the ones that the console has.
type sight struct {
	hooks   atomic.Pointer[observe.Hooks]
	adapter *aql.Adapter
	checks  atomic.Pointer[func(context.Context) []aql.Check] // of /readyz; nil: those of the adapter
	// uncounted is whether what waits could not be counted the last time: the log has what changes, and not each look.
	uncounted atomic.Bool
}

// sight returns what the console will see of the adapter with these options; nil: there is no console. Its hooks are
// joined to those of the adapter.
func (s *settings) sight(options *Options) *sight {
	if s.console == "" || options.Console == nil {
		return nil
	}
	seen := new(sight)
	options.Adapter.Observe = observe.Join(options.Adapter.Observe, &observe.Hooks{
		Operation: func(ctx context.Context, o observe.Operation) (context.Context, func(observe.OperationEnd)) {
			if hooks := seen.hooks.Load(); hooks != nil && hooks.Operation != nil {
				return hooks.Operation(ctx, o)
			}
			return ctx, nil
		},
		Gate: func(ctx context.Context, d observe.Decision) {
			if hooks := seen.hooks.Load(); hooks != nil && hooks.Gate != nil {
				hooks.Gate(ctx, d)
			}
		},
	})
	return seen
}

// show adds to the options of a console what it sees of the adapter.
func (s *sight) show(o *setup.Options) {
	if s == nil {
		return
	}
	o.Observe, o.Caller = s.hooks.Store, aql.CallerOf
	if s.adapter != nil {
		log := o.Logger
		o.Health = func(ctx context.Context) setup.Health { return s.health(ctx, log) }
	}
}

// judge has the console judge the adapter by the checks of /readyz.
func (s *sight) judge(checks func(context.Context) []aql.Check) {
	if s != nil {
		s.checks.Store(&checks)
	}
}

// health returns how the adapter is, and logs why what waits cannot be counted.
func (s *sight) health(ctx context.Context, log *slog.Logger) setup.Health {
	a, checks := s.adapter, s.adapter.Health
	if of := s.checks.Load(); of != nil {
		checks = *of
	}
	h := setup.Health{Version: a.Version(), Fingerprint: a.Fingerprint()}
	for _, check := range checks(ctx) {
		h.Checks = append(h.Checks, setup.Check(check))
	}
	h.Unrecorded, _ = a.Unrecorded()
	if b, err := a.Backlog(ctx); err != nil {
		if !s.uncounted.Swap(true) {
			log.WarnContext(ctx, "what waits cannot be counted", slog.Any("error", err))
		}
	} else {
		s.uncounted.Store(false)
		h.Backlog = &setup.Backlog{Approvals: b.Approvals, Due: b.Due, Later: b.Later, Running: b.Running, Oldest: b.Oldest}
	}
	return h
}

// of returns the sight of an adapter.
func (s *sight) of(a *aql.Adapter) *sight {
	if s != nil {
		s.adapter = a
	}
	return s
}
