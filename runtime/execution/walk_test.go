package execution_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// farStore is a store that takes a while to read a record.
type farStore struct{ store.Store }

func (s farStore) Get(ctx context.Context, key string) (store.Entry, error) {
	if strings.Contains(key, "/r/") {
		time.Sleep(100 * time.Millisecond)
	}
	return s.Store.Get(ctx, key)
}

// A walk over more executions than can be read within a lease, or within one walk, costs no worker its lease, and comes
// to the last of them.
func TestLongWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := farStore{&store.Memory{MaxEntries: 1 << 20}}
		put := func(key, value string) {
			if _, err := in.Put(t.Context(), key, []byte(value), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		const kept, forgotten = 1000, "exec_zforgotten"
		for i := range kept {
			id := fmt.Sprintf("exec_%06d", i)
			put("exec//r/"+id, `1{"id":"`+id+`","operation":"work","state":"completed"}`)
			put(fmt.Sprintf("exec//o/x/%016x/%s", i, id), "")
		}
		put("exec//r/"+forgotten, `1{"id":"`+forgotten+`","operation":"nap","state":"pending"}`)
		put(fmt.Sprintf("exec//o/x/%016x/%s", kept, forgotten), "")
		attempts, napped := 0, 0
		all := engines(t, 1, in, execution.Options{Operations: map[string]*execution.Operation{
			"work": {Durable: true, Do: func(ctx context.Context, _ *execution.Run) ([]byte, *execution.Failure) {
				attempts++
				return []byte("1"), sleepFor(ctx, 35*time.Minute)
			}},
			"nap": {Durable: true, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
				napped++
				return []byte("1"), nil
			}},
		}})
		synctest.Wait()
		if _, err := all[0].Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if attempts != 1 {
			t.Errorf("%d attempts at an execution whose worker lives", attempts)
		}
		if napped != 1 {
			t.Errorf("%d attempts at a forgotten execution behind %d others", napped, kept)
		}
	})
}

// sleepFor waits, and fails where ctx ends.
func sleepFor(ctx context.Context, d time.Duration) *execution.Failure {
	select {
	case <-ctx.Done():
		return &execution.Failure{Code: "INTERNAL_ERROR", Message: "ended"}
	case <-time.After(d):
		return nil
	}
}

// handOver is a store in which a process goes on with an execution as soon as somebody looks at the entries of workers:
// it queues it, and removes its own entry.
type handOver struct {
	store.Store
	queue, work string
}

func (s *handOver) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if strings.HasSuffix(prefix, "/w/") && s.work != "" {
		if _, err := s.Put(ctx, s.queue, nil, 0, 0); err != nil {
			return nil, err
		}
		entry, err := s.Get(ctx, s.work)
		if err != nil {
			return nil, err
		}
		if err := s.Delete(ctx, s.work, entry.Version); err != nil {
			return nil, err
		}
		s.work = ""
	}
	return s.Store.List(ctx, prefix, after, limit)
}

