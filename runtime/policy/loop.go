package policy

import (
	"slices"
	"strings"
	"time"
)

// Loop configures the execution safety loop of an adapter (MCP-AQL core §8.6). The zero value is enforcing, with the
// defaults of LoopLimits.
type Loop struct {
	Mode LoopMode
	LoopLimits
	// Block is whom a hard block stops; empty: BlockCaller.
	Block LoopBlock
	// Silence is how long an agent may report nothing before its execution has failed; zero: 30 minutes.
	Silence time.Duration
	// ChallengeExpires is how long a challenge can be met; zero: 5 minutes (MCP-AQL core §8.8.2).
	ChallengeExpires time.Duration
	// Channel is the least strength of the channel on which people are shown the codes of challenges; empty: OtherUser.
	Channel ChannelStrength
	// Terminal is how well the terminals of operators are kept from agents, where the adapter has no other channels;
	// empty: SameUser.
	Terminal ChannelStrength
	// Console is the same of the console (package console), where one is served; empty: SameUser.
	Console ChannelStrength
	// Agents have limits of their own. Other agents have those of the loop.
	Agents []LoopAgent
}

// LoopLimits say what an agent may do without a person (MCP-AQL core §8.7.4).
type LoopLimits struct {
	// MaxSteps is how many steps an agent may take before a person looks at it; zero: 20.
	MaxSteps int
	// RiskTolerance is the risk above which every action pauses; empty: Moderate.
	RiskTolerance RiskTolerance
	// Deny, RequiresApproval and AutoApprove are patterns of actions, of which Deny counts most and AutoApprove least.
	Deny, RequiresApproval, AutoApprove []string
}

// LoopAgent are the limits of one agent. They add to those of the loop: a smaller number of steps, a lower tolerance,
// and more patterns of Deny and RequiresApproval.
type LoopAgent struct {
	Name string
	LoopLimits
	// Loosen lets what is given here replace what the loop has, whatever it allows. Without it an agent can only have
	// tighter limits, and no AutoApprove.
	Loosen bool
}

// LoopMode is how much the execution safety loop does (MCP-AQL core §8.6.1).
type LoopMode string

// The modes of the execution safety loop.
const (
	Enforcing  LoopMode = "enforcing"  // actions are evaluated, and the directives hold
	Monitoring LoopMode = "monitoring" // actions are evaluated, and none is paused or stopped
	Logging    LoopMode = "logging"    // actions are recorded alone
	Disabled   LoopMode = "disabled"   // steps are counted alone
)

// LoopModes returns the modes, from the one that does most.
func LoopModes() []LoopMode { return []LoopMode{Enforcing, Monitoring, Logging, Disabled} }

// RiskTolerance is the risk that an agent may take without a person (MCP-AQL core §8.7.2).
type RiskTolerance string

// The tolerances, with the risk above which they pause.
const (
	Conservative RiskTolerance = "conservative" // 25
	Moderate     RiskTolerance = "moderate"     // 50
	Aggressive   RiskTolerance = "aggressive"   // 75
)

// RiskTolerances returns the tolerances, from the lowest.
func RiskTolerances() []RiskTolerance { return []RiskTolerance{Conservative, Moderate, Aggressive} }

// LoopBlock is whom a hard block stops (MCP-AQL core §8.8.3).
type LoopBlock string

// What hard blocks stop.
const (
	// BlockCaller stops the agent, and its caller from starting any other: an agent chooses its name itself.
	BlockCaller LoopBlock = "caller"
	// BlockAgent stops the agent alone. No other agents than those of Loop.Agents can be started then.
	BlockAgent LoopBlock = "agent"
)

// ChannelStrength says who, besides the person meant, can read a channel.
type ChannelStrength string

// The strengths of channels, from the weakest.
const (
	SameUser    ChannelStrength = "same_user"    // whoever runs programs as the person who is shown the code
	OtherUser   ChannelStrength = "other_user"   // no program of the agent's user
	OtherDevice ChannelStrength = "other_device" // no program of the agent's machine
)

// ChannelStrengths returns the strengths, from the weakest.
func ChannelStrengths() []ChannelStrength {
	return []ChannelStrength{SameUser, OtherUser, OtherDevice}
}

// The defaults of Loop.
const (
	DefaultMaxSteps         = 20
	DefaultSilence          = 30 * time.Minute
	DefaultChallengeExpires = 5 * time.Minute
)

// SameAgent reports whether two names are those of one agent. An agent writes its name itself: neither case nor spaces
// around the name make it another.
func SameAgent(x, y string) bool {
	return strings.EqualFold(strings.TrimSpace(x), strings.TrimSpace(y))
}

// Agent returns the limits of an agent by its name, and whether the loop has some of its own for it. Names are compared
// as SameAgent does.
func (l *Loop) Agent(name string) (*LoopAgent, bool) {
	i := slices.IndexFunc(l.Agents, func(a LoopAgent) bool { return SameAgent(a.Name, name) })
	if i < 0 {
		return nil, false
	}
	return &l.Agents[i], true
}
