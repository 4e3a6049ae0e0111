package storetest

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// openNotifier opens a store that is a store.Notifier.
func openNotifier(t *testing.T, open func(t *testing.T) store.Store) store.Notifier {
	t.Helper()
	n, ok := open(t).(store.Notifier)
	if !ok {
		t.Fatal("the store is no store.Notifier")
	}
	return n
}

func notify(t *testing.T, n store.Notifier, topic string) {
	t.Helper()
	if err := n.Notify(t.Context(), topic); err != nil {
		t.Fatalf("notifying %s: %v", topic, err)
	}
}

// await waits for a hint. It returns false if the channel is closed instead.
func await(t *testing.T, told <-chan struct{}) bool {
	t.Helper()
	select {
	case _, open := <-told:
		return open
	case <-time.After(patience):
		t.Fatal("nobody is told")
		return false
	}
}

// told has one process listen and another one notify. The first hint may be that of the connection, the others are not.
func told(t *testing.T, open func(t *testing.T) store.Store) {
	here, there := openNotifier(t, open), openNotifier(t, open)
	first, second := here.Listen(t.Context(), "told/a"), here.Listen(t.Context(), "told/a")
	other := there.Listen(t.Context(), "told/b")
	for range 2 {
		notify(t, there, "told/a")
		for _, listening := range []<-chan struct{}{first, second} {
			if !await(t, listening) {
				t.Fatal("listening has ended")
			}
		}
	}
	notify(t, here, "told/b")
	if !await(t, other) {
		t.Error("listening to another topic has ended")
	}
	version := put(t, there, "told", "one", 0, 0)
	notify(t, there, "told/a")
	await(t, first)
	want(t, here, "told", "one", version) // what was written before is there
}

func slow(t *testing.T, open func(t *testing.T) store.Store) {
	here, there := openNotifier(t, open), openNotifier(t, open)
	idle, quick := here.Listen(t.Context(), "slow"), here.Listen(t.Context(), "slow")
	for range 100 {
		notify(t, there, "slow")
		notify(t, here, "slow")
	}
	await(t, quick)
	await(t, idle)
	if cap(idle) != 1 {
		t.Errorf("a channel holds %d hints, want one", cap(idle))
	}
}

func listeningEnds(t *testing.T, open func(t *testing.T) store.Store) {
	n := openNotifier(t, open)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if await(t, n.Listen(ctx, "ends")) {
		t.Error("a context that has ended listens")
	}
	notify(t, n, "ends") // the store makes the connections that it needs for that
	before := runtime.NumGoroutine()
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		others, cancelOthers := context.WithCancel(t.Context())
		gone, rest := n.Listen(ctx, "ends"), n.Listen(others, "ends")
		cancel()
		for await(t, gone) { // what was told before
		}
		notify(t, n, "ends")
		await(t, rest)
		cancelOthers()
		for await(t, rest) {
		}
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines when nobody listens any longer, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

func topics(t *testing.T, open func(t *testing.T) store.Store) {
	n := openNotifier(t, open)
	for _, topic := range []string{"", "a b", "a\x00", "é", "a'b", strings.Repeat("a", 65)} {
		if err := n.Notify(t.Context(), topic); err == nil {
			t.Errorf("the topic %q is notified", topic)
		}
	}
	notify(t, n, "Az09._/-"+strings.Repeat("a", 56))
}
