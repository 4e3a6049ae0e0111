package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// C9: the time in the state is there no longer than the tokens that it is about. So an hour after a state key was
// replaced, or first given, an adapter with the new one alone confirms, whether or not one that knew both has.
func TestNothingOutlivesAStateKey(t *testing.T) {
	now := start
	state := &store.Memory{Now: func() time.Time { return now }}
	open := func(keys ...string) *scene {
		var secrets [][]byte
		for _, key := range keys {
			secrets = append(secrets, secret(key))
		}
		s := newScene(t, Options{Store: state, StateKeys: secrets})
		s.now = now
		return s
	}
	for _, keys := range []string{"", "a", "b", ""} {
		now = now.Add(time.Hour)
		s := open(strings.Split(keys, "")...)
		session := s.NewSession()
		token := s.ask(t, session)
		_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Token = token }))
		if refusal != nil {
			t.Errorf("with key %q: %+v", keys, refusal)
		}
	}
}

// C12: what a clock far ahead has brought a counter to lasts, in new processes on the same state too, until the state
// is an empty one: docs/operators.md says so.
func TestAClockThatWasFarAhead(t *testing.T) {
	state := new(store.Memory)
	process := func(state store.Store, now time.Time) *Refusal {
		s := newScene(t, Options{
			Store: state, Confirmation: Confirmation{Off: true},
			Quota: quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, HardStop: 1}}},
		})
		s.now = now
		_, refusal := s.Admit(t.Context(), s.request(s.NewSession(), nil))
		return refusal
	}
	ahead := start.AddDate(1, 0, 0)
	if refusal := process(state, ahead); refusal != nil {
		t.Fatal(refusal)
	}
	for _, now := range []time.Time{start, start.AddDate(0, 6, 0), ahead} {
		if refusal := process(state, now); refusal == nil || refusal.Reason != QuotaExhausted ||
			!refusal.Block.Resets.After(ahead) {
			t.Errorf("at %v: %+v", now, refusal)
		}
	}
	if refusal := process(state, ahead.AddDate(0, 0, 1)); refusal != nil {
		t.Errorf("the day after: %+v", refusal)
	}
	if refusal := process(new(store.Memory), start); refusal != nil {
		t.Errorf("with an empty state: %+v", refusal)
	}
}

// T-63: a continuation counts for the period that the counter has come to, also where a clock that was ahead has begun
// it.
func TestContinuingALaterPeriod(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"a clock that agrees": 0, "a clock that was ahead": 36 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			options := Options{
				Store: new(store.Memory), Confirmation: Confirmation{Off: true},
				Quota: quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}}},
			}
			before, s := newScene(t, options), newScene(t, options)
			before.now = start.Add(ahead)
			if _, refusal := before.Admit(t.Context(), before.request(before.NewSession(), nil)); refusal != nil {
				t.Fatal(refusal)
			}
			session := s.NewSession()
			token := s.ask(t, session)
			_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Continuation = token }))
			if refusal != nil {
				t.Errorf("the continuation does not count: %+v", refusal)
			}
		})
	}
}
