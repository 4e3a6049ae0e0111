package executiontest

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// asking asks a person before it goes on.
func (s *scenario) asking(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	if err := s.step(ctx, run, "before"); err != nil {
		return nil, fail(err)
	}
	return s.awaited(ctx, run, execution.FromPerson, "may I?")
}

// open asks its caller before it goes on.
func (s *scenario) open(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	return s.awaited(ctx, run, execution.FromCaller, "what")
}

// awaited ends with the answer to a question.
func (s *scenario) awaited(
	ctx context.Context, run *execution.Run, from execution.From, name string,
) ([]byte, *execution.Failure) {
	answer, err := run.Await(ctx, from, name,
		func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
			return nil, execution.Waiting{Until: time.Now().Add(1000 * s.options.Lease)}, nil
		})
	if err != nil {
		return nil, fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := run.ID() + " answer"
	if s.values[key] == nil {
		s.values[key] = make(map[string]bool)
	}
	s.values[key][string(answer)] = true
	return answer, nil
}

// decide lets a person decide.
func (s *scenario) decide(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.person[id] = true
}

func (s *scenario) decided(_ context.Context, r *execution.Record) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.person[r.ID] {
		return nil, nil
	}
	s.turns++ // two answers are not the same
	return []byte{'0' + byte(s.turns%10)}, nil
}

// awaitPause waits until an execution has no attempt, as the first worker sees it.
func (s *scenario) awaitPause(ctx context.Context, id string) {
	for ctx.Err() == nil {
		r, err := s.first.Get(ctx, caller, id)
		if err != nil || r.State == execution.Paused || r.State.Terminal() {
			return
		}
		if _, err = s.first.Wait(ctx, caller, id, r.Version(), s.options.Lease); err != nil {
			return
		}
	}
}

// answerAll answers what executions still wait for, also those of which nobody knows whether they were started.
func (s *scenario) answerAll(ctx context.Context) {
	for _, operation := range []string{"asking", "open"} {
		page, err := s.second.List(ctx, execution.Query{CallerKey: caller, Operation: operation, First: 100})
		if err != nil {
			s.t.Error(err)
			return
		}
		for _, r := range page.Records {
			if operation == "asking" {
				s.decide(r.ID)
				continue
			}
			s.answer(ctx, r.ID)
		}
	}
}

// answer answers an execution as the second worker sees it, unless it is answered.
func (s *scenario) answer(ctx context.Context, id string) {
	const patience = 500
	for range patience {
		r, err := s.second.Get(ctx, caller, id)
		if err != nil || r.State.Terminal() {
			return
		}
		_, err = s.second.Answer(ctx, caller, id, "what", []byte(`"second"`))
		if illegal := (*execution.StateError)(nil); err == nil || !errors.As(err, &illegal) {
			return
		}
		if _, err = s.second.Wait(ctx, caller, id, r.Version(), s.options.Lease); err != nil {
			return
		}
	}
}

// checkPauses looks whether an answer counts that was acknowledged, and what pauses have left.
func (s *scenario) checkPauses(ctx context.Context) {
	s.t.Helper()
	if s.answered != "" {
		r, err := s.second.Get(ctx, caller, s.answered)
		if err != nil {
			s.t.Errorf(s.title+": an execution whose answer was acknowledged: %v", err)
			return
		}
		if result, err := s.second.Result(ctx, r); err != nil || string(result) != `"first"` {
			s.t.Errorf(s.title+": an answer was acknowledged, and the execution has ended with another: %s, %v", result, err)
		}
	}
	var entries []store.Entry
	var err error
	for range 20 { // a walk may bring one back that was answered meanwhile, until a worker looks at it
		entries, err = s.failing.Store.List(ctx, "exec/"+url.PathEscape(s.title)+"/p/", "", 10)
		if err != nil || len(entries) == 0 {
			break
		}
		time.Sleep(s.options.Lease / 10)
	}
	if err != nil || len(entries) > 0 {
		s.t.Errorf(s.title+": pauses have left %v: %v", entries, err)
	}
}
