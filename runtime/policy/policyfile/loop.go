package policyfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/aqltag/aqltag/runtime/policy"
)

func (d *decoder) loop(n *yaml.Node, part policy.Part) {
	l := new(policy.Loop)
	d.policy.Loop = l
	d.mapping(n, part, "loop", slices.Concat(loopKeys, limitKeys), func(part policy.Part, v *yaml.Node) {
		switch part.Key {
		case "loop.mode":
			l.Mode = policy.LoopMode(d.text(part, v))
		case "loop.block":
			l.Block = policy.LoopBlock(d.text(part, v))
		case "loop.silence":
			l.Silence = d.duration(part, v)
		case "loop.challenge":
			d.challenge(v, part, l)
		case "loop.agents":
			d.agents(v, part, l)
		default:
			d.limit(v, part, &l.LoopLimits)
		}
	})
}

// limit reads the value of one of limitKeys.
func (d *decoder) limit(n *yaml.Node, part policy.Part, l *policy.LoopLimits) {
	switch lastKey(part) {
	case "max_steps":
		l.MaxSteps = d.count(part, n)
	case "risk_tolerance":
		l.RiskTolerance = policy.RiskTolerance(d.text(part, n))
	case "deny":
		l.Deny = texts[string](d, part, n)
	case "requires_approval":
		l.RequiresApproval = texts[string](d, part, n)
	case "auto_approve":
		l.AutoApprove = texts[string](d, part, n)
	}
}

func (d *decoder) challenge(n *yaml.Node, part policy.Part, l *policy.Loop) {
	seen := d.mapping(n, part, "challenge", challengeKeys, func(part policy.Part, v *yaml.Node) {
		switch lastKey(part) {
		case "expires":
			l.ChallengeExpires = d.duration(part, v)
		case "channel":
			l.Channel = policy.ChannelStrength(d.text(part, v))
		case "terminal":
			l.Terminal = policy.ChannelStrength(d.text(part, v))
		case "console":
			l.Console = policy.ChannelStrength(d.text(part, v))
		}
	})
	if seen != nil && len(seen) == 0 {
		d.add(part, "challenge is empty; leave it out")
	}
}

// agents reads the limits of agents, whose names are the keys.
func (d *decoder) agents(n *yaml.Node, part policy.Part, l *policy.Loop) {
	names := make([]string, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	read := func(part policy.Part, v *yaml.Node) {
		a := policy.LoopAgent{Name: part.Key[len("loop.agents."):]}
		d.mapping(v, part, "an agent", slices.Concat(agentKeys, limitKeys), func(key policy.Part, v *yaml.Node) {
			if lastKey(key) != "loosen" {
				d.limit(v, key, &a.LoopLimits)
			} else if b := d.boolean(key, v); b != nil {
				a.Loosen = *b
			}
		})
		l.Agents = append(l.Agents, a)
	}
	if seen := d.mapping(n, part, "agents", names, read); seen != nil && len(seen) == 0 {
		d.add(part, "agents is empty; leave it out, or name some")
	}
}
