package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	desked "github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// F61: who operates the adapter sees how much each caller has used whom the inbox, executions or records name, what
// holds calls up first, and is told who cannot be known.
func TestQuotas(t *testing.T) {
	b := newBill(t)
	b.everybody(t)
	item := b.ask(t, func(q *approve.Question) { q.Kind, q.Binding = approve.Continuation, approve.Binding{1} })
	anew := func(at time.Time, in string) string {
		return "anew " + desked.Clock(at, b.Now().Local()) + ", in " + in
	}
	day := anew(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), "14h59m30s")
	lines := []string{
		"ann (stdio) requests per day paused 3 used warns at 2, pauses at 3, stops at 5 " + day,
		"all callers together cost per hour warn 3.50 EUR used warns at 2.00 EUR, pauses at 4.00 EUR " +
			anew(start.Add(time.Hour), "59m30s"),
		`carl\u001b[2J (idp) requests per day warn 2 used warns at 2, pauses at 3, stops at 5 ` + day,
		"bob (idp) requests per day ok 1 used warns at 2, pauses at 3, stops at 5 " + day,
		"limit of the API global 93 left of 100 per day " + anew(b.Now().Add(24*time.Hour), "24h0m0s"),
	}
	got := b.says(t, 0, operator.Flags{})
	var table []string
	for line := range strings.SplitSeq(got, "\n") {
		table = append(table, squeezed(line))
	}
	if diff := cmp.Diff(lines, table[:len(lines)]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, want := range []string{
		item + " asks to let ann (stdio) go on: notes operator show " + item + "\n",
		"Of those who are known, 2 have used nothing; -all lists them.\n",
		"Known are you, callers without a name, and whom inbox, executions and records name.\n",
		"Look for others with -caller NAME -issuer ISSUER.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "zoe") || strings.Contains(got, "\x1b") {
		t.Errorf("it prints\n%s", got)
	}
}

// squeezed is a line with one space where there are several.
func squeezed(line string) string { return strings.Join(strings.Fields(line), " ") }

