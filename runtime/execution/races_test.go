package execution_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// stateIn returns the state of the record in an entry, and its id; empty: it is none.
func stateIn(key string, value []byte) (execution.State, string) {
	if !strings.Contains(key, "/r/") || len(value) == 0 {
		return "", ""
	}
	var r execution.Record
	if err := json.Unmarshal(value[1:], &r); err != nil || r.Buried {
		return "", ""
	}
	return r.State, r.ID
}

// engines returns engines that share a store, as processes do, and work until the test ends.
func engines(t *testing.T, n int, in store.Store, o execution.Options) []*execution.Engine {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	var all []*execution.Engine
	for range n {
		o.Store, o.Logger = in, cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
		e, err := execution.New(o)
		if err != nil {
			t.Fatal(err)
		}
		working.Go(func() {
			if err := e.Work(ctx); err != nil {
				t.Error(err)
			}
		})
		all = append(all, e)
	}
	t.Cleanup(func() { stop(); working.Wait() })
	return all
}

// ended waits for the end of an execution.
func ended(t *testing.T, e *execution.Engine, id string) *execution.Record {
	t.Helper()
	for {
		r, err := e.Get(t.Context(), ann, id)
		if err != nil {
			t.Fatal(err)
		}
		if r.State.Terminal() {
			return r
		}
		if _, err := e.Wait(t.Context(), ann, id, r.Version(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
}

// Of cancellations and ends that race, one wins, and all see the same end.
func TestRacingEnds(t *testing.T) {
	for round := range 200 {
		synctest.Test(t, func(t *testing.T) {
			finish := make(chan struct{})
			all := engines(t, 3, new(store.Memory), execution.Options{Operations: map[string]*execution.Operation{
				"work": {Durable: true, Do: func(ctx context.Context, _ *execution.Run) ([]byte, *execution.Failure) {
					select {
					case <-finish:
						return []byte("1"), nil
					case <-ctx.Done():
						return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
					}
				}},
			}})
			r, err := all[0].Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
			if err != nil {
				t.Fatal(err)
			}
			if round%2 == 0 {
				synctest.Wait() // it runs
			}
			var racing sync.WaitGroup
			for _, e := range all {
				racing.Go(func() {
					_, err := e.Cancel(t.Context(), ann, r.ID, "")
					if illegal := (*execution.StateError)(nil); err != nil && !errors.As(err, &illegal) {
						t.Error(err)
					}
				})
			}
			if round%3 == 0 {
				racing.Go(func() { close(finish) })
			}
			racing.Wait()
			end := ended(t, all[0], r.ID)
			for _, e := range all {
				if again := ended(t, e, r.ID); again.State != end.State || again.Version() != end.Version() {
					t.Errorf("%s and %s", again.State, end.State)
				}
			}
			if end.State != execution.Cancelled && (end.State != execution.Completed || round%3 != 0) {
				t.Errorf("it is %s", end.State)
			}
		})
	}
}

// Many starts with one key in several processes start one execution.
func TestRacingKeys(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			runs, ids := 0, make(map[string]bool)
			all := engines(t, 4, new(store.Memory), execution.Options{Operations: map[string]*execution.Operation{
				"work": {Durable: true, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
					mu.Lock()
					defer mu.Unlock()
					runs++
					return nil, nil
				}},
			}})
			var racing sync.WaitGroup
			for i := range 100 {
				racing.Go(func() {
					r, err := all[i%len(all)].Start(t.Context(), execution.Start{
						Operation: "work", CallerKey: ann, Params: []byte("{}"), Once: "key",
					})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					ids[r.ID] = true
				})
			}
			racing.Wait()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(ids) != 1 || runs != 1 {
				t.Errorf("%d executions, which ran %d times", len(ids), runs)
			}
		})
	}
}

