package conform_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/policy"
)

// newPeople returns the example with other options for what people confirm.
func newPeople(t *testing.T, options aql.Options) conform.Server {
	t.Helper()
	service, err := todo.Open(todo.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	options.Name, options.Version = "todo", "1.0.0"
	adapter, err := aql.New(todo.NewRegistry(service), options)
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.NewSession()
	t.Cleanup(s.Close)
	return &session{adapter, s}
}

// aboutConfirmation returns the verdicts of the checks that are about confirmation.
func aboutConfirmation(report *conform.Report) map[string]conform.Verdict {
	all := map[string]conform.Verdict{}
	for _, r := range report.Results() {
		if strings.HasPrefix(r.Name, "confirm/") || r.Name == "params/undocumented" {
			all[r.Name] = r.Verdict
		}
	}
	return all
}

// What people confirm is judged by what it does without them. What only a token shows is not judged where there is
// none, which the level and the exit code say.
func TestPeopleConfirm(t *testing.T) {
	deletions := &policy.Policy{Rules: []policy.Rule{{
		Name: "two", Effect: policy.Confirm, Operations: []string{"delete_*", "purge_*"},
		Approvers: &policy.Approvers{Count: 2},
	}}}
	waiting := map[string]conform.Verdict{
		"params/undocumented": conform.Pass, "confirm/asks": conform.Pass, "confirm/no-effect": conform.Pass,
		"confirm/unknown": conform.Pass, "confirm/batch": conform.Pass,
		"confirm/token": conform.NotJudged, "confirm/scope": conform.NotJudged, "confirm/redeems": conform.NotJudged,
		"confirm/once": conform.NotJudged,
	}
	for _, tt := range []struct {
		what        string
		options     aql.Options
		want        map[string]conform.Verdict
		level, exit int
	}{
		{
			"every request waits in the inbox",
			aql.Options{Confirmation: aql.Confirmation{HumanOnly: true, Inbox: approve.New}}, waiting, 0, 5,
		},
		{
			"a rule says who must approve",
			aql.Options{Confirmation: aql.Confirmation{Inbox: approve.New}, Policy: deletions}, waiting, 0, 5,
		},
		{
			"there is nobody to ask", aql.Options{Confirmation: aql.Confirmation{HumanOnly: true}},
			map[string]conform.Verdict{
				"params/undocumented": conform.Pass, "confirm/no-effect": conform.Pass,
				"confirm/asks": conform.NotJudged, "confirm/unknown": conform.NotJudged, "confirm/batch": conform.NotJudged,
				"confirm/token": conform.NotJudged, "confirm/scope": conform.NotJudged, "confirm/redeems": conform.NotJudged,
				"confirm/once": conform.NotJudged,
			}, 0, 5,
		},
		{
			"a value is typed for one operation, and a token confirms the other",
			aql.Options{Confirmation: aql.Confirmation{Inbox: approve.New}},
			map[string]conform.Verdict{
				"params/undocumented": conform.Pass, "confirm/no-effect": conform.Pass,
				"confirm/asks": conform.Pass, "confirm/unknown": conform.Pass, "confirm/batch": conform.Pass,
				"confirm/token": conform.Pass, "confirm/scope": conform.Pass, "confirm/redeems": conform.Pass,
				"confirm/once": conform.Pass,
			}, 2, 0,
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			report, err := conform.Run(t.Context(), newPeople(t, tt.options), conform.Options{AllowDestructive: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range report.Results() {
				if r.Verdict == conform.Fail || r.Verdict == conform.Warn {
					t.Errorf("%s: %s", r.Name, runError(r))
				}
			}
			if diff := cmp.Diff(tt.want, aboutConfirmation(report)); diff != "" {
				t.Errorf("the verdicts (-want +got):\n%s", diff)
			}
			if report.ConformanceLevel != tt.level || report.ExitCode() != tt.exit {
				t.Errorf("level %d with exit code %d, want %d with %d", report.ConformanceLevel, report.ExitCode(), tt.level,
					tt.exit)
			}
		})
	}
}

// That people confirm is no excuse: what runs without them, or with any token, fails.
func TestPeopleAreNotAsked(t *testing.T) {
	allow := func(r request) answer { return success(map[string]any{"deleted": r.params["todo_id"]}) }
	for _, tt := range []struct {
		what string
		call func(r request, next call) answer
		want string
	}{
		{"it runs without asking", func(r request, next call) answer {
			if r.operation == "delete_todo" {
				return allow(r)
			}
			return next(r)
		}, "confirm/asks"},
		{"it runs with any token", func(r request, next call) answer {
			if r.operation == "delete_todo" && r.params["_confirmation"] != nil {
				return allow(r)
			}
			return next(r)
		}, "confirm/unknown"},
		{"it takes a parameter for a token", func(r request, next call) answer {
			if r.operation == "delete_todo" && r.params["confirmation_token"] != nil {
				return next(r.with("confirmation_token", nil))
			}
			return next(r)
		}, "params/undocumented"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			people := newPeople(t, aql.Options{Confirmation: aql.Confirmation{HumanOnly: true, Inbox: approve.New}})
			report, err := conform.Run(t.Context(), &mutated{Server: people, call: tt.call},
				conform.Options{AllowDestructive: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := aboutConfirmation(report)[tt.want]; got != conform.Fail {
				t.Errorf("%s is %s, want fail", tt.want, got)
			}
		})
	}
}
