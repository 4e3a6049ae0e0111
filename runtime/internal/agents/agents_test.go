package agents_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/agents"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

var now = time.Date(2026, 11, 22, 0, 16, 0, 0, time.UTC)

var ann = agents.Who{Caller: identity.Caller{Subject: "ann"}, Agent: "bot"}

// faulty is a store of which one call fails, or one of the audit log beside it: after it was made, or before.
type faulty struct {
	store.Store
	fail  int // which call, from 1; 0: none
	calls int
	after bool
}

var errFault = errors.New("the store is down")

func (s *faulty) hit(change func() error) error {
	s.calls++
	if s.calls != s.fail {
		return change()
	}
	if s.after {
		_ = change()
	}
	return errFault
}

func (s *faulty) Get(ctx context.Context, key string) (e store.Entry, err error) {
	err = s.hit(func() (err error) { e, err = s.Store.Get(ctx, key); return err })
	return e, err
}

func (s *faulty) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (v store.Version, err error) {
	err = s.hit(func() (err error) { v, err = s.Store.Put(ctx, key, value, old, ttl); return err })
	return v, err
}

func (s *faulty) Delete(ctx context.Context, key string, old store.Version) error {
	return s.hit(func() error { return s.Store.Delete(ctx, key, old) })
}

func (s *faulty) List(ctx context.Context, prefix, after string, limit int) (list []store.Entry, err error) {
	err = s.hit(func() (err error) { list, err = s.Store.List(ctx, prefix, after, limit); return err })
	return list, err
}

