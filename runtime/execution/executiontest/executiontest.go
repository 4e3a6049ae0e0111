// Package executiontest tests that executions survive what happens to processes, on implementations of store.Store.
package executiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// Options are those of Run.
type Options struct {
	// Open opens the store that executions are in. Several scenarios may share one: each has a name of its own.
	Open func(t *testing.T) store.Store
	// Dispatcher returns what hands out the executions that are in a store; nil, or where it returns nil: nothing does.
	Dispatcher func(in store.Store) execution.Dispatcher
	// Lease is that of the workers. The slower the store, the longer it has to be.
	Lease time.Duration
	// Every makes the test fail only at every nth call of the store; zero: at each.
	Every int
	// First is the first of these calls, from 1 to Every; zero: a random one, so that in time all calls have their turn. A
	// failure says which it was.
	First int
	// Isolate is run around each failure, such as synctest.Test; nil: nothing is.
	Isolate func(t *testing.T, f func(t *testing.T))
}

// calls returns the first call of the store at which the test fails, and how far apart the others are.
func (o *Options) calls() (first, every int) {
	every = max(o.Every, 1)
	if o.First > 0 {
		return o.First, every
	}
	return 1 + rand.IntN(every), every
}

// Run has a worker crash, freeze and be cut off, before and after each of its calls of the store, while it starts,
// runs, repeats, cancels and ends executions. Another worker goes on: no execution whose start was acknowledged is lost
// or stuck, no step has two results, and nothing is left behind.
func Run(t *testing.T, o Options) {
	calls := 0
	isolate := o.Isolate
	if isolate == nil {
		isolate = func(t *testing.T, f func(t *testing.T)) { f(t) }
	}
	isolate(t, func(t *testing.T) {
		s := newScenario(t, o, "whole", never, 0)
		s.play()
		calls = s.failing.calls()
	})
	if calls < 50 {
		t.Fatalf("the scenario calls the store %d times; it should do more", calls)
	}
	first, every := o.calls()
	defer func() {
		if t.Failed() {
			t.Logf("repeat it with First: %d, Every: %d", first, every)
		}
	}()
	for mode, name := range map[mode]string{
		crashBefore: "crash before", crashAfter: "crash after", freezeBefore: "freeze before", freezeAfter: "freeze after",
	} {
		t.Run(name, func(t *testing.T) {
			var all sync.WaitGroup
			defer all.Wait()
			places := make(chan struct{}, atOnce)
			for at := first; at <= calls && !t.Failed(); at += every {
				title := fmt.Sprintf("%s %d", name, at)
				if o.Isolate != nil {
					o.Isolate(t, func(t *testing.T) { newScenario(t, o, title, mode, at).play() })
					continue
				}
				s := newScenario(t, o, title, mode, at)
				places <- struct{}{}
				all.Go(func() {
					defer func() { <-places }()
					s.play()
				})
			}
		})
	}
}

// atOnce is how many scenarios are played at the same time where each takes its time.
const atOnce = 16

// scenario is what one worker begins and another one ends.
type scenario struct {
	t       *testing.T
	title   string
	options Options
	failing *failing
	first   *execution.Engine
	second  *execution.Engine

	mu     sync.Mutex
	values map[string]map[string]bool // of steps, by execution and step
	turns  int
	failed map[string]int // attempts of the operation flaky that have failed

	answered string          // the execution whose first answer was acknowledged
	person   map[string]bool // executions about which a person has decided
}

const caller = "ann"

// manyLosses lets executions of a machine that is too busy for its leases go on.
const manyLosses = 1000

func newScenario(t *testing.T, o Options, name string, m mode, at int) *scenario {
	t.Helper()
	in := o.Open(t)
	s := &scenario{
		t: t, title: name, options: o, values: make(map[string]map[string]bool), failed: make(map[string]int),
		person:  make(map[string]bool),
		failing: &failing{Store: in, mode: m, at: at, thaw: make(chan struct{}), over: make(chan struct{})},
	}
	var first, second execution.Dispatcher
	if o.Dispatcher != nil {
		second = o.Dispatcher(in)
	}
	if second != nil {
		first = &failingDispatcher{second, s.failing}
	}
	s.first, s.second = s.engine(name, s.failing, first), s.engine(name, in, second)
	return s
}

