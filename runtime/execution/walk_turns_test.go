package execution_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// killable is the store of a process that can be killed: it calls the store no more.
type killable struct {
	farStore
	killed atomic.Bool
}

var errKilled = errors.New("the process is killed")

func (s *killable) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := s.farStore.Get(ctx, key)
	if s.killed.Load() {
		return store.Entry{}, errKilled
	}
	return entry, err
}

func (s *killable) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if s.killed.Load() {
		return 0, errKilled
	}
	return s.farStore.Put(ctx, key, value, old, ttl)
}

func (s *killable) Delete(ctx context.Context, key string, old store.Version) error {
	if s.killed.Load() {
		return errKilled
	}
	return s.farStore.Delete(ctx, key, old)
}

// A walk goes on where the last one has ended, whichever process that was, and however it has ended: what killed starts
// have left goes, although no process looks at all of the state. A walk of a minute looks at 600 records here.
func TestWalksGoOnInOtherProcesses(t *testing.T) {
	const kept, place, step = 1500, "exec//u/x/0000000000000000", "exec//s/exec_none/result-1"
	for name, tt := range map[string]struct {
		processes int // that work in turn
		lives     time.Duration
		killed    bool
		turns     int // that suffice for two walks over all
	}{
		"two processes in turn":            {2, 2 * time.Minute, false, 6},
		"each ends before its walk":        {100, 40 * time.Second, false, 9},
		"each is killed before that":       {100, 40 * time.Second, true, 11},
		"one process, which goes on later": {1, 2 * time.Minute, false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := farStore{&store.Memory{MaxEntries: 1 << 20}}
				put := func(key, value string) {
					if _, err := in.Put(t.Context(), key, []byte(value), 0, 0); err != nil {
						t.Fatal(err)
					}
				}
				for i := range kept {
					id := fmt.Sprintf("exec_%06d", i)
					put("exec//r/"+id, `1{"id":"`+id+`","operation":"work","state":"completed"}`)
					put(fmt.Sprintf("exec//o/x/%016x/%s", i, id), "")
				}
				put(place, "exec_none/x")
				put(step, "1")
				var all []*execution.Engine
				var stores []*killable
				for range tt.processes {
					stores = append(stores, &killable{farStore: in})
					all = append(all, newEngine(t, stores[len(stores)-1], nil))
				}
				for turn := range tt.turns {
					stop := work(t, all[turn%tt.processes])
					time.Sleep(tt.lives)
					stores[turn%tt.processes].killed.Store(tt.killed)
					stop()
					time.Sleep(12 * time.Minute) // until it is the turn of another one
				}
				for _, key := range []string{place, step} {
					if left, err := in.Get(t.Context(), key); err != nil || left.Exists() {
						t.Errorf("after %d turns, %s is there: %q, %v", tt.turns, key, left.Value, err)
					}
				}
				left, err := in.List(t.Context(), "exec//walk", "", 2)
				if err != nil || len(left) > 1 {
					t.Errorf("walks have left %+v, %v", left, err)
				}
			})
		})
	}
}