// keeper returns a keeper on a store, and what it has recorded.
func keeper(t *testing.T, s store.Store) (*agents.Keeper, *[]audit.Record) {
	t.Helper()
	clock := func() time.Time { return now }
	engine, err := execution.New(execution.Options{
		Store: s, Name: "shop", Logger: slog.New(slog.DiscardHandler), Now: clock,
		Operations: map[string]*execution.Operation{agents.Operation: {Durable: true, Outside: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	records := new([]audit.Record)
	k := agents.New(agents.Options{
		Adapter: "shop", Store: s, Inbox: approve.New(s), Engine: engine, Logger: slog.New(slog.DiscardHandler), Now: clock,
		Channels: []verify.Channel{verify.Terminal(verify.OtherUser)},
		Write: func(_ context.Context, list ...audit.Record) error {
			write := func() error {
				*records = append(*records, list...)
				return nil
			}
			if f, ok := s.(*faulty); ok {
				return f.hit(write)
			}
			return write()
		},
	})
	l := &policy.Loop{LoopLimits: policy.LoopLimits{
		MaxSteps: 200, Deny: []string{"rm -rf*"}, RequiresApproval: []string{"deploy*"}, AutoApprove: []string{"read *"},
	}}
	if err := k.Configure(l); err != nil {
		t.Fatal(err)
	}
	return k, records
}

func start(t *testing.T, k *agents.Keeper, w agents.Who) string {
	t.Helper()
	d, err := k.Start(t.Context(), w, 0, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d.Execution
}

func evaluated(records []audit.Record) (n int) {
	for _, r := range records {
		if r.Event == audit.StepEvaluated && r.Outcome != audit.Denied {
			n++
		}
	}
	return n
}

// Whichever call of the store fails: who is told that it is blocked stays so, and a report that is denied is never
// answered with a directive to go on (MCP-AQL core §8.8.3).
func TestBlocksWhateverFails(t *testing.T) {
	for _, after := range []bool{false, true} {
		for fail := 1; ; fail++ {
			memory := new(store.Memory)
			whole, _ := keeper(t, memory)
			start(t, whole, ann)
			s := &faulty{Store: memory, fail: fail, after: after}
			k, _ := keeper(t, s)
			s.calls = 0
			d, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "rm -rf /"})
			if err == nil && (d.Continue || !d.Stopped) {
				t.Fatalf("call %d fails (%t): it is told %+v", fail, after, d)
			}
			next, nextErr := whole.Report(t.Context(), agents.Report{Who: ann, Hint: "read x"})
			_, blocked := errors.AsType[*agents.BlockedError](nextErr)
			if err == nil && !blocked {
				t.Fatalf("call %d fails (%t): it is blocked no more: %+v, %v", fail, after, next, nextErr)
			}
			if last, err := whole.Report(t.Context(), agents.Report{Who: ann, Hint: "rm -rf /"}); err == nil && !last.Stopped {
				t.Fatalf("call %d fails (%t): the action goes on then: %+v", fail, after, last)
			}
			if s.calls < fail {
				break
			}
		}
	}
}

// Whichever call of the store or of the audit log fails: a block is on record, and other agents are told of it, once
// its agent has come again (REQ-NT-06).
func TestBlocksAreToldWhateverFails(t *testing.T) {
	bob := agents.Who{Caller: identity.Caller{Subject: "bob"}, Agent: "bob_bot"}
	for call, last := 1, false; !last; call++ {
		for _, after := range []bool{false, true} {
			memory := new(store.Memory)
			whole, records := keeper(t, memory)
			s := &faulty{Store: memory, after: after}
			failing, more := keeper(t, s)
			start(t, whole, ann)
			start(t, whole, bob)
			s.calls, s.fail = 0, call
			_, _ = failing.Report(t.Context(), agents.Report{Who: ann, Hint: "rm -rf /"})
			last = s.calls < call
			challenge := ""
			for range 3 { // the report comes again, as it was not answered, and then some
				_, err := whole.Report(t.Context(), agents.Report{Who: ann, Hint: "rm -rf /"})
				if blocked, ok := errors.AsType[*agents.BlockedError](err); ok {
					challenge = blocked.Hold.Challenge.String()
				} else if err != nil {
					t.Fatalf("call %d fails (%t): %v", call, after, err)
				}
			}
			var told []string
			for range 2 {
				d, err := whole.Report(t.Context(), agents.Report{Who: bob, Hint: "read x"})
				if err != nil || !d.Continue {
					t.Fatalf("call %d fails (%t): another agent is told %+v, %v", call, after, d, err)
				}
				for _, n := range d.Notifications {
					told = append(told, n.Type+" "+n.Verification)
				}
			}
			if want := []string{"danger_zone " + challenge}; !slices.Equal(told, want) {
				t.Errorf("call %d fails (%t): another agent is told %q, want %q", call, after, told, want)
			}
			if !slices.ContainsFunc(append(*records, *more...), func(r audit.Record) bool {
				return r.Event == audit.AgentBlocked && r.ChallengeID == challenge
			}) {
				t.Errorf("call %d fails (%t): the block is not on record", call, after)
			}
		}
	}
}

// Whichever call of the store fails: an approval lets its action go on once, and no step goes on that is not on record.
func TestApprovalsWhateverFails(t *testing.T) {
	for _, after := range []bool{false, true} {
		for fail := 1; ; fail++ {
			memory := new(store.Memory)
			whole, records := keeper(t, memory)
			start(t, whole, ann)
			deploy := agents.Report{Who: ann, Hint: "deploy it"}
			d, err := whole.Report(t.Context(), deploy)
			if err != nil || d.Approval == "" {
				t.Fatalf("%+v, %v", d, err)
			}
			_, err = approve.New(memory).Vote(t.Context(), d.Approval, approve.Vote{
				By: identity.Caller{Subject: "olga"}, Channel: "test", Approve: true, At: now,
			})
			if err != nil {
				t.Fatal(err)
			}
			s := &faulty{Store: memory, fail: fail, after: after}
			k, more := keeper(t, s)
			s.calls = 0
			went := 0
			for i, k := range []*agents.Keeper{k, whole, whole} {
				if d, err := k.Report(t.Context(), deploy); err == nil && d.Continue {
					went++
				} else if err != nil && !errors.Is(err, errFault) {
					t.Fatalf("call %d fails (%t): report %d: %v", fail, after, i, err)
				}
			}
			if went > 1 {
				t.Fatalf("call %d fails (%t): it went on %d times", fail, after, went)
			}
			if recorded := evaluated(*records) + evaluated(*more); recorded < went {
				t.Fatalf("call %d fails (%t): %d of %d are on record", fail, after, recorded, went)
			}
			if s.calls < fail {
				if went != 1 {
					t.Errorf("nothing failed, and it went on %d times", went)
				}
				break
			}
		}
	}
}

// Whichever call of the store or of the audit log fails: what people have decided is good for the same report when it
// comes again, and for no other one.
func TestDecisionsWhateverFails(t *testing.T) {
	for name, tt := range map[string]struct {
		steps  int
		report agents.Report
	}{
		"an action":                {20, agents.Report{Hint: "deploy it"}},
		"a verified action":        {20, agents.Report{Hint: "sudo apt upgrade"}},
		"a failure":                {20, agents.Report{Hint: "look", Outcome: loop.Failed}},
		"steps":                    {1, agents.Report{Hint: "look"}},
		"a failure with an action": {20, agents.Report{Hint: "deploy it", Outcome: loop.Failed}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &policy.Loop{LoopLimits: policy.LoopLimits{MaxSteps: tt.steps, RequiresApproval: []string{"deploy*"}}}
			for call, last := 1, false; !last; call++ {
				for _, after := range []bool{false, true} {
					memory := new(store.Memory)
					whole, _ := keeper(t, memory)
					s := &faulty{Store: memory, after: after}
					failing, _ := keeper(t, s)
					for _, k := range []*agents.Keeper{whole, failing} {
						if err := k.Configure(l); err != nil {
							t.Fatal(err)
						}
					}
					start(t, whole, ann)
					report := func(k *agents.Keeper, request string) (*agents.Directive, error) {
						r := tt.report
						r.Who, r.Request = ann, request
						return k.Report(t.Context(), r)
					}
					if tt.steps == 1 {
						if d, err := report(whole, ""); err != nil || !d.Continue {
							t.Fatalf("the first step: %+v, %v", d, err)
						}
					}
					for i := range strings.Count(name, "action") + strings.Count(name, "failure") + strings.Count(name, "steps") {
						if d, err := report(whole, fmt.Sprint("before ", i)); err != nil || d.Continue {
							t.Fatalf("before people decide: %+v, %v", d, err)
						}
						approveAll(t, memory)
					}
					s.calls, s.fail = 0, call
					first, err := report(failing, "r1")
					last = s.calls < call
					if err == nil && !first.Continue {
						t.Fatalf("call %d fails (%t): it is told %+v", call, after, first)
					}
					if d, err := report(whole, "r1"); err != nil || !d.Continue {
						t.Fatalf("call %d fails (%t): the same report is told %+v, %v", call, after, d, err)
					}
					if d, err := report(whole, "r2"); err != nil || d.Continue {
						t.Fatalf("call %d fails (%t): the next one is told %+v, %v", call, after, d, err)
					}
				}
			}
		})
	}
}

// Whichever call of the store or of the audit log fails: the end of a block is on record.
func TestUnblockedWhateverFails(t *testing.T) {
	for call, last := 1, false; !last; call++ {
		for _, after := range []bool{false, true} {
			memory := new(store.Memory)
			whole, records := keeper(t, memory)
			s := &faulty{Store: memory, after: after}
			failing, more := keeper(t, s)
			start(t, whole, ann)
			if d, err := whole.Report(t.Context(), agents.Report{Who: ann, Hint: "rm -rf /"}); err != nil || !d.Stopped {
				t.Fatalf("%+v, %v", d, err)
			}
			approveAll(t, memory)
			s.calls, s.fail = 0, call
			_, _ = failing.Report(t.Context(), agents.Report{Who: ann, Hint: "read x"})
			last = s.calls < call
			if d, err := whole.Report(t.Context(), agents.Report{Who: ann, Hint: "read x"}); err != nil || !d.Continue {
				t.Fatalf("call %d fails (%t): %+v, %v", call, after, d, err)
			}
			if !slices.ContainsFunc(append(*records, *more...), func(r audit.Record) bool {
				return r.Event == audit.AgentUnblocked
			}) {
				t.Errorf("call %d fails (%t): the end of the block is not on record", call, after)
			}
		}
	}
}

// approveAll approves of all that waits for a person.
func approveAll(t *testing.T, s store.Store) {
	t.Helper()
	box, err := verify.New(verify.Options{Store: s, Adapter: "shop", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	inbox := box.Inbox(approve.New(s))
	items, err := inbox.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if item.State != approve.Open {
			continue
		}
		_, err := inbox.Vote(t.Context(), item.ID, approve.Vote{
			By: identity.Caller{Subject: "olga"}, Channel: "test", Approve: true, Reason: "I looked", At: now,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// If it cannot be read what holds the agents of a caller, none of them goes on, and none is started.
func TestUnreadableHolds(t *testing.T) {
	memory := new(store.Memory)
	k, _ := keeper(t, memory)
	start(t, k, ann)
	other := agents.Who{Caller: identity.Caller{Subject: "bob"}, Agent: "bot"}
	start(t, k, other)
	if d, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "rm -rf /"}); err != nil || !d.Stopped {
		t.Fatalf("%+v, %v", d, err)
	}
	entries, err := memory.List(t.Context(), "verify/", "", 10)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if _, err := memory.Put(t.Context(), entries[0].Key, []byte("?"), entries[0].Version, 0); err != nil {
		t.Fatal(err)
	}
	if d, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "read x"}); err == nil {
		t.Errorf("it is told %+v", d)
	}
	if err := k.Check(t.Context(), agents.Who{Caller: ann.Caller, Agent: "new"}, 0); err == nil {
		t.Error("it may start another agent")
	}
	if d, err := k.Report(t.Context(), agents.Report{Who: other, Hint: "read x"}); err != nil || !d.Continue {
		t.Errorf("another caller: %+v, %v", d, err)
	}
}

// What waits to be told is bounded, and who reads late is told how much was dropped.
func TestNotificationsAreBounded(t *testing.T) {
	k, _ := keeper(t, new(store.Memory))
	start(t, k, ann)
	report := func() []agents.Notification {
		t.Helper()
		d, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "read x"})
		if err != nil {
			t.Fatal(err)
		}
		return d.Notifications
	}
	for i := range 130 {
		if err := k.Pending(t.Context(), ann, fmt.Sprint("o", i), "destructive", ""); err != nil {
			t.Fatal(err)
		}
	}
	told := report()
	if len(told) != 101 || told[0].Message != "Notifications that came before were dropped: 30" ||
		told[1].Operation != "o30" || told[100].Operation != "o129" {
		t.Errorf("%d: %+v … %+v", len(told), told[0], told[len(told)-1])
	}
	if told := report(); len(told) != 0 {
		t.Errorf("told again: %+v", told)
	}
	if err := k.Pending(t.Context(), agents.Who{Caller: identity.Caller{Subject: "eve"}}, "o", "", ""); err != nil {
		t.Error(err)
	}
	if told := report(); len(told) != 0 {
		t.Errorf("told of another caller's: %+v", told)
	}
}

// People see all of a hint, however long it is.
func TestLongHintsAreShownWhole(t *testing.T) {
	memory := new(store.Memory)
	k, _ := keeper(t, memory)
	start(t, k, ann)
	hint := "deploy " + strings.Repeat("ä", 900) + " and then something else"
	d, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: hint})
	if err != nil {
		t.Fatal(err)
	}
	item, err := approve.New(memory).Get(t.Context(), d.Approval)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(item.Params, "something else") || strings.Contains(item.Params, "bytes)") {
		t.Errorf("%s", item.Params)
	}
}