// An execution that takes its workers with it is given up.
func TestPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		var attempts atomic.Int32
		options := execution.Options{Store: in, Logger: slog.New(slog.DiscardHandler)}
		block := make(chan struct{})
		options.Operations = map[string]*execution.Operation{
			"work": {Durable: true, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
				attempts.Add(1)
				<-block
				return nil, nil
			}},
		}
		id := ""
		for {
			dying := &deadly{Store: in}
			options.Store = dying
			e, err := execution.New(options)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			go func() { _ = e.Work(ctx) }()
			if id == "" {
				r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
				if err != nil {
					t.Fatal(err)
				}
				id = r.ID
			}
			time.Sleep(10 * time.Second)
			r, err := e.Get(t.Context(), ann, id)
			if err != nil {
				t.Fatal(err)
			}
			dying.die()
			stop()
			time.Sleep(time.Minute)
			if r.State == execution.Failed {
				if r.Failure.Message != "Internal error: 'interrupted'" || attempts.Load() != 6 {
					t.Errorf("after %d attempts: %+v", attempts.Load(), r.Failure)
				}
				break
			}
		}
		close(block)
		time.Sleep(time.Minute)
	})
}

// deadly is a store as a process sees it that can die.
type deadly struct {
	store.Store
	mu   sync.Mutex
	dead bool
}

var errDead = errors.New("the process is dead")

func (d *deadly) die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
}

func (d *deadly) revive() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = false
}

func (d *deadly) gone() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return errDead
	}
	return nil
}

func (d *deadly) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if err := d.gone(); err != nil {
		return 0, err
	}
	return d.Store.Put(ctx, key, value, old, ttl)
}

func (d *deadly) Delete(ctx context.Context, key string, old store.Version) error {
	if err := d.gone(); err != nil {
		return err
	}
	return d.Store.Delete(ctx, key, old)
}

// What an execution may keep is bounded, in all ways in which it can grow.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(ctx context.Context, run *execution.Run) error
		want string
	}{
		{"a large step", func(ctx context.Context, run *execution.Run) error {
			return step(ctx, run, "x", 64<<10+1)
		}, `step "x" returns 65537 bytes, and 65536 can be kept`},
		{"many steps", func(ctx context.Context, run *execution.Run) error {
			for i := range 1001 {
				if err := step(ctx, run, fmt.Sprint(i), 1); err != nil {
					return err
				}
			}
			return nil
		}, "the execution has more than 1000 steps"},
		{"large steps", func(ctx context.Context, run *execution.Run) error {
			for i := range 17 {
				if err := step(ctx, run, fmt.Sprint(i), 64<<10); err != nil {
					return err
				}
			}
			return nil
		}, "the steps of the execution return 1114112 bytes, and 1048576 can be kept"},
		{"one name twice", func(ctx context.Context, run *execution.Run) error {
			return errors.Join(step(ctx, run, "x", 1), step(ctx, run, "x", 1))
		}, `two steps of the execution are called "x"`},
		{"no name", func(ctx context.Context, run *execution.Run) error {
			return step(ctx, run, "", 1)
		}, "the name of a step has 0 bytes"},
		{"a name with everything in it", func(ctx context.Context, run *execution.Run) error {
			return step(ctx, run, "/../\x00\n\u202e", 1)
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got error
				e := engines(t, 1, new(store.Memory), execution.Options{Operations: map[string]*execution.Operation{
					"work": {Durable: true, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
						got = tt.do(ctx, run)
						return nil, nil
					}},
				}})[0]
				r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
				if err != nil {
					t.Fatal(err)
				}
				ended(t, e, r.ID)
				if tt.want == "" && got != nil || tt.want != "" && (got == nil || !strings.Contains(got.Error(), tt.want)) {
					t.Errorf("%v, want %q", got, tt.want)
				}
			})
		})
	}
}

func step(ctx context.Context, run *execution.Run, name string, size int) error {
	_, err := run.Step(ctx, name, func(context.Context) ([]byte, error) { return make([]byte, size), nil })
	return err
}

// A caller has no more executions under way than the bound, and gets room back when one ends.
func TestMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engines(t, 1, new(store.Memory), execution.Options{Most: 2, Operations: map[string]*execution.Operation{
			"work": {Durable: true, Do: func(ctx context.Context, _ *execution.Run) ([]byte, *execution.Failure) {
				<-ctx.Done()
				return nil, &execution.Failure{}
			}},
		}})[0]
		start := func(caller string) (*execution.Record, error) {
			return e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: caller})
		}
		first, err := start(ann)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := start(ann); err != nil {
			t.Fatal(err)
		}
		if _, err := start(ann); !errors.Is(err, execution.ErrTooMany) {
			t.Errorf("a third one: %v", err)
		}
		if _, err := start("bob"); err != nil {
			t.Errorf("of another caller: %v", err)
		}
		if _, err := e.Cancel(t.Context(), ann, first.ID, ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := start(ann); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}
