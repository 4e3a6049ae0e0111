package aql_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// frozenAsking is the state of a process that is frozen as a whole when it first makes a call for a question, until it
// is thawed.
type frozenAsking struct {
	*store.Memory
	at   string // the call
	thaw chan struct{}

	mu     sync.Mutex
	frozen bool
}

func (f *frozenAsking) hold(ctx context.Context, call, key string) context.Context {
	f.mu.Lock()
	f.frozen = f.frozen || call == f.at && strings.HasPrefix(key, "approve/")
	frozen := f.frozen
	f.mu.Unlock()
	if frozen {
		<-f.thaw
		if strings.HasPrefix(key, "approve/") {
			ctx = context.WithoutCancel(ctx) // the call was under way
		}
	}
	return ctx
}

func (f *frozenAsking) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	return f.Memory.Put(f.hold(ctx, "put", key), key, value, old, ttl)
}

func (f *frozenAsking) Get(ctx context.Context, key string) (store.Entry, error) {
	return f.Memory.Get(f.hold(ctx, "get", key), key)
}

func (f *frozenAsking) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	return f.Memory.List(f.hold(ctx, "list", prefix), prefix, after, limit)
}

func (f *frozenAsking) Delete(ctx context.Context, key string, old store.Version) error {
	return f.Memory.Delete(f.hold(ctx, "delete", key), key, old)
}

// Nobody is asked for an execution that has ended, although a process comes back that was frozen while it asked.
func TestQuestionsOfProcessesThatComeBackAreWithdrawn(t *testing.T) {
	cancel := func(s *asker, id string) { s.call("ann", "cancel_execution", `{"execution_id":"`+id+`"}`) }
	approved := func(s *asker, _ string) {
		time.Sleep(time.Minute)
		s.vote(true, "")
	}
	for name, tt := range map[string]struct {
		end    func(s *asker, id string)
		frozen time.Duration
	}{
		"cancelled meanwhile":           {cancel, time.Minute},
		"asked, approved and completed": {approved, time.Hour},
		"forgotten meanwhile":           {cancel, 2 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := new(store.Memory)
				slow := &frozenAsking{Memory: state, at: "put", thaw: make(chan struct{})}
				s := &asker{inbox: approve.New(state)}
				process := func(of store.Store) *shop {
					return newShop(t, aql.Options{
						Name: "shop", State: of, Executions: aql.Executions{Lease: time.Second},
						Confirmation: aql.Confirmation{Inbox: approve.New},
					}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true},
						s.askOnce(aql.Approval{Message: "May I?", Lifetime: 10 * 24 * time.Hour})))
				}
				first := process(slow)
				s.shop = first
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				s.shop = process(state)
				defer s.stop()
				tt.end(s, id)
				time.Sleep(tt.frozen)
				slow.mu.Lock()
				slow.frozen, slow.at = false, ""
				slow.mu.Unlock()
				close(slow.thaw)
				time.Sleep(time.Hour)
				first.stop()
				items, err := s.inbox.List(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, item := range items {
					if item.StateAt(time.Now()) == approve.Open {
						t.Errorf("a person is asked %q until %v", item.Message, item.Expires)
					}
				}
			})
		})
	}
}
