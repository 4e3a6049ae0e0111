package execution_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// scale is a store that weighs what is read: the bytes, and the records.
type scale struct {
	store.Store
	mu      sync.Mutex
	bytes   int
	records int
}

func (s *scale) weigh(entries ...store.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, entry := range entries {
		s.bytes += len(entry.Value)
		if strings.Contains(entry.Key, "/r/") {
			s.records++
		}
	}
}

// reset returns what was weighed since the last time.
func (s *scale) reset() (bytes, records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes, records = s.bytes, s.records
	s.bytes, s.records = 0, 0
	return bytes, records
}

func (s *scale) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := s.Store.Get(ctx, key)
	s.weigh(entry)
	return entry, err
}

func (s *scale) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := s.Store.List(ctx, prefix, after, limit)
	s.weigh(entries...)
	return entries, err
}

// A list reads the records of what it shows, and of no execution that a filter leaves out for good. It reads no large
// parameters and no large result.
func TestListsAreLight(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 100_000)
	synctest.Test(t, func(t *testing.T) {
		in := &scale{Store: new(store.Memory)}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		do := func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
			if len(run.Params()) == len(large) {
				return large, nil
			}
			return nil, sleepFor(ctx, 1000*time.Hour)
		}
		o := execution.Options{Store: in, Keys: [][]byte{key("a")}, Operations: map[string]*execution.Operation{
			"copy": {Durable: true, Do: do}, "move": {Durable: true, Do: do},
		}}
		e := engines(t, 1, in, o)[0]
		var ids []string
		for _, operation := range []string{"copy", "copy", "copy", "move"} {
			r, err := e.Start(ctx, execution.Start{Operation: operation, CallerKey: ann, Params: large})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
			time.Sleep(time.Second)
		}
		waits, err := e.Start(ctx, execution.Start{Operation: "move", CallerKey: ann, Params: []byte("0")})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for name, test := range map[string]struct {
			query   execution.Query
			want    []string
			records int
		}{
			"all":              {execution.Query{First: 10}, []string{waits.ID, ids[3], ids[2], ids[1], ids[0]}, 5},
			"a page":           {execution.Query{First: 2}, []string{waits.ID, ids[3]}, 2},
			"of an operation":  {execution.Query{First: 10, Operation: "move"}, []string{waits.ID, ids[3]}, 2},
			"of no operation":  {execution.Query{First: 10, Operation: "none"}, nil, 0},
			"that run":         {execution.Query{First: 10, State: execution.Running}, []string{waits.ID}, 1},
			"that have failed": {execution.Query{First: 10, State: execution.Failed}, nil, 1},
			"of an operation, and complete": {
				execution.Query{First: 10, State: execution.Completed, Operation: "move"}, ids[3:], 2,
			},
		} {
			in.reset()
			test.query.CallerKey = ann
			page, err := e.List(ctx, test.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range page.Records {
				got = append(got, r.ID)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if size, records := in.reset(); records != test.records || size > 5000 {
				t.Errorf("%s: %d records were read, want %d; %d bytes", name, records, test.records, size)
			}
		}
		r, err := e.Get(ctx, ann, ids[0])
		if err != nil {
			t.Fatal(err)
		}
		if result, err := e.Result(ctx, r); err != nil || !bytes.Equal(result, large) {
			t.Errorf("a result of %d bytes: %v", len(result), err)
		}
	})
}

// What a list shows of an execution is its record, whatever was noted of it elsewhere; a failed one may go on.
func TestListsShowTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		all := engines(t, 2, new(store.Memory), execution.Options{Operations: map[string]*execution.Operation{
			"work": {Durable: true, Retry: 1, Do: func(ctx context.Context, _ *execution.Run) ([]byte, *execution.Failure) {
				if fails {
					return nil, &execution.Failure{Code: "INTERNAL_ERROR", Final: true}
				}
				if err := sleepFor(ctx, time.Minute); err != nil {
					return nil, err
				}
				return []byte("1"), nil
			}},
		}})
		states := func(want execution.State) {
			t.Helper()
			for _, state := range []execution.State{execution.Failed, execution.Running, execution.Completed} {
				page, err := all[1].List(t.Context(), execution.Query{CallerKey: ann, First: 10, State: state})
				if err != nil {
					t.Fatal(err)
				}
				if (len(page.Records) == 1) != (state == want) {
					t.Errorf("%d are listed as %s; it is %s", len(page.Records), state, want)
				}
			}
		}
		r, err := all[0].Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		ended(t, all[0], r.ID)
		synctest.Wait()
		states(execution.Failed)
		fails = false
		if _, err := all[0].Retry(t.Context(), ann, r.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		states(execution.Running)
		ended(t, all[0], r.ID)
		synctest.Wait()
		states(execution.Completed)
	})
}
