package gate

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// C12: the clock of a gate goes on where that of the machine is set back, and follows where it is set forward.
func TestClock(t *testing.T) {
	reading := start
	c := &clock{read: func() time.Time { return reading }}
	var got []time.Duration
	for _, step := range []time.Duration{0, time.Second, -time.Hour, time.Second, 0, 2 * time.Hour, -time.Minute} {
		reading = reading.Add(step)
		got = append(got, c.Now().Sub(start))
	}
	const later = 2*time.Second + 2*time.Hour // two hours after it was set back: such a clock has no monotonic reading
	want := []time.Duration{0, time.Second, time.Second, 2 * time.Second, 2 * time.Second, later, later}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c.advance(start)
	if now := c.Now(); now.Sub(start) != want[6] {
		t.Errorf("after a time that it has passed: %v", now)
	}
	c.advance(start.Add(24 * time.Hour))
	if now := c.Now(); now.Sub(start) != 24*time.Hour {
		t.Errorf("after a time that has been elsewhere: %v", now)
	}
}

// C12, REQ-CT-11: a clock that is set back revives no token: in the same process, in the next one, and in another one
// whose clock is behind.
func TestClocksSetBackReviveNothing(t *testing.T) {
	for name, turn := range map[string]func(t *testing.T, s *scene, state store.Store) *scene{
		"in the process": func(_ *testing.T, s *scene, _ store.Store) *scene { return s },
		"in the next process": func(t *testing.T, _ *scene, state store.Store) *scene {
			return newScene(t, Options{Store: state})
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := new(store.Memory)
			s := newScene(t, Options{Store: state})
			session := s.NewSession()
			token := s.ask(t, session)
			s.now = s.now.Add(6 * time.Minute)
			s.ask(t, session) // a later time has been seen
			s = turn(t, s, state)
			s.now = start.Add(time.Minute)
			_, refusal := s.Admit(t.Context(), s.request(s.NewSession(), func(r *Request) { r.Presented.Token = token }))
			if refusal == nil || refusal.Redeemed.Verdict != Expired || refusal.At.Before(start.Add(6*time.Minute)) {
				t.Errorf("%+v", refusal)
			}
			fresh := s.ask(t, session)
			s.now = s.now.Add(time.Minute)
			_, refusal = s.Admit(t.Context(), s.request(s.NewSession(), func(r *Request) { r.Presented.Token = fresh }))
			if refusal != nil {
				t.Errorf("a new token: %+v", refusal)
			}
		})
	}
}

// Who has set the clock back learns of it, and one that goes on costs the store one change in a second.
func TestLatestTime(t *testing.T) {
	state := new(store.Memory)
	log := new(bytes.Buffer)
	now := start
	g := newGate(t, Options{
		Store: state, Logger: slog.New(slog.NewTextHandler(log, nil)), Now: func() time.Time { return now },
		Audit: audit.New(audit.Options{}),
	})
	version := func() store.Version {
		t.Helper()
		entry, err := state.Get(t.Context(), "clock/notes")
		if err != nil {
			t.Fatal(err)
		}
		return entry.Version
	}
	var changes []bool
	for _, at := range []time.Duration{0, time.Millisecond, time.Second, time.Second + 1, -time.Hour} {
		before := version()
		if got, err := g.latest(t.Context(), start.Add(at)); err != nil || got.Before(start) {
			t.Errorf("after %v: %v, %v", at, got, err)
		}
		changes = append(changes, version() != before)
	}
	if diff := cmp.Diff([]bool{true, false, true, false, false}, changes); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(log.String(), "the clock is behind the latest time in the state") {
		t.Errorf("log: %s", log)
	}
}

// C12: a clock that is set to the time of another process, which was read later, does not count twice what has passed
// meanwhile. TestChaos in test/state/chaos has found that tokens expired early.
func TestClockCountsTimeOnce(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := clock{read: func() time.Time { return at }}
	c.Now()
	at = at.Add(10 * time.Second)
	c.advance(at)
	if got := c.Now(); !got.Equal(at) {
		t.Errorf("the clock is ahead by %s", got.Sub(at))
	}
}
