package meter

import (
	"fmt"
	"testing"

	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/google/go-cmp/cmp"
)

// A call that is counted tells of each quota the share of its last step that is used, with the call; one that a quota
// blocks tells it of that quota; one that a limit blocks tells nothing.
func TestSharesOfQuotas(t *testing.T) {
	m := newMeter(t, quota.Options{
		Limits: []quota.Limit{{Operation: "get_item", Limit: 1, Window: quota.Minute}},
		Quotas: []quota.Quota{
			{Metric: quota.RequestsPerHour, Warn: 1, Pause: 2, HardStop: 4},
			{Metric: quota.RequestsPerDay, Warn: 10, Shared: true},
			{Metric: quota.TokensPerDay, Pause: 200},
			{Metric: quota.CostPerMonth, HardStop: 2},
		},
		Prices: []quota.Price{{Operation: "list_items", PerCall: 0.5}},
	})
	for i, step := range []struct {
		operation, caller string
		tokens            int64 // that the call turns out to have used
		want              []string
	}{
		{"list_items", "ann", 50, []string{
			"requests_per_hour 0.25", "requests_per_day 0.1", "tokens_per_day 0", "cost_per_month 0.25",
		}},
		{"list_items", "bob", 0, []string{
			"requests_per_hour 0.25", "requests_per_day 0.2", "tokens_per_day 0", "cost_per_month 0.25",
		}},
		{"list_items", "ann", 0, []string{
			"requests_per_hour 0.5", "requests_per_day 0.3", "tokens_per_day 0.25", "cost_per_month 0.5",
		}},
		{"list_items", "ann", 0, []string{"blocked: requests_per_hour 0.5"}},
		{"get_item", "bob", 0, []string{
			"requests_per_hour 0.5", "requests_per_day 0.4", "tokens_per_day 0", "cost_per_month 0.25",
		}},
		{"get_item", "cid", 0, nil},
	} {
		taken, block := m.take(t, step.operation, step.caller)
		if err := taken.AddUsage(t.Context(), quota.Usage{Tokens: step.tokens}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for metric, used := range taken.Used {
			got = append(got, fmt.Sprint(metric, " ", used))
		}
		if metric, used, ok := block.Used(); ok {
			got = append(got, fmt.Sprint("blocked: ", metric, " ", used))
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("step %d (-want +got)\n%s", i, diff)
		}
	}
	for range (&Taken{}).Used {
		t.Error("what was not counted has used something")
	}
}
