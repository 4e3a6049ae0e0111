package loop_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files below testdata")

var start = time.Date(2026, 11, 22, 0, 16, 0, 0, time.UTC)

// config is a configuration with a pattern of each kind.
func config(change func(*policy.Loop)) loop.Config {
	l := &policy.Loop{LoopLimits: policy.LoopLimits{
		Deny: []string{"rm -rf*", "drop_*"}, RequiresApproval: []string{"git push*", "read_secret*"},
		AutoApprove: []string{"read_*", "delete_draft *"},
	}}
	if change != nil {
		change(l)
	}
	return loop.For(l, "release_bot")
}

// Each stage of the evaluation, alone and before the others (MCP-AQL core §8.7.2): REQ-AD-01, REQ-AD-02, REQ-AD-03,
// REQ-AD-04, REQ-AD-05, REQ-AD-06, REQ-AD-07, REQ-DL-14.
func TestStages(t *testing.T) {
	score := func(f float64) *float64 { return &f }
	before := func(hint string, n int, verb string, age time.Duration) []loop.Action {
		var list []loop.Action
		for i := range n {
			list = append(list, loop.Action{
				At: start.Add(-age), Digest: loop.Digest(strings.ReplaceAll(hint, "#", fmt.Sprint(i))), Verb: verb,
			})
		}
		return list
	}
	for name, tt := range map[string]struct {
		config  func(*policy.Loop)
		report  loop.Report
		history loop.History
		want    loop.Directive // without factors, rule and action
		factors []string       // nil: they are not looked at
	}{
		"an action of which nothing is known goes on": {
			report: loop.Report{Hint: "thinking about the weather"}, history: loop.History{Number: 7},
			want: loop.Directive{
				Continue: true, StepsRemaining: 13, Tier: loop.Advisory, Score: 10,
			},
			factors: []string{
				"Step 7 of 20", "No pattern matches the action", "Risk 10 (advisory): nothing is known of it",
				"Tolerance moderate: pauses above 50",
			},
		},
		"a blocked agent is told so, whatever it reports": {
			report:  loop.Report{Hint: "read_file x"},
			history: loop.History{Number: 1, Blocked: "since 00:16:03", Approved: loop.ApprovedAction | loop.VerifiedAction},
			want: loop.Directive{
				Stopped: true, Reason: "Blocked: since 00:16:03", StepsRemaining: 19, Tier: loop.DangerZone, Score: -1,
				Needs: loop.NeedsUnblock,
			},
			factors: []string{"Blocked: since 00:16:03"},
		},
		"an open challenge is named": {
			report: loop.Report{Hint: "read_file x"}, history: loop.History{Number: 1, Challenge: "4f0c"},
			want: loop.Directive{
				Reason: "Waits for a person to verify: challenge 4f0c", StepsRemaining: 19, Tier: loop.Verify, Score: -1,
				Needs: loop.NeedsChallenge,
			},
		},
		"an open pause is not judged anew": {
			report: loop.Report{Hint: "read_file x"}, history: loop.History{Number: 1, Paused: "the step before"},
			want: loop.Directive{
				Reason: "Waits for a person: the step before", StepsRemaining: 19, Score: -1, Needs: loop.NeedsApproval,
			},
		},
		"a hint that nobody sees says nothing": {
			report: loop.Report{Hint: " \u200b\u2060\u202e\ufe0f\u00ad\u3164 "}, history: loop.History{Number: 1},
			want: loop.Directive{
				Reason: "The next action hint says nothing", StepsRemaining: 19, Score: -1, Needs: loop.NeedsReport,
			},
		},

		"the last step that is allowed": {
			report: loop.Report{Hint: "read_file x"}, history: loop.History{Number: 20},
			want: loop.Directive{Continue: true, Tier: loop.Advisory, Score: -1, Decided: loop.StagePatterns},
		},
		"the step after it": {
			report: loop.Report{Hint: "read_file x"}, history: loop.History{Number: 21},
			want: loop.Directive{
				Reason: "Step limit exceeded", Score: -1, Decided: loop.StageSteps, Needs: loop.NeedsApproval,
				Approval: loop.ApprovedSteps,
			},
			factors: []string{"Step 21 of 20"},
		},
		"the step after it, of which a person approves": {
			report: loop.Report{Hint: "read_file x"}, history: loop.History{Number: 21, Approved: loop.ApprovedSteps},
			want: loop.Directive{Continue: true, Tier: loop.Advisory, Score: -1, Decided: loop.StagePatterns},
		},
		"the limit counts before the outcome and before deny": {
			report: loop.Report{Hint: "rm -rf /", Outcome: loop.Failed}, history: loop.History{Number: 21},
			want: loop.Directive{
				Reason: "Step limit exceeded", Score: -1, Decided: loop.StageSteps, Needs: loop.NeedsApproval,
				Approval: loop.ApprovedSteps,
			},
		},

		"a failure pauses": {
			report: loop.Report{Hint: "read_file x", Outcome: loop.Failed}, history: loop.History{Number: 2},
			want: loop.Directive{
				Reason: "The step before has failed", StepsRemaining: 18, Score: -1, Decided: loop.StageOutcome,
				Needs: loop.NeedsApproval, Approval: loop.ApprovedFailure,
			},
			factors: []string{"Step 2 of 20", "Outcome of the step before: failure"},
		},
		"a failure of which a person approves": {
			report:  loop.Report{Hint: "read_file x", Outcome: loop.Failed},
			history: loop.History{Number: 2, Approved: loop.ApprovedFailure},
			want: loop.Directive{
				Continue: true, StepsRemaining: 18, Tier: loop.Advisory, Score: -1, Decided: loop.StagePatterns,
			},
		},
		"the approval of an action is not one of a failure": {
			report:  loop.Report{Hint: "read_file x", Outcome: loop.Failed},
			history: loop.History{Number: 2, Approved: loop.ApprovedAction | loop.VerifiedAction | loop.ApprovedSteps},
			want: loop.Directive{
				Reason: "The step before has failed", StepsRemaining: 18, Score: -1, Decided: loop.StageOutcome,
				Needs: loop.NeedsApproval, Approval: loop.ApprovedFailure,
			},
		},
		"a step that was skipped goes on": {
			report: loop.Report{Hint: "read_file x", Outcome: loop.Skipped}, history: loop.History{Number: 2},
			want: loop.Directive{
				Continue: true, StepsRemaining: 18, Tier: loop.Advisory, Score: -1, Decided: loop.StagePatterns,
			},
		},

		"what is denied blocks": {
			report: loop.Report{Hint: "please run rm -rf /srv/www"}, history: loop.History{Number: 7},
			want: loop.Directive{
				Stopped: true, Reason: "Blocked: the action matches the deny pattern 'rm -rf*'", StepsRemaining: 13,
				Tier: loop.DangerZone, Score: -1, Decided: loop.StagePatterns, Needs: loop.NeedsUnblock,
			},
			factors: []string{"Step 7 of 20", "Action matches deny pattern 'rm -rf*'"},
		},
		"what is denied blocks, whatever was approved": {
			report: loop.Report{Hint: "drop_table users"},
			history: loop.History{
				Number: 1, Approved: loop.ApprovedSteps | loop.ApprovedFailure | loop.ApprovedAction | loop.VerifiedAction,
			},
			want: loop.Directive{
				Stopped: true, Reason: "Blocked: the action matches the deny pattern 'drop_*'", StepsRemaining: 19,
				Tier: loop.DangerZone, Score: -1, Decided: loop.StagePatterns, Needs: loop.NeedsUnblock,
			},
		},
		"deny counts more than the others": {
			config: func(l *policy.Loop) { l.Deny = append(l.Deny, "read_secret x") },
			report: loop.Report{Hint: "read_secret x"}, history: loop.History{Number: 1},
			want: loop.Directive{
				Stopped: true, Reason: "Blocked: the action matches the deny pattern 'read_secret x'", StepsRemaining: 19,
				Tier: loop.DangerZone, Score: -1, Decided: loop.StagePatterns, Needs: loop.NeedsUnblock,
			},
		},
		"requires_approval counts more than auto_approve": {
			report: loop.Report{Hint: "read_secret x"}, history: loop.History{Number: 1},
			want: loop.Directive{
				Reason:         "The action matches the pattern 'read_secret*', which requires approval",
				StepsRemaining: 19, Tier: loop.Confirm, Score: -1, Decided: loop.StagePatterns, Needs: loop.NeedsApproval,
				Approval: loop.ApprovedAction,
			},
		},
		"what was approved is judged by its risk still": {
			report: loop.Report{Hint: "git push --force"}, history: loop.History{Number: 1, Approved: loop.ApprovedAction},
			want: loop.Directive{
				Reason: "The action has a risk of 70, which requires verification", StepsRemaining: 19, Tier: loop.Verify,
				Score: 70, Decided: loop.StageRisk, Needs: loop.NeedsChallenge,
			},
		},
		"what was verified goes on": {
			report: loop.Report{Hint: "git push --force"}, history: loop.History{Number: 1, Approved: loop.VerifiedAction},
			want: loop.Directive{Continue: true, StepsRemaining: 19, Tier: loop.Verify, Score: 70},
		},
		"an automatic approval skips the risk": {
			report: loop.Report{Hint: "delete_draft 17"}, history: loop.History{Number: 1},
			want: loop.Directive{
				Continue: true, StepsRemaining: 19, Tier: loop.Advisory, Score: -1, Decided: loop.StagePatterns,
			},
			factors: []string{"Step 1 of 20", "Action matches pattern 'delete_draft *', which is approved of"},
		},
		"an automatic approval matches the whole hint": {
			report: loop.Report{Hint: "now read_file x"}, history: loop.History{Number: 1},
			want: loop.Directive{Continue: true, StepsRemaining: 19, Tier: loop.Advisory, Score: 10},
		},
		"an automatic approval is of one command": {
			report: loop.Report{Hint: "delete_draft 17; delete_draft 18"}, history: loop.History{Number: 1},
			want: loop.Directive{
				Reason: "The action has a risk of 45, which requires approval", StepsRemaining: 19, Tier: loop.Confirm, Score: 45,
				Decided: loop.StageRisk, Needs: loop.NeedsApproval, Approval: loop.ApprovedAction,
			},
		},

		"an operation has the risk of its danger level": {
			report: loop.Report{Hint: "calling archive_todo on t-17"}, history: loop.History{Number: 1},
			want: loop.Directive{
				Continue: true, StepsRemaining: 19, Tier: loop.Advisory, Score: 25,
			},
			factors: []string{
				"Step 1 of 20", "No pattern matches the action", "Risk 25 (advisory): operation archive_todo",
				"Tolerance moderate: pauses above 50",
			},
		},
		"a destructive operation": {
			report: loop.Report{Hint: "calling forget_todo on t-17"}, history: loop.History{Number: 1},
			want: loop.Directive{
				Reason: "The action has a risk of 50, which requires approval", StepsRemaining: 19, Tier: loop.Confirm, Score: 50,
				Decided: loop.StageRisk, Needs: loop.NeedsApproval, Approval: loop.ApprovedAction,
			},
		},
		"a client cannot lower the risk": {
			report: loop.Report{Hint: "calling forget_todo", Claimed: score(0)}, history: loop.History{Number: 1},
			want: loop.Directive{
				Reason: "The action has a risk of 50, which requires approval", StepsRemaining: 19, Tier: loop.Confirm, Score: 50,
				Decided: loop.StageRisk, Needs: loop.NeedsApproval, Approval: loop.ApprovedAction,
			},
		},
		"a client can raise it": {
			report: loop.Report{Hint: "calling archive_todo", Claimed: score(30.1)}, history: loop.History{Number: 1},
			want: loop.Directive{
				Reason: "The action has a risk of 31, which requires approval", StepsRemaining: 19, Tier: loop.Confirm, Score: 31,
				Decided: loop.StageRisk, Needs: loop.NeedsApproval, Approval: loop.ApprovedAction,
			},
		},
		"a risk that is no number is the highest": {
			report: loop.Report{Hint: "x", Claimed: score(math.NaN())}, history: loop.History{Number: 1},
			want: loop.Directive{
				Stopped: true, Reason: "Blocked: the action has a risk of 100", StepsRemaining: 19, Tier: loop.DangerZone,
				Score: 100, Decided: loop.StageRisk, Needs: loop.NeedsUnblock,
			},
		},
		"a risk below zero is the highest": {
			report: loop.Report{Hint: "x", Claimed: score(-1)}, history: loop.History{Number: 1},
			want: loop.Directive{
				Stopped: true, Reason: "Blocked: the action has a risk of 100", StepsRemaining: 19, Tier: loop.DangerZone,
				Score: 100, Decided: loop.StageRisk, Needs: loop.NeedsUnblock,
			},
		},
		"the service's own score": {
			report: loop.Report{Hint: "x", Scored: 80, Why: []string{"The account is frozen"}}, history: loop.History{Number: 1},
			want: loop.Directive{
				Reason: "The action has a risk of 80, which requires verification", StepsRemaining: 19, Tier: loop.Verify,
				Score: 80, Decided: loop.StageRisk, Needs: loop.NeedsChallenge,
			},
			factors: []string{
				"Step 1 of 20", "No pattern matches the action", "Risk 80 (verify): the service's own score",
				"The account is frozen",
			},
		},
		"the same action for the third time": {
			report:  loop.Report{Hint: "calling archive_todo"},
			history: loop.History{Number: 3, Recent: before("calling archive_todo", 2, "", time.Hour)},
			want: loop.Directive{
				Reason: "The action has a risk of 40, which requires approval", StepsRemaining: 17, Tier: loop.Confirm, Score: 40,
				Decided: loop.StageRisk, Needs: loop.NeedsApproval, Approval: loop.ApprovedAction,
			},
		},
		"the same action for the second time": {
			report:  loop.Report{Hint: "calling archive_todo"},
			history: loop.History{Number: 3, Recent: before("calling archive_todo", 1, "", time.Hour)},
			want:    loop.Directive{Continue: true, StepsRemaining: 17, Tier: loop.Advisory, Score: 25},
		},
		"ten things of a destructive verb in a minute": {
			report:  loop.Report{Hint: "delete the file x", At: start},
			history: loop.History{Number: 10, Recent: before("delete the file #", 9, "delet*", 59*time.Second)},
			want: loop.Directive{
				Reason: "The action has a risk of 70, which requires verification", StepsRemaining: 10, Tier: loop.Verify,
				Score: 70, Decided: loop.StageRisk, Needs: loop.NeedsChallenge,
			},
		},
		"ten things of a destructive verb in more than a minute": {
			report:  loop.Report{Hint: "delete the file x", At: start},
			history: loop.History{Number: 10, Recent: before("delete the file #", 9, "delet*", time.Minute)},
			want: loop.Directive{
				Reason: "The action has a risk of 45, which requires approval", StepsRemaining: 10, Tier: loop.Confirm, Score: 45,
				Decided: loop.StageRisk, Needs: loop.NeedsApproval, Approval: loop.ApprovedAction,
			},
		},

		"a tolerance pauses what no tier does": {
			config: func(l *policy.Loop) { l.RiskTolerance = policy.Conservative },
			report: loop.Report{Hint: "x", Scored: 26}, history: loop.History{Number: 1},
			want: loop.Directive{
				Reason: "The action has a risk of 26, and the agent may take 25", StepsRemaining: 19, Tier: loop.Advisory,
				Score: 26, Decided: loop.StageTolerance, Needs: loop.NeedsApproval, Approval: loop.ApprovedAction,
			},
		},
		"an approval passes the tolerance": {
			config: func(l *policy.Loop) { l.RiskTolerance = policy.Conservative },
			report: loop.Report{Hint: "x", Scored: 40}, history: loop.History{Number: 1, Approved: loop.ApprovedAction},
			want: loop.Directive{Continue: true, StepsRemaining: 19, Tier: loop.Confirm, Score: 40},
		},
		"a mode that does not exist enforces": {
			config: func(l *policy.Loop) { l.Mode = "enforce" },
			report: loop.Report{Hint: "rm -rf /"}, history: loop.History{Number: 1},
			want: loop.Directive{
				Stopped: true, Reason: "Blocked: the action matches the deny pattern 'rm -rf*'", StepsRemaining: 19,
				Tier: loop.DangerZone, Score: -1, Decided: loop.StagePatterns, Needs: loop.NeedsUnblock,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(tt.config)
			c.Operations = map[string]int{
				"archive_todo": loop.Baseline(gen.Reversible), "forget_todo": loop.Baseline(gen.Destructive),
			}
			got := loop.Evaluate(c, tt.report, tt.history)
			if got.Factors == nil {
				t.Error("there are no factors")
			}
			if tt.factors != nil {
				if diff := cmp.Diff(tt.factors, got.Factors); diff != "" {
					t.Errorf("factors (-want +got)\n%s", diff)
				}
			}
			got.Factors, got.Rule, got.Action = nil, "", loop.Action{}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got.Continue != (got.Reason == "") {
				t.Errorf("it goes on (%t) for the reason %q", got.Continue, got.Reason)
			}
		})
	}
}

