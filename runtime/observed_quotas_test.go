package aql

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// takes is a state that counts how often it is asked to count.
type takes struct {
	store.Memory
	asked int
}

func (s *takes) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	s.asked++
	return s.Memory.Take(ctx, claims)
}

// Hooks are told of each quota that counts a request, by whomever, and of the one that refuses it, each time behind the
// decision. The state is asked no more often for that.
func TestHooksSeeQuotas(t *testing.T) {
	const read = `{"operation":"get_note","params":{"note_id":"n1"}}`
	send := func(hooks *observe.Hooks) (asked int) {
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) // as in the fixture
		state := &takes{Memory: store.Memory{Now: func() time.Time { return now }}}
		f := newFixture(t, Options{
			Observe: hooks, State: state, Quota: quota.Options{Quotas: []quota.Quota{
				{Metric: quota.RequestsPerHour, HardStop: 2}, {Metric: quota.TokensPerDay, Warn: 1 << 40, Shared: true},
			}},
		})
		for _, caller := range []string{"ann", "bob", "ann", "ann"} {
			f.session.Call(WithCaller(t.Context(), Caller{Subject: caller}), "mcp_aql_read", []byte(read))
		}
		return state.asked
	}
	w := new(witness)
	hooks := w.hooks()
	hooks.Quota = func(ctx context.Context, u observe.QuotaUse) {
		if u.Metric == string(quota.TokensPerDay) {
			u.Share = 0 // of what answers have
		}
		w.note(ctx, "quota", u)
	}
	if told, untold := send(hooks), send(nil); told != untold {
		t.Errorf("the state was asked %d times, and without hooks %d times", told, untold)
	}
	var got []string
	for _, e := range w.take() {
		if strings.HasPrefix(e, ">>") {
			got = append(got, strings.TrimPrefix(e, ">> "))
		}
	}
	want := []string{
		"gate Effect=allowed Operation=get_note", "quota Metric=requests_per_hour Share=0.5", "quota Metric=tokens_per_day",
		"gate Effect=allowed Operation=get_note", "quota Metric=requests_per_hour Share=0.5", "quota Metric=tokens_per_day",
		"gate Effect=allowed Operation=get_note", "quota Metric=requests_per_hour Share=1", "quota Metric=tokens_per_day",
		"gate Effect=denied Operation=get_note Reason=quota_exhausted", "quota Metric=requests_per_hour Share=1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
