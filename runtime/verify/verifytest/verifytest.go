// Package verifytest tests that agents stay held, and can be let go, whatever happens to processes, on implementations
// of store.Store.
package verifytest

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Options are those of Run.
type Options struct {
	// Open opens the store that holds are in, once more each time, as another process would; a store in memory is the
	// same.
	Open func(t *testing.T) store.Store
	// Every makes processes crash only at every nth call of the store; zero: at each.
	Every int
	// First is the first of these calls, from 1 to Every; zero: a random one, so that in time all calls have their turn. A
	// failure says which it was.
	First int
}

var (
	caller   = identity.Caller{Subject: "ann", Issuer: "https://issuer.example"}
	stranger = identity.Caller{Subject: "bob", Issuer: "https://issuer.example"}
	person   = identity.Caller{Subject: "eve", Issuer: "stdio"}
)

// Run tests a store.
func Run(t *testing.T, o Options) {
	t.Run("a process ends before or after each call of the store", func(t *testing.T) { crashes(t, o) })
	t.Run("of many who have the code one passes", func(t *testing.T) { sameCode(t, o) })
	t.Run("a code does not survive a wrong one", func(t *testing.T) { rightAndWrong(t, o) })
	t.Run("of many failures ten are looked at", func(t *testing.T) { failures(t, o) })
	t.Run("of many holds of an agent there is one", func(t *testing.T) { sameHold(t, o) })
}