// Every score, with every tolerance and in every mode (T-66, T-108): the file has where the answer changes.
func TestEveryScore(t *testing.T) {
	var b strings.Builder
	for _, mode := range policy.LoopModes() {
		for _, tolerance := range policy.RiskTolerances() {
			fmt.Fprintf(&b, "%s, %s\n", mode, tolerance)
			last, from := "", 0
			for score := 0; score <= 101; score++ {
				answer := ""
				if score <= 100 {
					c := loop.For(&policy.Loop{Mode: mode, LoopLimits: policy.LoopLimits{RiskTolerance: tolerance}}, "a")
					c.Operations = map[string]int{"act": score}
					d := loop.Evaluate(c, loop.Report{Hint: "calling act"}, loop.History{Number: 1})
					answer = fmt.Sprintf("continue %t, stopped %t, %s, needs %s at stage %d",
						d.Continue, d.Stopped, orNone(string(d.Tier)), needs[d.Needs], d.Decided)
					if d.Score != score && mode != policy.Logging && mode != policy.Disabled {
						t.Errorf("%s, %s: the score %d is %d", mode, tolerance, score, d.Score)
					}
				}
				if answer != last {
					if last != "" {
						fmt.Fprintf(&b, "  %3d to %3d: %s\n", from, score-1, last)
					}
					last, from = answer, score
				}
			}
		}
	}
	path := filepath.Join("testdata", "every_score.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("go test ./loop -update writes testdata/every_score.txt (-want +got)\n%s", diff)
	}
}

