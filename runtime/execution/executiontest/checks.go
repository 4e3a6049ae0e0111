package executiontest

import (
	"context"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
)

// await waits for the end of an execution.
func (s *scenario) await(ctx context.Context, id string, want execution.State) {
	s.t.Helper()
	const patience = 500
	for range patience {
		r, err := s.second.Get(ctx, caller, id)
		if err != nil {
			s.t.Errorf(s.title+": execution %s, which was acknowledged: %v", id, err)
			return
		}
		if r.State.Terminal() {
			if r.State != want && want != "" {
				s.t.Errorf(s.title+": execution %s of %s has ended %s, want %s: %+v", id, r.Operation, r.State, want, r.Failure)
			}
			return
		}
		if _, err = s.second.Wait(ctx, caller, id, r.Version(), s.options.Lease); err != nil {
			s.t.Errorf(s.title+": waiting for %s: %v", id, err)
			return
		}
	}
	r, _ := s.second.Get(ctx, caller, id)
	queued, taken, workers, err := s.second.Outstanding(ctx)
	s.t.Errorf(s.title+": execution is stuck: %+v; %d queued, %d taken, %d workers, %v", r, queued, taken, workers, err)
}

// settle waits until nothing is under way.
func (s *scenario) settle(ctx context.Context) {
	s.t.Helper()
	const patience = 500
	for range patience {
		queued, taken, _, err := s.second.Outstanding(ctx)
		if err != nil {
			s.t.Error(err)
		}
		// What a start has left that was not acknowledged waits for a minute, and is looked at apart.
		if taken == 0 && queued <= 1 {
			return
		}
		time.Sleep(s.options.Lease / 5)
	}
	queued, taken, workers, _ := s.second.Outstanding(ctx)
	s.t.Errorf(s.title+": left behind: %d queued, %d taken, %d workers", queued, taken, workers)
}

// settlePauses waits until workers have seen that nothing is paused.
func (s *scenario) settlePauses(ctx context.Context) {
	const patience = 500
	for range patience {
		entries, err := s.failing.Store.List(ctx, "exec/"+url.PathEscape(s.title)+"/p/", "", 1)
		if err == nil && len(entries) == 0 {
			return
		}
		time.Sleep(s.options.Lease / 10)
	}
}

// check looks at what must not have happened.
func (s *scenario) check(ctx context.Context, acknowledged map[string]execution.State) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, values := range s.values {
		if len(values) != 1 {
			s.t.Errorf(s.title+": step %s had %d results: %v", key, len(values), maps.Clone(values))
		}
	}
	s.checkPauses(ctx)
	for id, want := range acknowledged {
		if r, err := s.second.Get(ctx, caller, id); err != nil || want != "" && r.State != want {
			s.t.Errorf(s.title+": execution %s has changed after its end: %+v, %v", id, r, err)
		} else if r.Operation == "large" {
			s.checkLarge(ctx, r)
		}
	}
}

// checkLarge looks whether a large result is there, and nothing else.
func (s *scenario) checkLarge(ctx context.Context, r *execution.Record) {
	s.t.Helper()
	if result, err := s.second.Result(ctx, r); err != nil || string(result) != largeParams {
		s.t.Errorf(s.title+": a result has %d bytes, want %d: %v", len(result), len(largeParams), err)
	}
	entries, err := s.failing.Store.List(ctx, "exec/"+url.PathEscape(s.title)+"/s/"+r.ID+"/", "", 10)
	if err != nil || len(entries) != 1 {
		s.t.Errorf(s.title+": a completed execution has %d entries beside its record, want 1: %v", len(entries), err)
	}
}

// checkPlaces looks whether executions count that are under way, and no others.
func (s *scenario) checkPlaces(ctx context.Context) {
	s.t.Helper()
	entries, err := s.failing.Store.List(ctx, "exec/"+url.PathEscape(s.title)+"/u/", "", 100)
	if err != nil {
		s.t.Error(err)
	}
	counted := make(map[string]int)
	for _, entry := range entries {
		id, _, _ := strings.Cut(string(entry.Value), "/")
		counted[id]++
	}
	page, err := s.second.List(ctx, execution.Query{CallerKey: caller, First: 100})
	if err != nil {
		s.t.Error(err)
		return
	}
	for _, r := range page.Records {
		if under := !r.State.Terminal(); under != (counted[r.ID] == 1) || counted[r.ID] > 1 {
			s.t.Errorf(s.title+": execution %s of %s is %s, and counts %d times", r.ID, r.Operation, r.State, counted[r.ID])
		}
		delete(counted, r.ID)
	}
	if len(counted) > 0 {
		s.t.Errorf(s.title+": executions count that there are not: %v", counted)
	}
}
