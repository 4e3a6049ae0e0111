package execution_test

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// heldUp is a store that holds up the first write of a record until it thaws.
type heldUp struct {
	store.Store
	holds atomic.Bool // one is held up
	thaw  chan struct{}
}

func (f *heldUp) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if strings.Contains(key, "/r/") && f.holds.CompareAndSwap(false, true) {
		<-f.thaw
	}
	return f.Store.Put(ctx, key, value, old, ttl)
}

// Parameters without a record are removed, and a start that is slow between the two makes another execution.
func TestParametersWithoutARecord(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 5000)
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		slow := &heldUp{Store: in, thaw: make(chan struct{})}
		operations := map[string]*execution.Operation{"work": {Durable: true}}
		starter, err := execution.New(execution.Options{
			Store: slow, Logger: slog.New(slog.DiscardHandler), Operations: operations,
		})
		if err != nil {
			t.Fatal(err)
		}
		walker, err := execution.New(execution.Options{
			Store: in, Logger: slog.New(slog.DiscardHandler), Operations: operations,
		})
		if err != nil {
			t.Fatal(err)
		}
		beside := func() (ids []string) {
			entries, err := in.List(t.Context(), "exec//s/", "", 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				ids = append(ids, strings.Split(entry.Key, "/")[3])
			}
			return ids
		}
		started := make(chan *execution.Record)
		go func() {
			r, err := starter.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann, Params: large})
			if err != nil {
				t.Error(err)
			}
			started <- r
		}()
		synctest.Wait()
		first := beside()
		if len(first) != 1 {
			t.Fatalf("the parameters of %v are there before a record", first)
		}
		if _, err := walker.Walk(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := beside(); len(left) != 0 {
			t.Errorf("a walk has left the parameters of %v", left)
		}
		close(slow.thaw)
		r := <-started
		if now := beside(); len(now) != 1 || now[0] != r.ID || r.ID == first[0] {
			t.Errorf("the parameters of %v are there, and the execution is %s, which was %v", now, r.ID, first)
		}
		if params, err := walker.Params(t.Context(), r); err != nil || !bytes.Equal(params, large) {
			t.Errorf("%d bytes of parameters: %v", len(params), err)
		}
	})
}

// An attempt that pauses leaves no result, whatever it returns.
func TestPausedAttemptsLeaveNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		e := engines(t, 1, in, execution.Options{Operations: map[string]*execution.Operation{
			"work": {Durable: true, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
				for i := range 10 {
					if run.Sleep(ctx, strconv.Itoa(i), time.Minute) != nil {
						break
					}
				}
				return make([]byte, 100<<10), nil
			}},
		}})[0]
		synctest.Wait()
		r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			after   time.Duration
			results int
		}{{9 * time.Minute, 0}, {2 * time.Minute, 1}} {
			time.Sleep(tt.after)
			results, err := in.List(t.Context(), "exec//s/"+r.ID+"/result-", "", 100)
			if err != nil || len(results) != tt.results {
				t.Errorf("%d results, want %d: %v", len(results), tt.results, err)
			}
		}
	})
}

// A result is there for as long as its execution, also where the process is suspended before it says in the record that
// there is one: for a while, or until the result has expired.
func TestResultsLastAsLongAsRecords(t *testing.T) {
	for _, suspended := range []time.Duration{time.Hour, 48 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var again atomic.Bool
			in := &hooked{Store: new(store.Memory), before: func(_, key string, value []byte) error {
				if state, _ := stateIn(key, value); state == execution.Completed && again.CompareAndSwap(false, true) {
					time.Sleep(suspended)
				}
				return nil
			}}
			large := bytes.Repeat([]byte("x"), 5000)
			e := engines(t, 1, in, execution.Options{
				Lease: 100 * time.Hour, Operations: map[string]*execution.Operation{"work": {
					Durable: true, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
						return large, nil
					},
				}},
			})[0]
			synctest.Wait()
			r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(suspended + 24*time.Hour - time.Minute)
			if r, err = e.Get(t.Context(), ann, r.ID); err != nil {
				t.Fatal(err)
			}
			if result, err := e.Result(t.Context(), r); !bytes.Equal(result, large) {
				t.Errorf("suspended for %v, it has the result %.10q: %v", suspended, result, err)
			}
		})
	}
}
