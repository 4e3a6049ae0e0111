package browser

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
)

type callerKey struct{}

func callerOf(ctx context.Context) identity.Caller {
	who, _ := ctx.Value(callerKey{}).(identity.Caller)
	return who
}

// ready is whether the adapters of these tests are ready for calls.
var ready atomic.Bool

func init() { ready.Store(true) }

func healthOf(context.Context) setup.Health {
	h := setup.Health{
		Version: "v1.4.2", Fingerprint: "sha256:" + strings.Repeat("7f", 32), Unrecorded: 1,
		Checks:  []setup.Check{{Name: "store", Took: 2100 * time.Microsecond}, {Name: "audit"}, {Name: "worker"}},
		Backlog: &setup.Backlog{Approvals: 3, Due: 2, Later: 1, Running: 4, Oldest: 75 * time.Second},
	}
	if !ready.Load() {
		h.Checks[2].Err = errors.New("the queue is away")
	}
	return h
}

// call makes calls of all kinds, as if they had come over some time.
func (s *site) call(count int, over time.Duration) {
	s.t.Helper()
	defer s.shift.Store(0)
	for i := range count {
		s.shift.Store(int64(over) * int64(i-count) / int64(count))
		name, danger, effect, code := "get_note", gen.Safe, observe.Allowed, ""
		switch i % 7 {
		case 2:
			name, danger, effect, code = "delete_note", gen.Destructive, observe.Held, "CONFIRMATION_REQUIRED"
		case 3:
			name, danger, effect, code = "empty_trash", gen.Dangerous, observe.Denied, "PERMISSION_DENIED"
		case 5:
			name, danger, code = "share_note", gen.Reversible, "INTERNAL_ERROR"
		}
		who := []identity.Caller{ann, {Subject: "release_bot", Issuer: "https://id.example.com"}, {}}[i%3]
		ctx := context.WithValue(s.t.Context(), callerKey{}, who)
		ctx, end := s.hooks.Operation(ctx, observe.Operation{Name: name, Danger: string(danger)})
		s.hooks.Gate(ctx, observe.Decision{Operation: name, Effect: effect})
		if over > 0 {
			s.shift.Add(int64((i*i)%47*(1+i%3)) * int64(time.Millisecond))
		}
		end(observe.OperationEnd{Code: code})
	}
}

// A page of calls follows what is asked, also while somebody reads in it: the table of numbers stays open, where it was
// scrolled to, and keeps the focus. A page that is paused stands still.
func TestCalls(t *testing.T) {
	s, b := newSite(t), open(t)
	s.logIn(b, "eve")
	b.visit(s.url + "calls")
	b.waitForText("Nobody has called yet")
	s.call(3, 0)
	b.waitForText("3 calls in the last hour")
	b.click("#numbers summary")
	b.waitFor("#numbers[open]")
	s.call(4, 0)
	b.waitFor("#calls tbody tr:nth-child(7)")
	b.waitFor("#numbers[open] summary:focus")
	b.look("light", Narrow)
	run(b, chromedp.Evaluate[any](`document.getElementById('steps').scrollLeft = 50`))
	b.click("#steps")
	b.waitFor("#steps:focus")
	s.call(2, 0)
	b.waitFor("#calls tbody tr:nth-child(9)")
	b.waitFor("#numbers[open] #steps:focus")
	if left := run(b, chromedp.Evaluate[int](`document.getElementById('steps').scrollLeft`)); left != 50 {
		t.Errorf("the table of numbers, which was scrolled by 50 pixels, is scrolled by %d", left)
	}
	b.waitFor("#changed:empty")
	b.click(".beside .button")
	b.waitForText("This page stands still")
	s.call(1, 0)
	rows := run(b, chromedp.Evaluate[int](`document.querySelectorAll('#calls tbody tr').length`))
	if rows != 9 {
		t.Errorf("the page that stands still has %d calls", rows)
	}
	// The page may not have its style yet, with which the link stands elsewhere.
	b.do(chromedp.Focus(chromedp.CSS(".note a")), chromedp.KeyEvent(kb.Enter))
	b.waitForText("10 calls in the last hour")
}

// Without script, a page of calls has its charts and numbers, and is loaded again by hand.
func TestCallsWithoutScript(t *testing.T) {
	s, b := newSite(t), open(t)
	s.logIn(b, "eve")
	if err := b.WithoutScript(); err != nil {
		t.Fatal(err)
	}
	s.call(20, time.Hour)
	b.visit(s.url + "calls")
	b.waitFor("svg.chart")
	b.click("#numbers summary")
	b.waitFor("#numbers[open]")
	b.click(".beside .button")
	b.waitForText("This page stands still")
}
