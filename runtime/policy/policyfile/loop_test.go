package policyfile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

// Every key of the loop sets its field (REQ-AD-09).
func TestLoop(t *testing.T) {
	got, err := policyfile.Parse("p.yaml", []byte(`version: 1
loop:
  mode: monitoring
  max_steps: 30
  risk_tolerance: aggressive
  deny: ["rm -rf*", "drop_*"]
  requires_approval: ["git push*"]
  auto_approve: ["read_*"]
  block: agent
  silence: 10m
  challenge: {expires: 2m, channel: same_user, terminal: other_device, console: other_user}
  agents:
    release_bot: {max_steps: 5, risk_tolerance: conservative, deny: ["npm publish*"], requires_approval: [x]}
    night.bot: {max_steps: 500, auto_approve: ["git pull"], loosen: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &policy.Loop{
		Mode: policy.Monitoring, Block: policy.BlockAgent, Silence: 10 * time.Minute, ChallengeExpires: 2 * time.Minute,
		Channel: policy.SameUser, Terminal: policy.OtherDevice, Console: policy.OtherUser,
		LoopLimits: policy.LoopLimits{
			MaxSteps: 30, RiskTolerance: policy.Aggressive, Deny: []string{"rm -rf*", "drop_*"},
			RequiresApproval: []string{"git push*"}, AutoApprove: []string{"read_*"},
		},
		Agents: []policy.LoopAgent{
			{Name: "release_bot", LoopLimits: policy.LoopLimits{
				MaxSteps: 5, RiskTolerance: policy.Conservative, Deny: []string{"npm publish*"}, RequiresApproval: []string{"x"},
			}},
			{Name: "night.bot", Loosen: true, LoopLimits: policy.LoopLimits{MaxSteps: 500, AutoApprove: []string{"git pull"}}},
		},
	}
	if diff := cmp.Diff(want, got.Loop); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
