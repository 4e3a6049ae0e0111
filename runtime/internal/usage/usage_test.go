package usage

import (
	"context"
	"errors"
	"testing"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/google/go-cmp/cmp"
)

// named are callers in a test.
func named(names ...string) (all []identity.Caller) {
	for _, name := range names {
		all = append(all, identity.Caller{Subject: name})
	}
	return all
}

// What holds calls up stands first, a shared count stands once, and its pause holds up everybody for whom it was not
// lifted, whoever is looked at first.
func TestRead(t *testing.T) {
	day, hour := quota.RequestsPerDay, quota.RequestsPerHour
	uses := map[string]quota.Use{
		"ann": {Quotas: []quota.Used{
			{Metric: day, Status: "ok"}, {Metric: hour, Status: "warn", Shared: true, Lifted: true},
		}},
		"bob": {Quotas: []quota.Used{
			{Metric: day, Status: "exhausted"}, {Metric: hour, Status: "paused", Shared: true},
		}},
		"cid": {Quotas: []quota.Used{
			{Metric: day, Status: "warn", Lifted: true}, {Metric: hour, Status: "warn", Shared: true, Lifted: true},
		}},
	}
	for name, tt := range map[string]struct {
		callers []string
		most    int
		want    []string
		more    bool
	}{
		"none": {most: 9},
		"all": {
			callers: []string{"ann", "bob", "cid"}, most: 9, want: []string{
				"all callers together: requests per hour: paused, lifted for ann, cid", "bob: requests per day: exhausted",
				"cid: requests per day: pause lifted", "ann: requests per day: ok",
			},
		},
		"another is the first": {
			callers: []string{"bob", "ann"}, most: 2, want: []string{
				"bob: requests per day: exhausted", "all callers together: requests per hour: paused, lifted for ann",
				"ann: requests per day: ok",
			},
		},
		"more than are looked at": {
			callers: []string{"bob", "ann"}, most: 1, more: true, want: []string{
				"bob: requests per day: exhausted", "all callers together: requests per hour: paused",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := Read(t.Context(), named(tt.callers...), tt.most,
				func(_ context.Context, who identity.Caller) (quota.Use, error) { return uses[who.Subject], nil })
			var got []string
			for i := range table.Rows {
				r := &table.Rows[i]
				got = append(got, r.Whose()+": "+r.Counts()+": "+r.State())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || table.More != tt.more {
				t.Errorf("%v, %t (-want +got)\n%s", err, table.More, diff)
			}
		})
	}
	failed := errors.New("the store is away")
	_, err := Read(t.Context(), named("ann"), 1,
		func(context.Context, identity.Caller) (quota.Use, error) { return quota.Use{}, failed })
	if !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
}

// A caller is one however often it is named and whatever its scopes, and those without a name are one.
func TestDistinct(t *testing.T) {
	got := Distinct([]identity.Caller{
		{Subject: "ann", Issuer: "idp", Scopes: []string{"x"}}, {}, {Subject: "ann"}, {Subject: "ann", Issuer: "idp"},
		{Issuer: "idp"},
	})
	want := []identity.Caller{{Subject: "ann"}, {Subject: "ann", Issuer: "idp"}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Of many callers for whom a pause was lifted a state names the first few, and money has its currency.
func TestTexts(t *testing.T) {
	r := Row{
		Used:      quota.Used{Metric: quota.CostPerDay, Status: "paused", Currency: "EUR\x1b", Shared: true, Warn: 0.5},
		LiftedFor: append(named("ann\n"), append([]identity.Caller{{}}, named("bob", "cid", "dan")...)...),
	}
	want := `paused, lifted for ann\u000a, all callers without a name, bob, 2 more`
	if got := r.State(); got != want {
		t.Errorf("the state is %s, want %s", got, want)
	}
	if got := []string{r.Amount(2), r.Step(r.Warn), r.Step(r.Pause)}; !cmp.Equal(got, []string{
		`2.00 EUR\u001b`, `0.50 EUR\u001b`, "",
	}) {
		t.Errorf("amounts: %q", got)
	}
}