func (s *scenario) engine(name string, in store.Store, d execution.Dispatcher) *execution.Engine {
	e, err := execution.New(execution.Options{
		Store: in, Dispatcher: d, Name: name, Lease: s.options.Lease, Poll: s.options.Lease / 10, Drain: s.options.Lease,
		Losses: manyLosses, Grace: s.options.Lease, Logger: slog.New(errorLog{s}),
		Keys:    [][]byte{[]byte("the key of all scenarios")},
		Backoff: func(int) time.Duration { return s.options.Lease / 10 },
		Operations: map[string]*execution.Operation{
			"steady": {Durable: true, Do: s.steady},
			"flaky":  {Durable: true, Retry: 1, Do: s.flaky},
			"broken": {Durable: true, Retry: 1, Do: s.broken},
			"long":   {Durable: true, Do: s.long},
			"large":  {Durable: true, Do: s.large},
			"asking": {Durable: true, Do: s.asking, Decided: s.decided},
			"open":   {Durable: true, Do: s.open},
		},
	})
	if err != nil {
		s.t.Error(err)
	}
	return e
}

// step is a step whose value is never the same, so that two results of one would be seen.
func (s *scenario) step(ctx context.Context, run *execution.Run, name string) error {
	value, err := run.Step(ctx, name, func(context.Context) ([]byte, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turns++
		return json.Marshal(s.turns)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := run.ID() + " " + name
	if s.values[key] == nil {
		s.values[key] = make(map[string]bool)
	}
	s.values[key][string(value)] = true
	return nil
}

func fail(err error) *execution.Failure {
	return &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
}

func (s *scenario) steady(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	for i := range 2 {
		current, total := i, 2
		run.Progress(execution.Progress{Current: &current, Total: &total})
		if err := s.step(ctx, run, fmt.Sprint(i)); err != nil {
			return nil, fail(err)
		}
	}
	if err := run.Sleep(ctx, "nap", s.options.Lease/5+200*time.Millisecond); err != nil {
		return nil, fail(err)
	}
	return []byte(`"done"`), nil
}

// large has parameters and a result that are not in its record.
func (s *scenario) large(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	if string(run.Params()) != largeParams {
		return nil, fail(fmt.Errorf("the parameters have %d bytes", len(run.Params())))
	}
	if err := s.step(ctx, run, "only"); err != nil {
		return nil, fail(err)
	}
	return []byte(largeParams), nil
}

// largeParams are too large for a record.
var largeParams = `"` + strings.Repeat("x", 2000) + `"`

// flaky fails at its first attempt.
func (s *scenario) flaky(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	if err := s.step(ctx, run, "only"); err != nil {
		return nil, fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed[run.ID()]++; s.failed[run.ID()] == 1 {
		return nil, fail(errors.New("not today"))
	}
	return []byte(`"done"`), nil
}

// broken fails until it is started again.
func (s *scenario) broken(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	if err := s.step(ctx, run, "only"); err != nil {
		return nil, fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed[run.ID()] == 0 {
		f := fail(errors.New("out of order"))
		f.Final = true
		return nil, f
	}
	return []byte(`"mended"`), nil
}

// long waits until it is cancelled.
func (s *scenario) long(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	<-ctx.Done()
	return nil, fail(context.Cause(ctx))
}

// play lets the first worker begin, and the second one end.
func (s *scenario) play() {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	var workers sync.WaitGroup
	firstCtx, stopFirst := context.WithCancel(ctx)
	workers.Go(func() { _ = s.first.Work(firstCtx) }) // it may be dead from the beginning
	acknowledged := make(map[string]execution.State)  // and how they must end
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		s.begin(ctx, acknowledged)
	}()
	select {
	case <-begun:
	case <-s.failing.failed():
	}
	workers.Go(func() {
		if err := s.second.Work(ctx); err != nil {
			s.t.Errorf(s.title+": the second worker: %v", err)
			stop() // nobody would end what was begun
		}
	})
	if s.failing.mode == freezeBefore || s.failing.mode == freezeAfter {
		select {
		case <-s.failing.failed():
			time.Sleep(3 * s.options.Lease) // until others have taken over
		case <-begun:
		}
	}
	s.failing.goOn()
	<-begun
	s.cancelUnknown(ctx, acknowledged)
	s.answerAll(ctx)
	for id, want := range acknowledged {
		s.await(ctx, id, want)
	}
	s.settle(ctx)
	stopFirst()
	s.settle(ctx)
	s.settlePauses(ctx)
	if n, err := s.second.Walk(ctx); err != nil || n != 0 {
		s.t.Errorf(s.title+": %d executions were forgotten: %v", n, err)
	}
	for range 2 { // of which the second one removes what starts have left
		if _, err := s.second.Walk(ctx); err != nil {
			s.t.Errorf(s.title+": %v", err)
		}
	}
	s.checkPlaces(ctx)
	stop()
	close(s.failing.over)
	workers.Wait()
	s.check(context.WithoutCancel(ctx), acknowledged)
}

// begin does what callers do, and notes what was acknowledged.
func (s *scenario) begin(ctx context.Context, acknowledged map[string]execution.State) {
	start := func(operation, once string, end execution.State) *execution.Record {
		params := "{}"
		if operation == "large" {
			params = largeParams
		}
		r, err := s.first.Start(ctx, execution.Start{
			Operation: operation, CallerKey: caller, Params: []byte(params), Once: once,
		})
		if err != nil {
			return nil
		}
		acknowledged[r.ID] = end
		return r
	}
	start("steady", "", execution.Completed)
	one := start("steady", "key", execution.Completed)
	two := start("steady", "key", execution.Completed)
	if one != nil && two != nil && one.ID != two.ID {
		s.t.Errorf(s.title+": one key has started %s and %s", one.ID, two.ID)
	}
	start("flaky", "", execution.Completed)
	start("large", "", execution.Completed)
	for _, until := range []execution.State{execution.Pending, execution.Running} {
		r := start("long", "", execution.Cancelled)
		if r == nil {
			continue
		}
		for until == execution.Running && r.State == execution.Pending && ctx.Err() == nil {
			next, err := s.first.Wait(ctx, caller, r.ID, r.Version(), s.options.Lease)
			if err != nil {
				break
			}
			r = next
		}
		if _, err := s.first.Cancel(ctx, caller, r.ID, "no need"); err != nil { // the other one must do it
			s.cancel(ctx, r.ID)
		}
	}
	if r := start("asking", "", execution.Completed); r != nil {
		s.decide(r.ID)
	}
	if r := start("open", "", execution.Completed); r != nil {
		s.awaitPause(ctx, r.ID)
		if _, err := s.first.Answer(ctx, caller, r.ID, "what", []byte(`"first"`)); err == nil { // or the other one does
			s.answered = r.ID
		}
	}
	if r := start("broken", "", execution.Failed); r != nil {
		s.restart(ctx, r.ID, acknowledged)
	}
}

func (s *scenario) cancel(ctx context.Context, id string) {
	for {
		_, err := s.second.Cancel(ctx, caller, id, "no need")
		if illegal := (*execution.StateError)(nil); err == nil || errors.As(err, &illegal) || ctx.Err() != nil {
			return
		}
	}
}

// cancelUnknown cancels executions that wait for that, and of which nobody knows whether they were started.
func (s *scenario) cancelUnknown(ctx context.Context, acknowledged map[string]execution.State) {
	page, err := s.second.List(ctx, execution.Query{CallerKey: caller, Operation: "long", First: 100})
	if err != nil {
		s.t.Error(err)
	}
	for _, r := range page.Records {
		if _, known := acknowledged[r.ID]; !known {
			s.cancel(ctx, r.ID)
		}
	}
}

// restart starts an execution again that has failed for good.
func (s *scenario) restart(ctx context.Context, id string, acknowledged map[string]execution.State) {
	for {
		r, err := s.first.Get(ctx, caller, id)
		if err != nil {
			return
		}
		if r.State == execution.Failed {
			break
		}
		if _, err := s.first.Wait(ctx, caller, id, r.Version(), s.options.Lease); err != nil {
			return
		}
	}
	s.mu.Lock()
	s.failed[id] = 1
	s.mu.Unlock()
	if _, err := s.first.Retry(ctx, caller, id); err == nil {
		acknowledged[id] = execution.Completed
	} else {
		acknowledged[id] = "" // it is unknown whether it was started again
	}
}
