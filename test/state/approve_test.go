package state

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/policy"
)

// waits are the options of an adapter whose requests wait for people.
var waits = aql.Confirmation{HumanOnly: true, Inbox: approve.New, IssuesPerMinute: -1}

// approvals is an adapter on shared state that does what its input says, with many goroutines at once. It tells which
// item they wait for, and how many of them got through:
//
//	CALLER N
func approvals(location string) error {
	ctx := context.Background()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	defer state.Close()
	var ran atomic.Int32
	adapter, err := newAdapter(aql.Options{State: state, StateTimeout: patience, Confirmation: waits},
		func(string) { ran.Add(1) })
	if err != nil {
		return err
	}
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var caller string
		var n int
		if _, err := fmt.Sscan(in.Text(), &caller, &n); err != nil {
			return fmt.Errorf("%q: %w", in.Text(), err)
		}
		before := ran.Load()
		var wg sync.WaitGroup
		var item, unexpected atomic.Value
		item.Store("none")
		for range n {
			wg.Go(func() {
				session := adapter.NewSession()
				defer session.Close()
				a, err := remove(ctx, session, caller, "x", "")
				switch {
				case err != nil:
					unexpected.Store(err.Error())
				case a.Error.Details.Approval != "":
					item.Store(a.Error.Details.Approval)
				case !a.Success:
					unexpected.Store(a.Error.Code + " " + a.Error.Message)
				}
			})
		}
		wg.Wait()
		if u := unexpected.Load(); u != nil {
			return errors.New(u.(string))
		}
		fmt.Println(item.Load(), ran.Load()-before)
	}
	return in.Err()
}

// send has a worker send requests, and returns the item that they wait for and how many got through.
func (p *process) send(t *testing.T, caller string, n int) (item string, through int) {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, caller, n); err != nil {
		t.Fatal(err)
	}
	return p.sent(t)
}

func (p *process) sent(t *testing.T) (item string, through int) {
	t.Helper()
	if _, err := fmt.Sscan(p.line(t), &item, &through); err != nil {
		t.Fatal(err)
	}
	return item, through
}

func startApprovals(t *testing.T, location string) *process {
	t.Helper()
	p := start(t, "approvals", location)
	if got := p.line(t); got != "ready" {
		t.Fatal(got)
	}
	return p
}

// openInbox opens the inbox of a location, as a person's program does.
func openInbox(t *testing.T, location string) approve.Inbox {
	t.Helper()
	state, err := openStore(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	return approve.New(state)
}

func voteOf(who string, groups ...string) approve.Vote {
	return approve.Vote{
		By: aql.Caller{Subject: who, Issuer: "test"}, Groups: groups, Channel: "test", Approve: true, At: time.Now(),
	}
}

// REQ-CT-09, REQ-NT-07: of all requests in four processes, one uses up an approval. An approval outlives the process
// that asked, and that of a request is none of another caller's.
func TestOneApprovalIsUsedOnce(t *testing.T) {
	const processes = 4
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			location := p.open(t)
			inbox := openInbox(t, location)
			workers := make([]*process, processes)
			for i := range workers {
				workers[i] = startApprovals(t, location)
			}
			for round := range max(rounds(t)/10, 10) {
				caller := fmt.Sprintf("round-%d", round)
				item, _ := workers[round%processes].send(t, caller, 1)
				if _, err := inbox.Vote(t.Context(), item, voteOf("eve")); err != nil {
					t.Fatal(err)
				}
				if round == 3 { // killed between approval and use
					workers[round].Process.Kill()
					workers[round].Wait() //nolint:errcheck // it was killed
					workers[round] = startApprovals(t, location)
				}
				if _, through := workers[0].send(t, "other-"+caller, 1); through != 0 {
					t.Fatalf("round %d: another caller got through", round)
				}
				for _, w := range workers {
					if _, err := fmt.Fprintln(w.in, caller, 8); err != nil {
						t.Fatal(err)
					}
				}
				through := 0
				for _, w := range workers {
					_, n := w.sent(t)
					through += n
				}
				if through != 1 {
					t.Fatalf("round %d: %d got through, want 1", round, through)
				}
			}
			for _, w := range workers {
				w.in.Close()
				if err := w.Wait(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Of three people who approve at the same time, where two are needed, two count, and the request runs once.
func TestApproversRace(t *testing.T) {
	rules := &policy.Policy{Rules: []policy.Rule{{
		Name: "two", Effect: policy.Confirm, Operations: []string{"delete_thing"},
		Approvers: &policy.Approvers{Count: 2, Groups: []string{"ops"}, NotRequester: true},
	}}}
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			location := p.open(t)
			state, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { state.Close() })
			var ran atomic.Int32
			adapter, err := newAdapter(aql.Options{
				State: state, StateTimeout: patience, Policy: rules,
				Confirmation: aql.Confirmation{Inbox: approve.New, IssuesPerMinute: -1},
			}, func(string) { ran.Add(1) })
			if err != nil {
				t.Fatal(err)
			}
			inboxes := []approve.Inbox{openInbox(t, location), openInbox(t, location), openInbox(t, location)}
			for round := range 10 {
				caller := fmt.Sprintf("round-%d", round)
				asked, err := remove(t.Context(), adapter.NewSession(), caller, "x", "")
				if err != nil {
					t.Fatal(err)
				}
				var counted, late atomic.Int32
				together := make(chan struct{})
				var wg sync.WaitGroup
				for i, inbox := range inboxes {
					wg.Go(func() {
						<-together
						_, err := inbox.Vote(t.Context(), asked.Error.Details.Approval, voteOf(fmt.Sprint("eve-", i), "ops"))
						switch {
						case err == nil:
							counted.Add(1)
						case errors.Is(err, approve.ErrDecided):
							late.Add(1)
						default:
							t.Error(err)
						}
					})
				}
				close(together)
				wg.Wait()
				if counted.Load() != 2 || late.Load() != 1 {
					t.Fatalf("round %d: %d count, %d come late; want 2 and 1", round, counted.Load(), late.Load())
				}
				for range 2 {
					if _, err := remove(t.Context(), adapter.NewSession(), caller, "x", ""); err != nil {
						t.Fatal(err)
					}
				}
				if ran.Swap(0) != 1 {
					t.Fatalf("round %d: it did not run once", round)
				}
			}
		})
	}
}
