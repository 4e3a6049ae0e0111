package state

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
)

// server is a server that can be taken away.
type server interface {
	Stop()
	Kill()
	Freeze()
	Thaw()
	Restart()
}

// stateTimeout is short, so that outages show.
const stateTimeout = 300 * time.Millisecond

// A server that is stopped, killed or stands still during traffic turns into clear refusals within the deadline, never
// into "allowed"; when it is back, all goes on by itself. No token is good twice.
func TestOutages(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (server, string){
		"redis": func(t *testing.T) (server, string) {
			s := redistest.Start(t, "--appendfsync", "always") // else a server that is killed may forget what it said
			return s, s.Location()
		},
		"postgres": func(t *testing.T) (server, string) { s := postgrestest.Start(t); return s, s.Location() },
	} {
		for what, outage := range map[string]struct{ begin, end func(server) }{
			"stands still": {server.Freeze, server.Thaw},
			"is stopped":   {server.Stop, server.Restart},
			"is killed":    {server.Kill, server.Restart},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				s, location := open(t)
				testOutage(t, location, func() { outage.begin(s) }, func() { outage.end(s) })
			})
		}
	}
}

func testOutage(t *testing.T, location string, begin, end func()) {
	state, err := openStore(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	var mu sync.Mutex
	ran := make(map[string]int)
	adapter, err := newAdapter(aql.Options{
		State: state, StateTimeout: stateTimeout, Confirmation: aql.Confirmation{IssuesPerMinute: -1},
		Quota: quota.Options{Limits: []quota.Limit{{Operation: "get_thing", Limit: 1 << 40, Window: quota.Hour}}},
	}, func(id string) {
		mu.Lock()
		defer mu.Unlock()
		ran[id]++
	})
	if err != nil {
		t.Fatal(err)
	}

	var refused, done, counted atomic.Int64
	var down, restarting atomic.Bool
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			session := adapter.NewSession()
			defer session.Close()
			// try makes a call, and reports whether it went through. It must not while the server is away.
			try := func(f func() (answer, error)) (answer, bool) {
				began := down.Load()
				a, err := f()
				away := began && !restarting.Load()
				switch {
				case err != nil:
					t.Error(err)
				case away && (a.Success || a.Error.Code == "CONFIRMATION_REQUIRED"):
					t.Errorf("while the server is away: %+v", a)
				case a.Success || a.Error.Code == "CONFIRMATION_REQUIRED":
					return a, true
				case a.Error.Code == "INTERNAL_ERROR" &&
					strings.Contains(a.Error.Message, "state is unavailable, so the operation was not run"),
					a.Error.Code == "RATE_LIMIT_EXCEEDED" &&
						strings.Contains(a.Error.Message, "state of this adapter is busy, so the operation was not run"):
					refused.Add(1)
				case a.Error.Code == "TOKEN_ALREADY_USED": // it was spent, and the answer got lost
				default:
					t.Errorf("%+v", a.Error)
				}
				return a, false
			}
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := fmt.Sprintf("%d-%d", g, i)
				asked, ok := try(func() (answer, error) { return remove(t.Context(), session, "ann", id, "") })
				if ok {
					for range 2 {
						if a, ok := try(func() (answer, error) {
							return remove(t.Context(), session, "ann", id, asked.Error.Details.Token)
						}); ok && a.Success {
							done.Add(1)
						}
					}
				}
				if _, ok := try(func() (answer, error) {
					return call(t.Context(), session, "ann", "mcp_aql_read", "get_thing", "read-"+id, "")
				}); ok {
					counted.Add(1)
				}
			}
		})
	}
	soon(t, "traffic", func() bool { return done.Load() > 20 && counted.Load() > 20 })
	begin()
	down.Store(true)
	before := refused.Load()
	soon(t, "refusals", func() bool { return refused.Load() > before+40 })
	during := done.Load()
	restarting.Store(true)
	end()
	soon(t, "traffic after the outage", func() bool { return done.Load() > during+20 })
	close(stop)
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	for id, times := range ran {
		if times > 1 {
			t.Errorf("%s ran %d times", id, times)
		}
	}
	t.Logf("%d ran, %d of them after the outage, %d refused", done.Load(), done.Load()-during, refused.Load())
}
