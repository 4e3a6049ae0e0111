package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/internal/agents"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// rivals is a store in which others are faster at changing what is kept of agents, as often as there are wins left.
type rivals struct {
	store.Store
	wins int
	// instead is what the fastest one does; nil: it leaves things as they are.
	instead func()
}

func (s *rivals) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if strings.HasPrefix(key, "loop/shop/s/") && old != 0 && s.wins > 0 {
		s.wins--
		if s.instead != nil {
			s.instead()
		}
		entry, err := s.Get(ctx, key)
		if err == nil {
			_, err = s.Store.Put(ctx, key, entry.Value, entry.Version, ttl)
		}
		if err != nil {
			return 0, err
		}
	}
	return s.Store.Put(ctx, key, value, old, ttl)
}

// A report goes on trying while others are faster, and gives up where they always are.
func TestReportsGetTheirTurn(t *testing.T) {
	for name, test := range map[string]struct {
		wins int
		want error
	}{
		"nine others": {9, nil},
		"always":      {1000, agents.ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &rivals{Store: new(store.Memory)}
				k, _ := keeper(t, s)
				start(t, k, ann)
				s.wins = test.wins
				d, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "read x"})
				if !errors.Is(err, test.want) || err == nil && !d.Continue {
					t.Errorf("it is told %+v, %v, want %v", d, err, test.want)
				}
			})
		})
	}
}

// A report that nobody waits for any more stops trying.
func TestReportsStopTrying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rivals{Store: new(store.Memory)}
		k, _ := keeper(t, s)
		start(t, k, ann)
		s.wins = 1000
		gone := errors.New("the client has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		// The clock goes on only while the report waits for its turn.
		time.AfterFunc(time.Nanosecond, func() { cancel(gone) })
		if _, err := k.Report(ctx, agents.Report{Who: ann, Hint: "read x"}); !errors.Is(err, gone) {
			t.Errorf("it fails with %v", err)
		}
	})
}

// step is what a record of a step says.
type step struct {
	Evaluation string `json:"evaluation"`
	Step       int    `json:"step"`
	Continue   bool   `json:"continue"`
}

// standing returns the records of steps that count: the last one of each evaluation.
func standing(t *testing.T, records []audit.Record) (list []step) {
	t.Helper()
	for _, r := range records {
		if r.Event != audit.StepEvaluated {
			continue
		}
		var s step
		if err := json.Unmarshal(r.Parameters, &s); err != nil || s.Evaluation == "" {
			t.Fatalf("%s: %v", r.Parameters, err)
		}
		list = slices.DeleteFunc(list, func(before step) bool { return before.Evaluation == s.Evaluation })
		list = append(list, s)
	}
	for i := range list {
		list[i].Evaluation = ""
	}
	return list
}

// Whoever reads the log finds a step once, however often others were faster when it was evaluated, and none that nobody
// was told of.
func TestOneRecordOfAStepCounts(t *testing.T) {
	for name, test := range map[string]struct {
		wins int
		want []step
	}{
		"no others":     {0, []step{{Step: 1, Continue: true}, {Step: 2, Continue: true}}},
		"three others":  {3, []step{{Step: 1, Continue: true}, {Step: 2, Continue: true}}},
		"always others": {1000, []step{{Step: 1}, {Step: 1, Continue: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &rivals{Store: new(store.Memory)}
				k, records := keeper(t, s)
				start(t, k, ann)
				s.wins = test.wins
				_, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "read x"})
				if err != nil && !errors.Is(err, agents.ErrBusy) {
					t.Fatal(err)
				}
				s.wins = 0
				if _, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "read y"}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, standing(t, *records)); diff != "" {
					t.Errorf("of %d records (-want +got)\n%s", len(*records), diff)
				}
			})
		})
	}
}

// The same report once more belongs to the evaluation whose answer it gets, and a report anew does not, also where the
// agent was put back meanwhile.
func TestAnAgentThatWasPutBackIsOnRecord(t *testing.T) {
	s := new(store.Memory)
	k, records := keeper(t, s)
	start(t, k, ann)
	entries, err := s.List(t.Context(), "loop/shop/s/", "", 10)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	report := func(r agents.Report) {
		t.Helper()
		if d, err := k.Report(t.Context(), r); err != nil || !d.Continue || d.Step != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	first := agents.Report{Who: ann, Hint: "read x", Request: "1"}
	report(first)
	report(first)
	if diff := cmp.Diff([]step{{Step: 1, Continue: true}}, standing(t, *records)); diff != "" {
		t.Errorf("once more (-want +got)\n%s", diff)
	}
	now, err := s.Get(t.Context(), entries[0].Key)
	if err == nil {
		_, err = s.Put(t.Context(), now.Key, entries[0].Value, now.Version, time.Hour)
	}
	if err != nil {
		t.Fatal(err)
	}
	report(agents.Report{Who: ann, Hint: "read x", Request: "2"})
	if diff := cmp.Diff([]step{{Step: 1, Continue: true}, {Step: 1, Continue: true}}, standing(t, *records)); diff != "" {
		t.Errorf("put back (-want +got)\n%s", diff)
	}
}

// Where the same report came twice at the same time, both are told the answer to one of them, and the step of the other
// does not count.
func TestTheSameReportTwiceAtATimeIsOneStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rivals{Store: new(store.Memory)}
		k, records := keeper(t, s)
		start(t, k, ann)
		report := func() {
			t.Helper()
			d, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "read x", Request: "1"})
			if err != nil || !d.Continue || d.Step != 1 {
				t.Errorf("%+v, %v", d, err)
			}
		}
		s.wins, s.instead = 1, report
		report()
		want := []step{{Step: 1, Continue: true}, {Step: 1}}
		if diff := cmp.Diff(want, standing(t, *records)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