// Whose counts are printed: of those who are known and have used something, of all who are known, or of those whom the
// flags name, whether they are known or not.
func TestCallersOfQuotas(t *testing.T) {
	b := newBill(t)
	b.everybody(t)
	b.calls(t, identity.Caller{}, 1)
	for name, tt := range map[string]struct {
		flags operator.Flags
		want  []string // who has used how much
	}{
		"those who have used something": {
			want: []string{"ann 3", " 1", "bob 1", "carl\x1b[2J 2"},
		},
		"all who are known": {
			flags: operator.Flags{All: true}, want: []string{"ann 3", " 1", "bob 1", "carl\x1b[2J 2", "eve 0"},
		},
		"one who is known":         {flags: operator.Flags{Caller: "bob"}, want: []string{"bob 1"}},
		"all that somebody knows":  {flags: operator.Flags{Issuer: "stdio"}, want: []string{"ann 3", "eve 0"}},
		"one of another":           {flags: operator.Flags{Caller: "bob", Issuer: "stdio"}, want: []string{"bob 0"}},
		"one who is not known":     {flags: operator.Flags{Caller: "zoe", Issuer: "idp"}, want: []string{"zoe 1"}},
		"one who has used nothing": {flags: operator.Flags{Caller: "eve"}, want: []string{"eve 0"}},
	} {
		tt.flags.JSON = true
		var got struct {
			Quotas []struct {
				Caller  *identity.Caller
				Shared  bool
				Current float64
			}
		}
		if err := json.Unmarshal([]byte(b.says(t, 0, tt.flags)), &got); err != nil {
			t.Fatal(err)
		}
		of := make(map[string]bool)
		for _, q := range got.Quotas {
			if q.Shared != (q.Caller == nil) {
				t.Errorf("%s: %+v", name, q)
			}
			if !q.Shared {
				of[fmt.Sprint(q.Caller.Subject, " ", q.Current)] = true
			}
		}
		want := make(map[string]bool)
		for _, who := range tt.want {
			want[who] = true
		}
		if diff := cmp.Diff(want, of); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// What the terminal prints of a caller is what the adapter says of it, which the console shows; looking counts nothing.
func TestQuotasAgreeWithTheAdapter(t *testing.T) {
	b := newBill(t)
	b.everybody(t)
	for range 2 {
		for _, who := range []identity.Caller{ann, bob, carl, zoe, {Subject: "nobody", Issuer: "idp"}} {
			use, err := b.adapter.QuotaUse(t.Context(), who)
			if err != nil {
				t.Fatal(err)
			}
			got := b.says(t, 0, operator.Flags{JSON: true, Caller: who.Subject, Issuer: who.Issuer})
			for _, q := range use.Quotas {
				used, _ := json.Marshal(q.Used)
				resets, _ := json.Marshal(q.Resets)
				for _, want := range []string{
					fmt.Sprintf(`"metric":%q,"current":%s,`, q.Metric, used),
					fmt.Sprintf(`"status":%q,"resets_at":%s`, q.Status, resets),
				} {
					if !strings.Contains(got, want) {
						t.Errorf("%s is not in %s", want, got)
					}
				}
			}
			if want := fmt.Sprintf(`"remaining":%d,`, use.Limits[0].Remaining); !strings.Contains(got, want) {
				t.Errorf("%s is not in %s", want, got)
			}
		}
	}
}

// A pause that was lifted is lifted for a caller: of a quota that all share, it still holds up the others.
func TestLiftedPauses(t *testing.T) {
	b := newBill(t)
	b.calls(t, ann, 2)
	b.calls(t, bob, 2)
	b.calls(t, zoe, 2)
	b.calls(t, carl, 2)
	b.ask(t, nil)
	reader := meter.Reader("notes", b.Quota, b.State)
	hour, day := start.Add(time.Hour), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	shared := b.says(t, 0, operator.Flags{})
	if !strings.Contains(shared, "cost per hour     paused  4.00 EUR used") {
		t.Errorf("it prints\n%s", shared)
	}
	lift := func(q int, ends time.Time) {
		if err := reader.Lift(t.Context(), &b.Quota.Quotas[q], ann.Key(), ends, b.Now()); err != nil {
			t.Fatal(err)
		}
	}
	lift(1, hour)
	b.calls(t, ann, 1)
	lift(0, day)
	got := b.says(t, 0, operator.Flags{})
	for _, want := range []string{"cost per hour paused, lifted for ann (stdio) 4.50 EUR", "day pause lifted 3 used"} {
		if !strings.Contains(squeezed(got), want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	got = b.says(t, 0, operator.Flags{JSON: true})
	for _, want := range []string{
		`"status":"paused","lifted_for":[{"subject":"ann","issuer":"stdio"}],`, `"status":"warn","lifted":true,`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// The names and the form of what -json prints are stable.
func TestQuotasAsJSON(t *testing.T) {
	b := newBill(t)
	b.calls(t, ann, 1)
	item := b.ask(t, func(q *approve.Question) { q.Kind = approve.Continuation })
	b.ask(t, func(q *approve.Question) { // which nobody can answer any more
		q.Kind, q.Binding, q.Lifetime = approve.Continuation, approve.Binding{1}, 10*time.Second
	})
	want := `{"at":"2026-03-01T09:00:30Z","quotas":[` +
		`{"caller":{"subject":"ann","issuer":"stdio"},"shared":false,"metric":"requests_per_day","current":1,"warn":2,` +
		`"pause":3,"hard_stop":5,"status":"ok","resets_at":"2026-03-02T00:00:00Z"},` +
		`{"shared":true,"metric":"cost_per_hour","current":0.5,"warn":2,"pause":4,"currency":"EUR","status":"ok",` +
		`"resets_at":"2026-03-01T10:00:00Z"}],` +
		`"api_limits":[{"scope":"global","limit":100,"remaining":99,"window":"day",` +
		`"resets_at":"2026-03-02T09:00:30Z"}],` +
		`"asks":[{"approval_id":"` + item + `","caller":{"subject":"ann","issuer":"stdio"}}],"unused":2,` +
		`"known_from":["inbox","executions"],"more":false}` + "\n"
	if diff := cmp.Diff(want, b.says(t, 0, operator.Flags{JSON: true})); diff != "" {
		t.Error(diff)
	}
}

// A service that has limits of its API alone has no callers to tell of.
func TestLimitsWithoutQuotas(t *testing.T) {
	b := newBill(t)
	b.calls(t, ann, 1)
	b.Quota.Quotas = nil
	got := b.says(t, 0, operator.Flags{})
	if !strings.HasPrefix(squeezed(got), "limit of the API global 99 left of 100 per day anew ") ||
		strings.Count(got, "\n") != 1 {
		t.Errorf("it prints\n%s", got)
	}
}

// unreachable is a store that answers nothing about counts.
type unreachable struct{ store.Store }

func (unreachable) Take(context.Context, []store.Claim) ([]store.Count, error) {
	return nil, errors.New("dial tcp 10.0.0.7:5432: connection refused")
}

// What is missing or fails is said, with what to do about it.
func TestQuotasThatCannotBeRead(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*bill)
		flags  operator.Flags
		code   int
		says   string
	}{
		"a service without quotas": {
			change: func(b *bill) { b.Quota = quota.Options{} }, code: 3, says: "serve.Options.Adapter.Quota",
		},
		"no state": {
			change: func(b *bill) { b.State = nil }, code: 1, says: "no state here that keeps counts",
		},
		"a state that cannot be reached": {
			change: func(b *bill) { b.State = unreachable{b.State} }, code: 1,
			says: "reading how much is used: reading the counts: dial tcp 10.0.0.7:5432: connection refused",
		},
		"records that there are not": {
			change: func(b *bill) { b.AuditFile = "nowhere.log" }, code: 1, says: "reading the records: opening the audit file",
		},
		"a caller whom nothing names": {
			flags: operator.Flags{Caller: "zoe"}, code: 2, says: "with -issuer who vouches for the name, such as stdio",
		},
		"the flags of another command": {
			flags: operator.Flags{Operation: "look"}, code: 3, says: "-operation: this flag is for other commands",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBill(t)
			if tt.change != nil {
				tt.change(b)
			}
			if got := b.says(t, tt.code, tt.flags); !strings.Contains(got, "notes operator: ") ||
				!strings.Contains(got, tt.says) {
				t.Errorf("it says %s", got)
			}
		})
	}
}

// However many callers records name, the counts of a thousand are read, and it is said that there are more.
func TestQuotasOfManyCallers(t *testing.T) {
	b := newBill(t)
	b.AuditFile = filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(t.Context(), b.AuditFile, audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []audit.Record
	for i := range 1500 {
		all = append(all, audit.Record{
			Time: start, Event: audit.OperationAllowed, Operation: "look", Outcome: audit.Allowed,
			Caller: identity.Caller{Subject: fmt.Sprintf("caller%d", i), Issuer: "idp"},
		})
	}
	if err := errors.Join(file.Write(t.Context(), all), file.Close()); err != nil {
		t.Fatal(err)
	}
	got := b.says(t, 0, operator.Flags{})
	if !strings.Contains(got, "There are more than 1000 callers") || !strings.Contains(got, "1000 have used nothing") {
		t.Errorf("it prints\n%s", got)
	}
	if got := b.says(t, 0, operator.Flags{JSON: true}); !strings.Contains(got, `"more":true`) {
		t.Errorf("it prints\n%s", got)
	}
}
