package aql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// killed is the state of a process that is killed when it is about to put an entry whose key has a text in it.
type killed struct {
	*store.Memory
	at   string
	dead bool
}

var errKilled = errors.New("the process is dead")

func (k *killed) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	k.dead = k.dead || strings.Contains(key, k.at)
	if k.dead {
		return 0, errKilled
	}
	return k.Memory.Put(ctx, key, value, old, ttl)
}

func (k *killed) Get(ctx context.Context, key string) (store.Entry, error) {
	if k.dead {
		return store.Entry{}, errKilled
	}
	return k.Memory.Get(ctx, key)
}

func (k *killed) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if k.dead {
		return nil, errKilled
	}
	return k.Memory.List(ctx, prefix, after, limit)
}

func (k *killed) Delete(ctx context.Context, key string, old store.Version) error {
	if k.dead {
		return errKilled
	}
	return k.Memory.Delete(ctx, key, old)
}

// killOnPut returns a state whose process is killed before it puts an entry whose key has a text in it.
func killOnPut(state *store.Memory, at string) *killed { return &killed{Memory: state, at: at} }

// Where the process is killed between a question, its decision and the step that keeps it, the next one goes on with
// the decision, and nobody is asked again.
func TestKilledProcessesDoNotAskAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		approves bool
		state    approve.State
		status   string
	}{
		"approved": {true, approve.Used, "completed"},
		"denied":   {false, approve.Denied, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := new(store.Memory)
				s := &asker{inbox: approve.New(state)}
				process := func(of store.Store) {
					s.shop = newShop(t, aql.Options{
						Name: "shop", State: of, Executions: aql.Executions{Lease: time.Second},
						Confirmation: aql.Confirmation{Inbox: approve.New},
					}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true}, s.askOnce(aql.Approval{Message: "May I?"})))
				}
				process(killOnPut(state, "/p/")) // behind the question, before the pause
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				s.stop()
				asked := s.item()
				s.vote(tt.approves, "my word")
				time.Sleep(time.Minute)
				process(killOnPut(state, "/s/")) // with the decision, before that is a step
				time.Sleep(time.Minute)
				s.stop()
				process(state)
				defer func() { s.stop() }()
				got := s.end("ann", id)
				if got.Data.Status != tt.status || s.attempts != 3 || len(s.decisions) != 1 ||
					s.decisions[0].Approved != tt.approves || s.decisions[0].Reason != "my word" {
					t.Errorf("%+v after %d attempts: %+v", got.Data, s.attempts, s.decisions)
				}
				if item := s.item(); item.ID != asked.ID || item.State != tt.state {
					t.Errorf("%+v, and %+v was asked first", item, asked)
				}
			})
		})
	}
}
