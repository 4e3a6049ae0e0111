package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/google/go-cmp/cmp"
)

func refusal(caller, operation string) audit.Record {
	return audit.Record{
		Event: audit.OperationDenied, Operation: operation, Outcome: audit.Denied, Reason: "policy",
		Caller: identity.Caller{Subject: caller},
	}
}

// told tells the records of a sink, each in a line.
func told(records []audit.Record) []string {
	var lines []string
	for _, r := range records {
		line := fmt.Sprintf("%s %s %s", r.Event, r.Operation, r.Caller.Subject)
		if r.Refused != nil {
			line += fmt.Sprintf(" %d in %s %v", r.Refused.Count, r.Refused.To.Sub(r.Refused.From), r.Refused.Events)
		}
		lines = append(lines, line)
	}
	return lines
}

func repeat(line string, n int) []string { return slices.Repeat([]string{line}, n) }

// C11: beyond a bound refusals are counted, for each caller and operation; the count is written when the window ends,
// before the next call of the caller that is allowed, and at the end.
func TestRefusalsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(sink)
		l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Wait: true, Refusals: 2})
		refuse := func(caller, operation string, n int) {
			t.Helper()
			for range n {
				if err := l.WriteRefusal(t.Context(), refusal(caller, operation)); err != nil {
					t.Fatal(err)
				}
			}
		}
		check := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, told(s.records())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.kept = nil
		}
		allow := func(caller string) {
			t.Helper()
			r := refusal(caller, "delete")
			r.Event, r.Outcome, r.Reason = audit.OperationAllowed, audit.Allowed, ""
			if err := l.Write(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		refuse("ann", "delete", 2)
		time.Sleep(10 * time.Second)
		refuse("ann", "delete", 3)
		time.Sleep(7 * time.Second)
		refuse("ann", "delete", 1)
		refuse("ann", "wipe", 1)
		refuse("bob", "delete", 3)
		check("within the window", slices.Concat(repeat("OPERATION_DENIED delete ann", 2),
			[]string{"OPERATION_DENIED wipe ann"}, repeat("OPERATION_DENIED delete bob", 2))...)

		allow("ann")
		check("before what is allowed", "REFUSALS_COUNTED delete ann 4 in 7s map[OPERATION_DENIED: policy:4]",
			"OPERATION_ALLOWED delete ann")
		refuse("ann", "delete", 2)
		for range 3 {
			allow("carol") // nothing that is allowed is ever counted only
		}
		check("of others", repeat("OPERATION_ALLOWED delete carol", 3)...)

		time.Sleep(time.Minute)
		synctest.Wait()
		got := told(s.records())
		slices.Sort(got)
		if diff := cmp.Diff([]string{
			"REFUSALS_COUNTED delete ann 2 in 0s map[OPERATION_DENIED: policy:2]",
			"REFUSALS_COUNTED delete bob 1 in 0s map[OPERATION_DENIED: policy:1]",
		}, got); diff != "" {
			t.Errorf("at the end of the window: %s", diff)
		}
		s.kept = nil
		time.Sleep(time.Hour)
		check("when nothing is refused")

		for range 3 {
			rejected := refusal("bob", "delete")
			rejected.Event, rejected.Outcome, rejected.Reason = audit.TokenRejected, audit.Failure, "expired"
			if err := l.WriteRefusal(t.Context(), refusal("bob", "delete"), rejected); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("at the end", "OPERATION_DENIED delete bob", "TOKEN_REJECTED delete bob", "OPERATION_DENIED delete bob",
			"TOKEN_REJECTED delete bob",
			"REFUSALS_COUNTED delete bob 1 in 0s map[OPERATION_DENIED: policy:1 TOKEN_REJECTED: expired:1]")
		if err := l.WriteRefusal(t.Context(), refusal("bob", "delete")); err == nil {
			t.Error("after the end")
		}
	})
}

// C11: however many requests are refused, of however many callers, the file grows by a bounded number of records in a
// window, and every refusal is in it or counted.
func TestAFloodOfRefusals(t *testing.T) {
	for _, tt := range []struct {
		name    string
		callers int
		flood   int
		most    int // records
	}{
		{"of one caller", 1, 20_000, 20 + 2},
		{"of many callers", 10_000, 20_000, 1000 + 4096 + 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(sink)
			synctest.Test(t, func(t *testing.T) {
				l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Queue: 10_000})
				for i := range tt.flood {
					r := refusal(fmt.Sprint("c", i/2%tt.callers), []string{"delete", "wipe"}[i%2])
					if err := l.WriteRefusal(t.Context(), r); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				kept := s.records()
				counted := uint64(0)
				for _, r := range kept {
					if counted++; r.Refused != nil {
						counted += r.Refused.Count - 1
					}
				}
				if len(kept) > tt.most || counted != uint64(tt.flood) {
					t.Errorf("%d records of %d refusals", len(kept), counted)
				}
				if err := l.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// The record of what was counted, member by member.
func TestCountedRefusalsJSON(t *testing.T) {
	r := refusal("ann", "delete")
	at := time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)
	r.Time, r.Event, r.Reason = at, audit.RefusalsCounted, ""
	r.Refused = &audit.Refused{Count: 7, From: at, To: at.Add(time.Second), Events: map[string]uint64{"b": 5, "a: \"": 2}}
	const want = `{"timestamp":"2026-11-21T08:30:00.000000000Z","event":"REFUSALS_COUNTED","operation":"delete",` +
		`"danger_level":0,"outcome":"denied","client_context":{"user_id":"ann"},"refused":7,` +
		`"refused_from":"2026-11-21T08:30:00.000000000Z","refused_to":"2026-11-21T08:30:01.000000000Z",` +
		`"refused_events":{"a: \"":2,"b":5}}`
	if diff := cmp.Diff(want, string(r.AppendJSON(nil))); diff != "" {
		t.Error(diff)
	}
}

// The parameters of a request that was refused take little space.
func TestParametersOfRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l := audit.New(audit.Options{Sinks: []audit.Sink{open(t, path, nil)}, Wait: true})
	for _, parameters := range []string{
		`{"id":"n1","text":"` + strings.Repeat("x", 1<<20) + `"}`,
		`{"id":"n1","numbers":[` + strings.Repeat("1,", 1<<20) + `1]}`,
	} {
		r := refusal("ann", "delete")
		r.Parameters, r.Identifiers = json.RawMessage(parameters), []string{"id", "text", "numbers"}
		if err := l.WriteRefusal(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	text := read(t, path)
	if len(text) > 4<<10 || !strings.Contains(string(text), `"id":"n1"`) {
		t.Errorf("%d bytes: %.3000s", len(text), text)
	}
	verify(t, path, nil)
}
