package notify_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/store"
)

// slow is a channel that takes its time.
type slow struct {
	bell
	takes time.Duration
	cut   atomic.Int64 // how many were cancelled
}

func (s *slow) Tell(ctx context.Context, n notify.Notice) error {
	select {
	case <-ctx.Done():
		s.cut.Add(1)
		return ctx.Err()
	case <-time.After(s.takes):
		return s.bell.Tell(ctx, n)
	}
}

// While a process tells people something, no other one does.
func TestOneProcessTellsAtATime(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &slow{takes: 8 * time.Second}
		for range 6 {
			defer f.start(notify.Options{}, phone)()
		}
		for range 3 {
			f.ask(ann)
			pass(20 * time.Second)
		}
		if n := len(phone.told()); n != 3 {
			t.Errorf("people are told %d times of 3 items", n)
		}
	})
}

// A process that is stopped while it tells people something ends that, and no other one tells it again.
func TestWhatIsBegunIsEnded(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &slow{takes: 5 * time.Second}
		end := f.start(notify.Options{}, phone)
		f.ask(ann)
		pass(3 * time.Second)
		end()
		defer f.start(notify.Options{}, phone)()
		pass(time.Minute)
		if n := len(phone.told()); n != 1 || phone.cut.Load() != 0 {
			t.Errorf("people are told %d times, and %d times it was cut off", n, phone.cut.Load())
		}
	})
}

// A channel that does not end is left after ten seconds.
func TestChannelsHaveTheirTime(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &slow{takes: time.Hour}
		defer f.start(notify.Options{}, phone)()
		f.ask(ann)
		pass(13 * time.Second)
		if phone.cut.Load() != 1 {
			t.Errorf("it was cut off %d times", phone.cut.Load())
		}
	})
}

// counted is a store that counts how often the inbox is read.
type counted struct {
	*store.Memory
	reads atomic.Int64
}

func (c *counted) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if prefix == "approve/" && after == "" {
		c.reads.Add(1)
	}
	return c.Memory.List(ctx, prefix, after, limit)
}

// However often the inbox changes, it is read once a second, and without changes every five.
func TestTheInboxIsReadRarely(t *testing.T) {
	isolated(t, func(f *fixture) {
		state := &counted{Memory: f.state.(*store.Memory)}
		f.state = state
		defer f.start(notify.Options{}, &bell{name: "phone"})()
		pass(100*time.Second + time.Millisecond)
		if n := state.reads.Load(); n != 21 {
			t.Errorf("in 100 seconds without changes it is read %d times", n)
		}
		state.reads.Store(0)
		for range 1000 {
			if err := f.state.(store.Notifier).Notify(t.Context(), approve.Topic); err != nil {
				t.Fatal(err)
			}
			pass(10 * time.Millisecond)
		}
		if n := state.reads.Load(); n < 9 || n > 11 {
			t.Errorf("in 10 seconds with changes it is read %d times", n)
		}
	})
}