var needs = map[loop.Need]string{
	loop.NeedsNothing: "nothing", loop.NeedsReport: "another report", loop.NeedsApproval: "approval",
	loop.NeedsChallenge: "challenge", loop.NeedsUnblock: "unblock",
}

func orNone(s string) string {
	if s == "" {
		return "no tier"
	}
	return s
}

// A lower tolerance pauses all that a higher one pauses, and no tolerance lets pass what a tier holds up (T-66).
func TestToleranceOnlyPauses(t *testing.T) {
	for score := range 101 {
		paused := true
		for _, tolerance := range policy.RiskTolerances() {
			c := loop.For(&policy.Loop{LoopLimits: policy.LoopLimits{RiskTolerance: tolerance}}, "a")
			c.Operations = map[string]int{"act": score}
			d := loop.Evaluate(c, loop.Report{Hint: "act"}, loop.History{Number: 1})
			if !d.Continue && !paused {
				t.Errorf("%s pauses at %d, and a lower tolerance does not", tolerance, score)
			}
			if d.Continue && loop.TierOf(score) != loop.Advisory {
				t.Errorf("%s lets %d pass, which is %s", tolerance, score, loop.TierOf(score))
			}
			paused = !d.Continue
		}
	}
}

// The danger levels lie in the ranges of MCP-AQL danger levels §8.1 as T-67 has them (REQ-AD-08).
func TestBaselines(t *testing.T) {
	want := []int{0, 25, 50, 75, 95, 95}
	var got []int
	for _, level := range append(gen.Dangers(), "none") {
		got = append(got, loop.Baseline(level))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
