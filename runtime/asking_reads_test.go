package aql_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// readStore counts the calls of a store that read, and tells nobody of changes.
type readStore struct {
	store.Store
	reads atomic.Int64
}

func (s *readStore) Get(ctx context.Context, key string) (store.Entry, error) {
	s.reads.Add(1)
	return s.Store.Get(ctx, key)
}

func (s *readStore) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	s.reads.Add(1)
	return s.Store.List(ctx, prefix, after, limit)
}

// toldStore is a readStore that tells of changes.
type toldStore struct{ *readStore }

func (s toldStore) Notify(ctx context.Context, topic string) error {
	return s.Store.(store.Notifier).Notify(ctx, topic)
}

func (s toldStore) Listen(ctx context.Context, topic string) <-chan struct{} {
	return s.Store.(store.Notifier).Listen(ctx, topic)
}

// What a process reads of the store is about the same whether it has paused executions or not, and one that is decided
// about, answered or cancelled goes on within two seconds all the same.
func TestWhatIsReadWhilePaused(t *testing.T) {
	const paused, seconds = 100, 600
	for _, tells := range []bool{true, false} {
		for _, durable := range []bool{true, false} {
			for _, asks := range []bool{true, false} {
				t.Run(fmt.Sprintf("the store tells %v, durable %v, an operator %v", tells, durable, asks), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						counted := &readStore{Store: new(store.Memory)}
						state := store.Store(counted)
						if tells {
							state = toldStore{counted}
						}
						s := newShop(t, aql.Options{
							Name: "shop", State: state, Confirmation: aql.Confirmation{Inbox: approve.New},
						}, longOperation("build", gen.Lifecycle{Durable: durable, Asks: true},
							func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
								if asks {
									_, err := run.Ask(ctx, aql.Approval{Message: "May I?"})
									return &built{}, err
								}
								_, err := run.Wait(ctx, "what")
								return &built{}, err
							}))
						defer s.stop()
						reads := func() int64 {
							time.Sleep(time.Minute)
							before := counted.reads.Load()
							time.Sleep(seconds * time.Second)
							return counted.reads.Load() - before
						}
						idle := reads()
						var ids []string
						for range paused {
							ids = append(ids, s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID)
						}
						if more := reads() - idle; more > 4*seconds {
							t.Errorf("%d paused executions cost %d reads in %d seconds", paused, more, seconds)
						}
						decide(t, s, approve.New(state), asks, ids[0])
						s.call("ann", "cancel_execution", `{"execution_id":"`+ids[1]+`"}`)
						time.Sleep(2 * time.Second)
						for i, want := range []string{"completed", "cancelled", "paused"} {
							if got := s.call("ann", "get_execution", `{"execution_id":"`+ids[i]+`"}`); got.Data.Status != want {
								t.Errorf("%+v, want it to be %s", got.Data, want)
							}
						}
					})
				})
			}
		}
	}
}

// decide answers what an execution waits for: as an operator, or as its caller.
func decide(t *testing.T, s *shop, inbox approve.Inbox, asks bool, id string) {
	t.Helper()
	if !asks {
		s.call("ann", "answer_execution", `{"execution_id":"`+id+`","name":"what","value":1}`)
		return
	}
	items, err := inbox.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if item.Execution != id {
			continue
		}
		_, err := inbox.Vote(t.Context(), item.ID, approve.Vote{
			By: identity.Caller{Subject: "eve"}, Channel: "test", Approve: true, At: time.Now(),
		})
		if err != nil {
			t.Error(err)
		}
	}
}
