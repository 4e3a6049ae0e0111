package state

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/quota"
)

// F61: a terminal, which opens the store by itself, reads what an adapter has counted there. Looking counts nothing.
func TestQuotasAtATerminal(t *testing.T) {

	quotas := quota.Options{
		Limits: []quota.Limit{{Operation: "get_*", Limit: 10, Window: quota.Day}},
		Quotas: []quota.Quota{
			{Metric: quota.RequestsPerDay, Pause: 2, HardStop: 4}, {Metric: quota.RequestsPerDay, Warn: 3, Shared: true},
		},
	}
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			location, at := p.open(t), time.Now()
			counting, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer counting.Close()
			adapter, err := newAdapter(aql.Options{
				State: counting, Quota: quotas, Now: func() time.Time { return at }, Logger: slog.New(slog.DiscardHandler),
			}, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			for _, caller := range []string{"ann", "ann", "ann", "bob"} { // the third of ann is held up
				if _, err := call(t.Context(), adapter.NewSession(), caller, "mcp_aql_read", "get_thing", "1", ""); err != nil {
					t.Fatal(err)
				}
			}
			looking, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer looking.Close()
			for range 2 {
				for caller, want := range map[string]string{
					"ann": "ann (test)  requests per day  paused  2 used  pauses at 2, stops at 4  anew ",
					"bob": "bob (test)  requests per day  ok  1 used  pauses at 2, stops at 4  anew ",
				} {
					var out bytes.Buffer
					code := operator.Command{}.Run(t.Context(), operator.Desk{
						Program: "things", Quota: quotas, Inbox: approve.New(looking), State: looking, Kept: looking,
						Stdout: &out, Stderr: &out, Now: func() time.Time { return at },
					}, operator.Flags{Caller: caller, Issuer: "test"}, []string{"quotas"})
					got := strings.Join(strings.Fields(out.String()), " ")
					for _, want := range []string{
						strings.Join(strings.Fields(want), " "), "all callers together requests per day warn 3 used warns at 3 ",
						"limit of the API get_* 7 left of 10 per day ",
					} {
						if code != 0 || !strings.Contains(got, want) {
							t.Errorf("code %d, %q is not in\n%s", code, want, &out)
						}
					}
				}
			}
		})
	}
}
