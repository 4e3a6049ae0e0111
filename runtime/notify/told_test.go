package notify_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/store"
)

// What the state says that people were told may be damaged, or written with a key that is gone: they are then told
// again, and not never.
func TestDamagedRecordsAreReplaced(t *testing.T) {
	for name, damaged := range map[string]string{"empty": "", "another form": "2{}", "no JSON": "1{"} {
		isolated(t, func(f *fixture) {
			phone := &bell{name: "phone"}
			end := f.start(notify.Options{}, phone)
			f.ask(ann)
			pass(10 * time.Second)
			end()
			entries, err := f.state.List(t.Context(), "notify/", "", 10)
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}
			if _, err := f.state.Put(t.Context(), entries[0].Key, []byte(damaged), entries[0].Version, 0); err != nil {
				t.Fatal(err)
			}
			phone.told()
			defer f.start(notify.Options{}, phone)()
			pass(time.Minute)
			if n := len(phone.told()); n != 1 {
				t.Errorf("%s: people are told %d times", name, n)
			}
		})
	}
}

// flaky is a store that fails while broken says so.
type flaky struct {
	*store.Memory
	broken func() bool
}

var errDown = errors.New("the store is down")

func (f flaky) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if f.broken() {
		return nil, errDown
	}
	return f.Memory.List(ctx, prefix, after, limit)
}

func (f flaky) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if f.broken() {
		return 0, errDown
	}
	return f.Memory.Put(ctx, key, value, old, ttl)
}

// While the store is down nobody is told, which is logged once, and then people are told.
func TestOutages(t *testing.T) {
	isolated(t, func(f *fixture) {
		var log logged
		var down atomic.Bool
		down.Store(true)
		f.ask(ann)
		f.state = flaky{f.state.(*store.Memory), down.Load}
		phone := &bell{name: "phone"}
		defer f.start(notify.Options{Logger: log.logger()}, phone)()
		pass(time.Minute)
		if n := strings.Count(log.String(), "the store is down"); n != 1 || len(phone.told()) != 0 {
			t.Errorf("the outage is logged %d times:\n%s", n, &log)
		}
		down.Store(false)
		pass(time.Minute)
		if n := len(phone.told()); n != 1 {
			t.Errorf("after it, people are told %d times", n)
		}
	})
}

// silent is a store that may answer nobody who reads a list.
type silent struct {
	*store.Memory
	quiet func() bool
}

func (s silent) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if s.quiet() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Memory.List(ctx, prefix, after, limit)
}

// A store that does not answer is as one that is down: it is logged, and asked again.
func TestStoresThatDoNotAnswer(t *testing.T) {
	isolated(t, func(f *fixture) {
		var log logged
		var quiet atomic.Bool
		quiet.Store(true)
		f.ask(ann)
		f.state = silent{f.state.(*store.Memory), quiet.Load}
		phone := &bell{name: "phone"}
		defer f.start(notify.Options{Logger: log.logger()}, phone)()
		pass(5 * time.Minute)
		if n := strings.Count(log.String(), "what waits for people cannot be read"); n != 1 {
			t.Errorf("it is logged %d times:\n%s", n, &log)
		}
		quiet.Store(false)
		f.ask(bob)
		pass(2 * time.Minute)
		if told := phone.told(); len(told) != 1 || told[0].Waiting != 1 { // the first one has expired
			t.Errorf("then people are told %+v", told)
		}
	})
}

// What was decided is forgotten, so that the record stays small.
func TestRecordsAreBounded(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &bell{name: "phone"}
		defer f.start(notify.Options{PerHour: 1000}, phone)()
		for range 100 {
			f.deny(f.ask(ann).ID)
			f.ask(bob)
			pass(time.Minute)
		}
		entries, err := f.state.List(t.Context(), "notify/", "", 10)
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		if size := len(entries[0].Value); size > 2000 {
			t.Errorf("the record has %d bytes", size)
		}
		if n := len(phone.told()); n < 90 {
			t.Errorf("people were told %d times", n)
		}
	})
}