// open returns the box of a process. The names of adapters keep tests apart.
func open(t *testing.T, s store.Store, adapter string) *verify.Box {
	t.Helper()
	box, err := verify.New(verify.Options{Store: s, Adapter: adapter, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// calls returns the first call of the store at which a process crashes, and how far apart the others are.
func (o *Options) calls() (first, every int) {
	every = max(o.Every, 1)
	if o.First > 0 {
		return o.First, every
	}
	return 1 + rand.IntN(every), every
}

// crashes has a process hold agents and let them go until one of its calls of the store, and another one go on.
func crashes(t *testing.T, o Options) {
	healthy := o.Open(t)
	whole := &ending{Store: healthy}
	begun(t, whole, "whole").recover(t, healthy)
	if whole.made < 25 {
		t.Fatalf("the scenario calls the store %d times; it should do more", whole.made)
	}
	first, every := o.calls()
	for _, after := range []bool{false, true} {
		for at := first; at <= whole.made; at += every {
			name := fmt.Sprintf("call %d, after it: %v", at, after)
			begun(t, &ending{Store: healthy, at: at, after: after}, name).recover(t, healthy)
			if t.Failed() {
				t.Fatalf("%s; repeat it with First: %d, Every: %d", name, first, every)
			}
		}
	}
}

// story is what a process has seen until it ended.
type story struct {
	adapter          string
	blocked, paused  bool           // it was told that the agent is
	passed, approved bool           // the right code was sent, and an approval
	dead             []verify.Shown // codes that must be good no more
}

// begun plays the story of a process, until it ends.
func begun(t *testing.T, s *ending, name string) *story {
	t.Helper()
	told := &story{adapter: name}
	box := open(t, s, name)
	ctx := t.Context()
	block := verify.Subject{Caller: caller, Agent: "release_bot", Block: true, Reasons: []string{"deny pattern"}}
	id, err := box.Open(ctx, block)
	if s.ended(t, err) {
		return told
	}
	told.blocked = true
	first, err := box.Show(ctx, person, id.String())
	if s.ended(t, err) {
		return told
	}
	_, err = box.Verify(ctx, stranger, id.String(), first.Code.Text())
	if s.ended(t, told.failure(t, err, false)) {
		return told
	}
	second, err := box.Show(ctx, person, first.Item.ID)
	if s.ended(t, err) {
		return told
	}
	told.dead = append(told.dead, first)
	_, err = box.Verify(ctx, caller, id.String(), first.Code.Text())
	if s.ended(t, told.failure(t, err, true)) {
		return told
	}
	told.dead = append(told.dead, second)
	third, err := box.Show(ctx, person, first.Item.ID)
	if s.ended(t, err) {
		return told
	}
	told.passed = true
	result, err := box.Verify(ctx, caller, third.Challenge.String(), third.Code.Text())
	if s.ended(t, err) {
		return told
	}
	told.dead = append(told.dead, third)
	if !result.Block || result.Agent != block.Agent {
		t.Errorf("%+v is verified", result)
	}
	_, err = box.Open(ctx, verify.Subject{Caller: caller, Agent: "writer", Execution: "exec_1"})
	if s.ended(t, err) {
		return told
	}
	told.paused = true
	items, err := box.Inbox(approve.New(s)).List(ctx)
	if s.ended(t, err) {
		return told
	}
	for _, item := range items {
		if item.Adapter != name || item.Kind != approve.Pause {
			continue
		}
		told.approved = true
		vote := approve.Vote{By: person, Channel: approve.Terminal, Approve: true, Reason: "fine", At: item.Opened}
		_, err = box.Inbox(approve.New(s)).Vote(ctx, item.ID, vote)
		if s.ended(t, err) {
			return told
		}
	}
	if !told.approved {
		t.Error("no pause is in the inbox")
	}
	return told
}

// failure returns the error of a verification that must fail, unless it did as it should.
func (s *story) failure(t *testing.T, err error, own bool) error {
	t.Helper()
	failed, ok := errors.AsType[*verify.FailedError](err)
	switch {
	case err == nil:
		t.Error("a code is accepted that is not good")
	case ok && failed.Replacement.IsZero() == own:
		t.Errorf("the replacement is %v", failed.Replacement)
	case ok:
		return nil
	}
	return err
}

// recover looks at what a process has left behind, and ends it: who was held is held until somebody lets it go, and can
// be let go.
func (s *story) recover(t *testing.T, healthy store.Store) {
	t.Helper()
	box := open(t, healthy, s.adapter)
	holds, err := box.Holds(t.Context(), caller)
	if err != nil {
		t.Fatal(err)
	}
	var blocked, paused bool
	for _, h := range holds {
		blocked = blocked || h.Block && !h.Lifted
		paused = paused || !h.Block && !h.Lifted
	}
	if s.blocked && !s.passed && !blocked {
		t.Errorf("%s: nobody has let the agent go, and it is not blocked", s.adapter)
	}
	if s.paused && !s.approved && !paused {
		t.Errorf("%s: nobody has let the execution go on, and it is not paused", s.adapter)
	}
	for _, code := range s.dead {
		if _, err := box.Verify(t.Context(), caller, code.Challenge.String(), code.Code.Text()); err == nil {
			t.Errorf("%s: a code is good that was replaced or tried", s.adapter)
		}
	}
	for _, h := range holds {
		if h.Lifted {
			continue
		}
		latest, err := box.Holds(t.Context(), caller) // a code that was tried above has replaced the challenge
		if err != nil {
			t.Fatal(err)
		}
		id := h.Challenge
		for _, now := range latest {
			if now.Agent == h.Agent {
				id = now.Challenge
			}
		}
		shown, err := box.Show(t.Context(), person, id.String())
		if errors.Is(err, approve.ErrDecided) && s.passed {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", s.adapter, err)
		}
		if _, err := box.Verify(t.Context(), caller, shown.Challenge.String(), shown.Code.Text()); err != nil {
			t.Errorf("%s: the agent cannot be let go: %v", s.adapter, err)
		}
	}
	holds, err = box.Holds(t.Context(), caller)
	for _, h := range holds {
		if err != nil || !h.Lifted {
			t.Errorf("%s: at the end %+v is held: %v", s.adapter, h, err)
		}
	}
}

// shown blocks an agent, and has the code shown.
func shown(t *testing.T, box *verify.Box) verify.Shown {
	t.Helper()
	id, err := box.Open(t.Context(), verify.Subject{Caller: caller, Agent: "release_bot", Block: true})
	if err != nil {
		t.Fatal(err)
	}
	code, err := box.Show(t.Context(), person, id.String())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

const (
	rounds = 10
	racers = 8 // fewer than failures that are looked at
)

// race has many try codes at the same time, with the boxes of two processes, and returns how many passed.
func race(t *testing.T, both [2]*verify.Box, id verify.ID, code func(i int) string) (passed int32) {
	t.Helper()
	var won atomic.Int32
	together := make(chan struct{})
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() {
			<-together
			_, err := both[i%2].Verify(t.Context(), caller, id.String(), code(i))
			if _, failed := errors.AsType[*verify.FailedError](err); err == nil {
				won.Add(1)
			} else if !failed {
				t.Errorf("a verification that lost: %v", err)
			}
		})
	}
	close(together)
	all.Wait()
	return won.Load()
}

func sameCode(t *testing.T, o Options) {
	stores := [2]store.Store{o.Open(t), o.Open(t)}
	for round := range rounds {
		name := fmt.Sprintf("same code %d", round)
		both := [2]*verify.Box{open(t, stores[0], name), open(t, stores[1], name)}
		code := shown(t, both[0])
		if won := race(t, both, code.Challenge, func(int) string { return code.Code.Text() }); won != 1 {
			t.Fatalf("round %d: %d passed", round, won)
		}
		held(t, both[1], false)
	}
}

func rightAndWrong(t *testing.T, o Options) {
	stores := [2]store.Store{o.Open(t), o.Open(t)}
	for round := range rounds {
		name := fmt.Sprintf("right and wrong %d", round)
		both := [2]*verify.Box{open(t, stores[0], name), open(t, stores[1], name)}
		code := shown(t, both[0])
		won := race(t, both, code.Challenge, func(i int) string {
			if i == round%racers {
				return code.Code.Text()
			}
			return "00000-00000-00000-00000-00000-0"
		})
		held(t, both[1], won == 0)
	}
}

// held fails if there is a hold in force, or none.
func held(t *testing.T, box *verify.Box, want bool) {
	t.Helper()
	holds, err := box.Holds(t.Context(), caller)
	if err != nil || len(holds) != 1 || holds[0].Lifted == want {
		t.Fatalf("held: %+v, %v; want %v", holds, err, want)
	}
}

func failures(t *testing.T, o Options) {
	const attempts = 40
	both := [2]*verify.Box{open(t, o.Open(t), "failures"), open(t, o.Open(t), "failures")}
	id := shown(t, both[0]).Challenge
	var looked, refused atomic.Int32
	together := make(chan struct{})
	var all sync.WaitGroup
	for i := range attempts {
		all.Go(func() {
			<-together
			_, err := both[i%2].Verify(t.Context(), caller, id.String(), "0")
			if _, ok := errors.AsType[*verify.FailedError](err); ok {
				looked.Add(1)
			} else if _, ok := errors.AsType[*verify.TooManyError](err); ok {
				refused.Add(1)
			} else {
				t.Errorf("a verification that cannot pass: %v", err)
			}
		})
	}
	close(together)
	all.Wait()
	if looked.Load() != 10 || refused.Load() != attempts-10 {
		t.Errorf("%d were looked at, %d were refused", looked.Load(), refused.Load())
	}
	held(t, both[1], true)
}

func sameHold(t *testing.T, o Options) {
	both := [2]*verify.Box{open(t, o.Open(t), "same hold"), open(t, o.Open(t), "same hold")}
	ids := make([]verify.ID, racers)
	together := make(chan struct{})
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() {
			<-together
			var err error
			ids[i], err = both[i%2].Open(t.Context(), verify.Subject{Caller: caller, Agent: "release_bot", Block: true})
			if err != nil {
				t.Error(err)
			}
		})
	}
	close(together)
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("one agent has the challenges %v", ids)
		}
	}
	held(t, both[0], true)
}
