package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// Every field of a rule is a line, except for its name, effect and reason.
func TestAbout(t *testing.T) {
	no, yes := false, true
	r := policy.Rule{
		Name: "n", Effect: policy.Confirm, Reason: "r", Operations: []string{"delete_*", "purge"},
		Categories: []gen.Category{gen.Delete}, Danger: gen.Dangerous, Callers: []string{"ci-*"}, Issuers: []string{"stdio"},
		Scopes: []string{"write"}, Anonymous: &no,
		Not: policy.Exception{
			Operations: []string{"delete_draft"}, Callers: []string{"ci-1"}, Issuers: []string{"idp"}, Scopes: []string{"admin"},
		},
		When: []policy.Condition{
			{Param: "status", In: []any{"done", 1}, NotIn: []any{true}, Given: &yes},
			{
				Param: "days", Equals: 1, NotEquals: 2, LessThan: 3, GreaterThan: 4, AtLeast: 5, AtMost: 6.5, Like: "a*",
				NotLike: "b*", Given: &no,
			},
		},
		Hide: []string{"Customer.email"}, Cooldown: time.Minute, Reauthenticate: true, Approvers: &policy.Approvers{Count: 2},
	}
	want := []string{
		"operations delete_*, purge", "categories DELETE", "danger level dangerous or higher", "callers ci-*",
		"issuers stdio", "one of the scopes write", "callers that are known", "not operations delete_draft",
		"not callers ci-1", "not issuers idp", "not scopes admin", `when status in ["done",1] and not in [true] and given`,
		"when days equals 1 and not equals 2 and less than 3 and greater than 4 and at least 5 and at most 6.5 and like a* " +
			"and not like b* and not given",
		"hides in results Customer.email", "confirmed after 1m", "who confirms authenticates anew",
		"approved by " + r.Approvers.String(),
	}
	if diff := cmp.Diff(want, r.About()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (&policy.Rule{Anonymous: &yes}).About(); len(got) != 1 || got[0] != "anonymous callers" {
		t.Errorf("%q", got)
	}
}

// What a rule says about time stands as it does in a policy.
func TestTimesOfRules(t *testing.T) {
	for within, want := range map[time.Duration]string{
		time.Hour: "1h", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 24 * time.Hour: "24h", 30 * time.Second: "30s",
		time.Hour + time.Second: "1h0m1s", 90 * time.Second: "1m30s",
	} {
		if got := (&policy.Approvers{Within: within}).String(); got != "one person, within "+want {
			t.Errorf("%v is %q", within, got)
		}
	}
}