// An execution that is queued while a walk looks for its entries was not forgotten.
func TestWalkBesideAHandOver(t *testing.T) {
	in := &handOver{Store: new(store.Memory), queue: "exec//q/0000000000000000/exec_x", work: "exec//w/r1/exec_x"}
	for key, value := range map[string]string{
		"exec//r/exec_x":     `1{"id":"exec_x","operation":"work","state":"pending","due":"1970-01-01T00:00:00Z"}`,
		"exec//o/x/0/exec_x": "", in.work: "",
	} {
		if _, err := in.Put(t.Context(), key, []byte(value), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	e, err := execution.New(execution.Options{Store: in, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := e.Walk(t.Context()); n != 0 || err != nil || in.work != "" {
		t.Errorf("%d executions were forgotten: %v", n, err)
	}
}

// queueing is a dispatcher that gets a job from another process as soon as somebody looks at the entries of workers.
type queueing struct {
	execution.Dispatcher
	jobs map[string]bool
}

func (d *queueing) Enqueue(_ context.Context, job execution.Job) (bool, error) {
	known := d.jobs[job.Execution]
	d.jobs[job.Execution] = true
	return !known, nil
}

// queuedElsewhere is a store in which a process queues an execution with a dispatcher, and removes its own entry, after
// a number of calls.
type queuedElsewhere struct {
	store.Store
	calls, at int
	queue     func()
	work      string
}

func (s *queuedElsewhere) call(ctx context.Context) error {
	if s.calls++; s.calls != s.at {
		return nil
	}
	s.queue()
	entry, err := s.Store.Get(ctx, s.work)
	if err != nil {
		return err
	}
	return s.Delete(ctx, s.work, entry.Version)
}

func (s *queuedElsewhere) Get(ctx context.Context, key string) (store.Entry, error) {
	if err := s.call(ctx); err != nil {
		return store.Entry{}, err
	}
	return s.Store.Get(ctx, key)
}

func (s *queuedElsewhere) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if err := s.call(ctx); err != nil {
		return nil, err
	}
	return s.Store.List(ctx, prefix, after, limit)
}

// An execution that another process queues with a dispatcher while a walk looks at it was not forgotten, whenever that
// is.
func TestWalkBesideADispatcher(t *testing.T) {
	for at := 1; ; at++ {
		d := &queueing{jobs: make(map[string]bool)}
		in := &queuedElsewhere{
			Store: new(store.Memory), at: at, work: "exec//w/r1/exec_x", queue: func() { d.jobs["exec_x"] = true },
		}
		for key, value := range map[string]string{
			"exec//r/exec_x":     `1{"id":"exec_x","operation":"work","state":"pending","due":"1970-01-01T00:00:00Z"}`,
			"exec//o/x/0/exec_x": "", in.work: "",
		} {
			if _, err := in.Put(t.Context(), key, []byte(value), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		e, err := execution.New(execution.Options{Store: in, Dispatcher: d, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := e.Walk(t.Context()); n != 0 || err != nil {
			t.Errorf("after call %d: %d executions were forgotten: %v", at, n, err)
		}
		if in.calls < at {
			if at < 6 {
				t.Errorf("a walk makes %d calls of the store; it should make more", in.calls)
			}
			return
		}
	}
}

// completing is a store in which an execution is made, and completes, as soon as its record was read.
type completing struct {
	store.Store
	done bool
}

func (s *completing) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := s.Store.Get(ctx, key)
	if err != nil || key != "exec//r/exec_x" || s.done {
		return entry, err
	}
	s.done = true
	for key, value := range map[string]string{
		key:                       `1{"id":"exec_x","operation":"work","state":"completed","result_aside":"result-1"}`,
		"exec//s/exec_x/result-1": `"large"`,
	} {
		if _, err := s.Put(ctx, key, []byte(value), 0, 0); err != nil {
			return entry, err
		}
	}
	params, err := s.Store.Get(ctx, "exec//s/exec_x/params")
	if err == nil {
		err = s.Delete(ctx, params.Key, params.Version)
	}
	return entry, err
}

// A walk that found parameters without a record does not remove the result of an execution that was made since.
func TestWalkBesideACompletion(t *testing.T) {
	in := &completing{Store: new(store.Memory)}
	if _, err := in.Put(t.Context(), "exec//s/exec_x/params", []byte(`"large"`), 0, 0); err != nil {
		t.Fatal(err)
	}
	e, err := execution.New(execution.Options{Store: in, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Walk(t.Context()); err != nil || !in.done {
		t.Fatalf("walked, and the execution was made: %v: %v", in.done, err)
	}
	if entry, err := in.Get(t.Context(), "exec//s/exec_x/result-1"); err != nil || !entry.Exists() {
		t.Errorf("the result is gone: %v", err)
	}
}

// A walk that finds the result of an execution whose time is over removes it, and leaves nothing in its place.
func TestWalkBehindAnExpiry(t *testing.T) {
	in := new(store.Memory)
	if _, err := in.Put(t.Context(), "exec//s/exec_x/result-1", []byte(`"large"`), 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := newEngine(t, in, nil).Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := in.List(t.Context(), "exec/", "", 10); err != nil || len(left) != 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}
