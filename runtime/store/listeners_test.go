package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// What receives for those who listen runs while somebody listens, once, and not before the one before it has returned.
func TestListenersReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, runs atomic.Int32
		listeners := store.Listeners{Receive: func(ctx context.Context) {
			runs.Add(1)
			if running.Add(1) > 1 {
				t.Error("two run at the same time")
			}
			<-ctx.Done()
			time.Sleep(time.Second) // it takes a while to end
			running.Add(-1)
		}}
		state := func() [2]int32 { return [2]int32{running.Load(), runs.Load()} }
		listeners.Tell("a")
		listeners.TellAll()
		ctx, cancel := context.WithCancel(t.Context())
		first, second := listeners.Listen(ctx, "a"), listeners.Listen(ctx, "b")
		synctest.Wait()
		listeners.Tell("a")
		if len(first) != 1 || len(second) != 0 || state() != [2]int32{1, 1} {
			t.Errorf("%d and %d are told, running %v; want 1, 0, [1 1]", len(first), len(second), state())
		}
		listeners.TellAll()
		if len(first) != 1 || len(second) != 1 {
			t.Errorf("%d and %d are told, want both", len(first), len(second))
		}
		cancel()
		synctest.Wait()
		third := listeners.Listen(t.Context(), "a")
		synctest.Wait()
		if state() != [2]int32{1, 1} {
			t.Errorf("running %v; the one before has not returned", state())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if state() != [2]int32{1, 2} {
			t.Errorf("running %v, want 1 of 2", state())
		}
		listeners.Close()
		if _, open := <-third; open || running.Load() != 0 {
			t.Errorf("after Close, a channel is open: %v, running %v", open, state())
		}
		if _, open := <-listeners.Listen(t.Context(), "a"); open {
			t.Error("after Close, somebody listens")
		}
	})
}
