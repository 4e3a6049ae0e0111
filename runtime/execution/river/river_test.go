package river

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

func open(t *testing.T, location string) *Store {
	t.Helper()
	s, err := Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// receive hands jobs of an adapter to a worker until the returned function is called.
func receive(t *testing.T, s *Store, adapter, worker string, do func(execution.Job) time.Duration) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.Work(ctx, execution.Receiver{
			Adapter: adapter, Worker: worker, Slots: 2, Poll: 100 * time.Millisecond, Do: do,
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func enqueue(t *testing.T, s *Store, j execution.Job, want bool) {
	t.Helper()
	if added, err := s.Enqueue(t.Context(), j); err != nil || added != want {
		t.Errorf("queueing %+v: added %v, want %v: %v", j, added, want, err)
	}
}

// held waits until so many jobs are held.
func held(t *testing.T, s *Store, adapter string, want int) []execution.Held {
	t.Helper()
	for {
		jobs, err := s.Held(t.Context(), adapter)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) == want {
			return jobs
		}
	}
}

// A job is queued once, also while it is held, and again after it was done. One that is due at another time is another
// job.
func TestJobsAreUnique(t *testing.T) {
	s := open(t, postgrestest.Start(t).Location())
	due := time.Now().Add(-time.Second)
	one := execution.Job{Adapter: "shop", Execution: "exec_1", Due: due}
	later, other := one, one
	later.Due, other.Execution = due.Add(1), "exec_2"
	for _, j := range []execution.Job{one, later, other} {
		enqueue(t, s, j, true)
		enqueue(t, s, j, false)
	}
	taken, done := make(chan execution.Job), make(chan time.Duration)
	stop := receive(t, s, "shop", "w1", func(j execution.Job) time.Duration { taken <- j; return <-done })
	defer stop()
	seen := make(map[execution.Job]int)
	for range 2 {
		j := <-taken
		seen[execution.Job{Adapter: j.Adapter, Execution: j.Execution, Due: j.Due.UTC()}]++
		enqueue(t, s, j, false)
	}
	done <- 0
	last := <-taken
	seen[execution.Job{Adapter: last.Adapter, Execution: last.Execution, Due: last.Due.UTC()}]++
	done <- 0
	done <- 0
	for _, j := range []execution.Job{one, later, other} {
		j.Due = j.Due.UTC().Round(0)
		if seen[j] != 1 {
			t.Errorf("%+v was handed out %d times: %v", j, seen[j], seen)
		}
	}
	held(t, s, "shop", 0)
	enqueue(t, s, one, true)
	<-taken
	done <- 0
}

// A job whose time is far off is left to River's schedule; one that is handed out before its time comes again.
func TestJobsAreScheduled(t *testing.T) {
	s := open(t, postgrestest.Start(t).Location())
	far := execution.Job{Adapter: "shop", Execution: "far", Due: time.Now().Add(time.Hour)}
	near := execution.Job{Adapter: "shop", Execution: "near", Due: time.Now().Add(time.Second)}
	enqueue(t, s, far, true)
	enqueue(t, s, near, true)
	rows, err := s.Pool().Query(t.Context(),
		`select state::text || ' ' || (args->>'execution') from aql.river_job order by id`)
	if err != nil {
		t.Fatal(err)
	}
	states, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || strings.Join(states, ", ") != "scheduled far, available near" {
		t.Errorf("River has %v: %v", states, err)
	}
	handed := make(chan execution.Job, 10) // one that comes again when nobody waits for it does not hold up the end
	stop := receive(t, s, "shop", "w1", func(j execution.Job) time.Duration {
		handed <- j
		return max(time.Until(j.Due), 0)
	})
	defer stop()
	for {
		j := <-handed
		if j.Execution != "near" {
			t.Errorf("%+v was handed out", j)
		}
		if !j.Due.After(time.Now()) {
			return
		}
	}
}

// Each adapter has a queue of its own, which has its name where River allows that.
func TestQueuesOfAdapters(t *testing.T) {
	seen := make(map[string]string)
	for _, name := range []string{
		"shop", "the-shop", "the_shop", "The Shop", "the shop", "", "Läden", "läden", "--", "a--b",
		strings.Repeat("x", 40), strings.Repeat("x", 41), strings.Repeat("Y", 500),
	} {
		got := queueName(name)
		if other, is := seen[got]; is {
			t.Errorf("%q and %q have the queue %s", name, other, got)
		}
		seen[got] = name
		if len(got) > 64 {
			t.Errorf("the queue %s has %d bytes; River takes 64", got, len(got))
		}
	}
	if got := queueName("shop"); got != "aql_shop" {
		t.Errorf("the queue of shop is %s", got)
	}
	s := open(t, postgrestest.Start(t).Location())
	handed := make(chan execution.Job)
	for name := range seen {
		adapter := seen[name]
		stop := receive(t, s, adapter, "w"+name, func(j execution.Job) time.Duration {
			if j.Adapter != adapter {
				t.Errorf("%q was handed %+v", adapter, j)
			}
			handed <- j
			return 0
		})
		defer stop()
		enqueue(t, s, execution.Job{Adapter: adapter, Execution: "exec_1", Due: time.Now()}, true)
		<-handed
	}
}

// What a worker holds that does not return can be seen and dropped, by whom it is held only. It is not handed out again
// by itself.
func TestHeldJobs(t *testing.T) {
	s := open(t, postgrestest.Start(t).Location())
	enqueue(t, s, execution.Job{Adapter: "shop", Execution: "exec_1", Due: time.Now()}, true)
	hang := make(chan struct{})
	handed := make(chan struct{}, 10)
	stop := receive(t, s, "shop", "dead", func(execution.Job) time.Duration { handed <- struct{}{}; <-hang; return 0 })
	<-handed
	h := held(t, s, "shop", 1)[0]
	if h.Worker != "dead" || h.Execution != "exec_1" {
		t.Errorf("held is %+v", h)
	}
	if other, err := s.Held(t.Context(), "other"); err != nil || len(other) != 0 {
		t.Errorf("another adapter holds %v: %v", other, err)
	}
	wrong := h
	wrong.Worker = "living"
	if err := s.Drop(t.Context(), wrong); err != nil {
		t.Error(err)
	}
	held(t, s, "shop", 1)
	if err := s.Drop(t.Context(), h); err != nil {
		t.Error(err)
	}
	held(t, s, "shop", 0)
	enqueue(t, s, h.Job, true)
	close(hang)
	<-handed
	stop()
	held(t, s, "shop", 0)
}

// A process that is frozen within a transaction keeps a job from the others for a few seconds, and not until it goes
// on.
func TestFrozenTransactions(t *testing.T) {
	location := postgrestest.Start(t).Location()
	frozen, living := open(t, location), open(t, location)
	enqueue(t, frozen, execution.Job{Adapter: "shop", Execution: "exec_1", Due: time.Now()}, true)
	transaction, err := frozen.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transaction.Exec(t.Context(), `update aql.river_job set kind = kind`); err != nil {
		t.Fatal(err)
	}
	handed := make(chan execution.Job)
	stop := receive(t, living, "shop", "living", func(j execution.Job) time.Duration { handed <- j; return 0 })
	<-handed
	stop()
	if err := transaction.Commit(t.Context()); err == nil {
		t.Error("the transaction was not ended")
	}
}

// Any number of processes may open a store whose tables do not exist, at the same time, and again later.
func TestOpenAtTheSameTime(t *testing.T) {
	location := postgrestest.Start(t).Location("pool_max_conns=2")
	errs := make(chan error)
	const processes = 5
	for range processes {
		go func() {
			s, err := Open(t.Context(), location)
			if err == nil {
				defer s.Close()
			}
			errs <- err
		}()
	}
	for range processes {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	open(t, location)
}

// An error names neither the user nor the host of the server.
func TestErrorsNameNoServer(t *testing.T) {
	server := postgrestest.Start(t)
	s := open(t, server.Location("pool_max_conns=2"))
	server.Kill()
	_, err := s.Enqueue(t.Context(), execution.Job{Adapter: "shop", Execution: "exec_1", Due: time.Now()})
	if err == nil || strings.Contains(err.Error(), "user") || strings.Contains(err.Error(), server.Dir()) {
		t.Errorf("the error is %v", err)
	}
}
