package collections_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/store"
)

// hungState is a state that answers no question.
type hungState struct {
	store.Store
	asked atomic.Int64
}

func (s *hungState) Get(ctx context.Context, _ string) (store.Entry, error) {
	s.asked.Add(1)
	<-ctx.Done()
	return store.Entry{}, ctx.Err()
}

// Requests that need the key of cursors wait for one look-up, and each no longer than its own context and the time that
// the state has.
func TestAStateThatHangsHoldsUpNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := &hungState{}
		const patience = time.Second
		s := adapterOf(t, manyParts(3), aql.Options{State: state, StateTimeout: patience}).NewSession()
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				ctx, within := t.Context(), patience
				if i%2 == 0 {
					within = patience / 10
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, within)
					defer cancel()
				}
				began := time.Now()
				answer := string(s.Call(ctx, "mcp_aql_read", []byte(`{"operation":"list_slice"}`)).JSON)
				if took := time.Since(began); took != within {
					t.Errorf("the answer takes %v, want %v", took, within)
				}
				if !strings.Contains(answer, "state is unavailable, so the operation was not run; try again later") {
					t.Errorf("the answer is %s", answer)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if n := state.asked.Load(); n != 1 {
			t.Errorf("the state was asked %d times, want once", n)
		}
	})
}

// panicking is a state whose first answer is a panic.
type panicking struct {
	store.Store
	asked atomic.Int64
}

func (s *panicking) Get(ctx context.Context, key string) (store.Entry, error) {
	if s.asked.Add(1) == 1 {
		panic(errors.New("out of order"))
	}
	return s.Store.Get(ctx, key)
}

// A look-up that failed is made again for the next request.
func TestTheKeyOfCursorsIsLookedUpAgain(t *testing.T) {
	s := adapterOf(t, manyParts(3), aql.Options{State: &panicking{Store: new(store.Memory)}}).NewSession()
	if answer := send(t, s, "list_slice", `{}`); answer["success"] != false {
		t.Errorf("the state panics: %v", answer)
	}
	if answer := send(t, s, "list_slice", `{}`); answer["success"] != true {
		t.Errorf("the state is well again: %v", answer)
	}
}
