package state

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/webhook"
	"github.com/aqltag/aqltag/runtime/store"
)

// tell is a process that tells people what waits, by a webhook, until its input ends.
func tell(location, url string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	defer state.Close()
	hook, err := webhook.New(url, [][]byte{[]byte(strings.Repeat("k", 32))})
	if err != nil {
		return err
	}
	wait, err := notify.Start(ctx, notify.Options{Store: state, Adapter: "things", Channels: []notify.Channel{hook}})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	stop()
	wait()
	return nil
}

func startTelling(t *testing.T, location, url string) *process {
	t.Helper()
	p := start(t, "tell", location, url)
	if got := p.line(t); got != "ready" {
		t.Fatal(got)
	}
	return p
}

// receiver keeps which items it is told of, in which notices.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	notices []string       // their identities
	items   map[string]int // how often
	news    int            // items, with those that are only counted
}

// startReceiver starts a receiver that calls received, unless nil, before it answers.
func startReceiver(t *testing.T, received func()) *receiver {
	t.Helper()
	r := &receiver{items: make(map[string]int)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		var message struct {
			Data struct {
				Items []struct{ ID string }
				More  int
			}
		}
		if err := json.NewDecoder(request.Body).Decode(&message); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.notices = append(r.notices, request.Header.Get("webhook-id"))
		for _, item := range message.Data.Items {
			r.items[item.ID]++
		}
		r.news += len(message.Data.Items) + message.Data.More
		r.mu.Unlock()
		if received != nil {
			received()
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// asked puts an item into an inbox, and returns its ID.
func asked(t *testing.T, inbox approve.Inbox, binding byte) string {
	t.Helper()
	item, _, err := inbox.Ask(t.Context(), approve.Question{
		Binding: approve.Binding{binding}, Kind: approve.Confirmation, Adapter: "things", Operation: "delete_thing",
		Caller: aql.Caller{Subject: "ann", Issuer: "test"}, At: time.Now(), Lifetime: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	return item.ID
}

// isRecorded reports whether the state says that people were told of an item.
func isRecorded(t *testing.T, s store.Store, id string) bool {
	t.Helper()
	entries, err := s.List(t.Context(), "notify/", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.Contains(string(entry.Value), id) {
			return true
		}
	}
	return false
}

// An item is told once, by whatever process, though processes are killed and started between any two. What comes at the
// same time is told together.
func TestItemsAreToldOnceByAllProcesses(t *testing.T) {
	for _, place := range places() {
		t.Run(place.name, func(t *testing.T) {
			location := place.open(t)
			state, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer state.Close()
			inbox, r := approve.New(state), startReceiver(t, nil)
			var all []*process
			for range place.processes {
				all = append(all, startTelling(t, location, r.URL))
			}
			var ids []string
			for i := range 2 {
				id := asked(t, inbox, byte(i))
				ids = append(ids, id)
				soon(t, "people are told", func() bool { return isRecorded(t, state, id) })
				if err := all[0].Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = all[0].Wait() // it was killed
				all = append(all[1:], startTelling(t, location, r.URL))
			}
			for _, p := range all { // so that all items are there when the next process looks
				p.in.Close()
				if err := p.Wait(); err != nil {
					t.Error(err)
				}
			}
			const many = 40
			last := ""
			for i := range many {
				last = asked(t, inbox, byte(100+i))
			}
			for range place.processes {
				all = append(all, startTelling(t, location, r.URL))
			}
			soon(t, "people are told of many", func() bool { return isRecorded(t, state, last) })
			for _, p := range all[len(all)-place.processes:] {
				p.in.Close()
				if err := p.Wait(); err != nil {
					t.Error(err)
				}
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, id := range ids {
				if r.items[id] != 1 {
					t.Errorf("people are told %d times of %s", r.items[id], id)
				}
			}
			if len(r.notices) != 3 || r.news != many+2 {
				t.Errorf("people are told of %d items in %d notices, want %d in 3", r.news, len(r.notices), many+2)
			}
		})
	}
}

// A process that is killed when a notice has arrived, and before that is on record, has another one tell it again, with
// the same identity. A process that is stopped at that point says that it has arrived.
func TestWhatAKilledProcessHasToldIsToldAgain(t *testing.T) {
	for name, kills := range map[string]bool{"killed": true, "stopped": false} {
		t.Run(name, func(t *testing.T) {
			location := places()[0].open(t)
			state, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer state.Close()
			var first *process
			arrived, ended := make(chan struct{}), make(chan struct{})
			once := sync.OnceFunc(func() {
				close(arrived)
				<-ended
			})
			r := startReceiver(t, once)
			first = startTelling(t, location, r.URL)
			id := asked(t, approve.New(state), 1)
			<-arrived
			if kills {
				err = first.Process.Kill()
			} else {
				err = first.in.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if kills {
				_ = first.Wait() // it was killed
			}
			close(ended)
			if !kills {
				if err := first.Wait(); err != nil {
					t.Error(err)
				}
			}
			second := startTelling(t, location, r.URL)
			soon(t, "the notice is on record", func() bool { return isRecorded(t, state, id) })
			second.in.Close()
			if err := second.Wait(); err != nil {
				t.Error(err)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			want := 1
			if kills {
				want = 2
			}
			if len(r.notices) != want || r.notices[0] != r.notices[want-1] || r.items[id] != want {
				t.Errorf("people are told %d times, by the notices %q, want %d times", r.items[id], r.notices, want)
			}
		})
	}
}
