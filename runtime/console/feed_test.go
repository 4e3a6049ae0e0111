package console

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
)

// counting is a store that counts its calls.
type counting struct {
	*store.Memory
	gets, puts, lists, others atomic.Int64
	largest                   atomic.Int64 // value that was put, in bytes
}

func (c *counting) Get(ctx context.Context, key string) (store.Entry, error) {
	c.gets.Add(1)
	return c.Memory.Get(ctx, key)
}

func (c *counting) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	c.puts.Add(1)
	c.largest.Store(max(c.largest.Load(), int64(len(value))))
	return c.Memory.Put(ctx, key, value, old, ttl)
}

func (c *counting) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	c.lists.Add(1)
	return c.Memory.List(ctx, prefix, after, limit)
}

func (c *counting) Delete(ctx context.Context, key string, old store.Version) error {
	c.others.Add(1)
	return c.Memory.Delete(ctx, key, old)
}

func (c *counting) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	c.others.Add(1)
	return c.Memory.Take(ctx, claims)
}

// publishing is a process with a feed, that publishes it.
type publishing struct {
	*feed
	hooks *observe.Hooks
	state *counting
}

func publish(t *testing.T, state *store.Memory) *publishing {
	t.Helper()
	p := &publishing{state: &counting{Memory: state}}
	p.feed = newFeed(Options{Store: p.state, Observe: func(of *observe.Hooks) { p.hooks = of }})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	return p
}

func (p *publishing) call(t *testing.T, times int) {
	t.Helper()
	for range times {
		ctx, end := p.hooks.Operation(t.Context(), observe.Operation{Name: strings.Repeat("long_name_", 4), Danger: "safe"})
		p.hooks.Gate(ctx, observe.Decision{Effect: observe.Allowed})
		end(observe.OperationEnd{Code: "CONFIRMATION_REQUIRED"})
	}
}

// While nobody looks, a process asks every two seconds whether somebody does, however many calls it has: none of them
// costs a call of the store. It has written nothing.
func TestCallsCostNothingOfTheStateUnlessSomebodyLooks(t *testing.T) {
	for _, busy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := publish(t, new(store.Memory))
			for range 60 {
				if busy {
					p.call(t, 100)
				}
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if gets := p.state.gets.Load(); gets != 29 && gets != 30 || p.state.puts.Load()+p.state.lists.Load()+
				p.state.others.Load() != 0 {
				t.Errorf("busy: %t, %d reads and %d writes in a minute", busy, gets, p.state.puts.Load())
			}
		})
	}
}

// Once somebody looks at a console, every process tells it within three seconds what it was asked for, and goes on to
// do so with a write a second of a bounded size. When nobody looks any more, that ends, and what was told is gone.
func TestReplicasTellWhatTheyWereAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		console, other := publish(t, state), publish(t, state)
		other.call(t, 300)
		time.Sleep(time.Minute)
		if all := console.look(t.Context()); len(all.replicas) != 1 || all.err != nil {
			t.Errorf("at first there are %d replicas, %v", len(all.replicas), all.err)
		}
		time.Sleep(3 * time.Second)
		all := console.look(t.Context())
		if len(all.replicas) != 2 || len(all.replicas[1].Calls) != 100 || all.replicas[1].Calls[0].Number != 300 {
			t.Fatalf("then there are %+v", all)
		}
		if minutes := all.replicas[1].Minutes; len(minutes) != 1 || minutes[0].Calls != 300 {
			t.Errorf("its minutes are %+v", minutes)
		}
		before := other.state.puts.Load()
		for range 60 {
			other.call(t, 100)
			time.Sleep(time.Second)
			console.look(t.Context())
		}
		if writes := other.state.puts.Load() - before; writes < 50 || writes > 61 {
			t.Errorf("%d writes in a minute", writes)
		}
		if size := other.state.largest.Load(); size > 40<<10 {
			t.Errorf("a write has %d bytes", size)
		}
		time.Sleep(longestWatched + longestLive + time.Second)
		before = other.state.puts.Load()
		time.Sleep(time.Minute)
		left, err := state.List(t.Context(), "console/", "", 9)
		if err != nil || len(left) != 0 || other.state.puts.Load() != before {
			t.Errorf("nobody looks, and there are %d writes, and %v in the state, %v", other.state.puts.Load()-before, left, err)
		}
	})
}

// What another version of this program, or somebody else, has put there harms nothing.
func TestReplicasThatCannotBeRead(t *testing.T) {
	state := new(store.Memory)
	for key, value := range map[string]string{
		"a": "?", "b": `{"calls":[{"n":-1}]}`, "c": `{"minutes":[{"took":[-1]}]}`, "d": `{"host":7}`, "e": `{"host":"h"}`,
	} {
		if _, err := state.Put(t.Context(), livePart+key, []byte(value), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	f := newFeed(Options{Store: state, Observe: func(*observe.Hooks) {}})
	all := f.look(t.Context())
	if len(all.replicas) != 2 || all.replicas[1].ID != "e" || all.err != nil {
		t.Errorf("there are %+v", all)
	}
}
