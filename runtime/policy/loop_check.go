package policy

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Bounds of the loop.
const (
	mostSteps         = 10_000
	mostAgents        = 1000
	mostPatterns      = 1000
	longestSilence    = 24 * time.Hour
	longestChallenge  = time.Hour
	shortestChallenge = 30 * time.Second
	longestAgent      = 128 // bytes
)

// ValidateLoop returns the mistakes in Loop, which Validate leaves out: an adapter without a safety loop needs none of
// it. unread is that of Validate.
func (p *Policy) ValidateLoop(unread map[Part]bool) Mistakes {
	f := &findings{policy: p, unread: unread}
	l := p.Loop
	if l == nil {
		return nil
	}
	oneOf(f, "mode", l.Mode, LoopModes())
	oneOf(f, "block", l.Block, []LoopBlock{BlockCaller, BlockAgent})
	oneOf(f, "challenge.channel", l.Channel, ChannelStrengths())
	oneOf(f, "challenge.terminal", l.Terminal, ChannelStrengths())
	oneOf(f, "challenge.console", l.Console, ChannelStrengths())
	if l.Silence < 0 || l.Silence > longestSilence {
		f.add(ofLoop("silence"), "silence is %v; it is at most %v", span(l.Silence), span(longestSilence))
	}
	if c := l.ChallengeExpires; c != 0 && (c < shortestChallenge || c > longestChallenge) {
		f.add(ofLoop("challenge.expires"), "expires is %v; it is between %v and %v", span(c),
			span(shortestChallenge), span(longestChallenge))
	}
	f.validateLimits("", &l.LoopLimits)
	if len(l.Agents) > mostAgents {
		f.add(ofLoop("agents"), "there are %d agents; a loop has no more than %d", len(l.Agents), mostAgents)
		return f.list
	}
	if l.Block == BlockAgent && len(l.Agents) == 0 && !f.unread[ofLoop("agents")] {
		f.add(ofLoop("block"), "with block: agent an agent that is blocked goes on under another name; "+
			"list under agents those that there are, or leave out block")
	}
	seen := make(map[string]bool, len(l.Agents))
	for i := range l.Agents {
		a := &l.Agents[i]
		path := "agents." + a.Name
		if !IsAgentName(a.Name) {
			f.add(ofLoop(path), "%q is no name of an agent: it begins with a letter or a digit, and has letters, digits, "+
				"spaces, dots, hyphens and underscores, 128 at most; the last is no space", clip(a.Name))
		}
		name := strings.ToLower(a.Name)
		if seen[name] {
			f.add(ofLoop(path), "the agent %s is there twice; its case makes it no other", clip(a.Name))
		}
		seen[name] = true
		f.validateLimits(path+".", &a.LoopLimits)
		if !a.Loosen {
			f.validateTightening(path+".", l, a)
		}
	}
	return f.list
}

func ofLoop(key string) Part { return ofPolicy("loop." + key) }

// oneOf checks a word that is one of several, or not given.
func oneOf[S ~string](f *findings, key string, word S, words []S) {
	if word == "" || slices.Contains(words, word) {
		return
	}
	name := key[strings.LastIndexByte(key, '.')+1:]
	list := texts(words)
	last := len(list) - 1
	f.add(ofLoop(key), "%s is %q; it must be %s or %s%s",
		name, clip(string(word)), strings.Join(list[:last], ", "), list[last], suggestNear(string(word), words))
}

// validateLimits checks the limits of the loop, or of an agent, whose keys begin with a path.
func (f *findings) validateLimits(path string, l *LoopLimits) {
	if l.MaxSteps < 0 || l.MaxSteps > mostSteps {
		f.add(ofLoop(path+"max_steps"), "max_steps is %d; it is between 1 and %d", l.MaxSteps, mostSteps)
	}
	oneOf(f, path+"risk_tolerance", l.RiskTolerance, RiskTolerances())
	const everything = "would approve of every action; to evaluate none, write mode: logging"
	f.validatePatterns(ofLoop(path+"deny"), l.Deny, "")
	f.validatePatterns(ofLoop(path+"requires_approval"), l.RequiresApproval, "")
	f.validatePatterns(ofLoop(path+"auto_approve"), l.AutoApprove, everything)
	lists := []struct {
		key      string
		patterns []string
	}{{"deny", l.Deny}, {"requires_approval", l.RequiresApproval}, {"auto_approve", l.AutoApprove}}
	first := make(map[string]string)
	for _, list := range lists {
		if len(list.patterns) > mostPatterns {
			f.add(ofLoop(path+list.key), "there are %d patterns; there can be %d", len(list.patterns), mostPatterns)
			continue
		}
		for i, pattern := range list.patterns {
			if before, taken := first[pattern]; taken {
				f.add(ofLoop(path+list.key).item(i), "%s stands under %s already", clip(pattern), before)
				continue
			}
			first[pattern] = list.key
		}
	}
}

// validateTightening checks that the limits of an agent are no looser than those of the loop.
func (f *findings) validateTightening(path string, l *Loop, a *LoopAgent) {
	const hint = "; write loosen: true if this is meant"
	if most := cmp.Or(l.MaxSteps, DefaultMaxSteps); a.MaxSteps > most {
		f.add(ofLoop(path+"max_steps"), "max_steps is %d, and the loop has %d%s", a.MaxSteps, most, hint)
	}
	tolerance := slices.Index(RiskTolerances(), cmp.Or(l.RiskTolerance, Moderate))
	if own := slices.Index(RiskTolerances(), a.RiskTolerance); tolerance >= 0 && own > tolerance {
		f.add(ofLoop(path+"risk_tolerance"), "risk_tolerance is %s, and the loop has %s%s",
			a.RiskTolerance, cmp.Or(l.RiskTolerance, Moderate), hint)
	}
	if len(a.AutoApprove) > 0 {
		f.add(ofLoop(path+"auto_approve"), "auto_approve lets this agent do more than others%s", hint)
	}
}

// IsAgentName reports whether a text can be the name of an agent: letters of ASCII, digits, and after the first of them
// spaces, dots, hyphens and underscores too, 128 at most, of which the last is no space.
func IsAgentName(name string) bool {
	if name == "" || len(name) > longestAgent || name[len(name)-1] == ' ' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		alphanumeric := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alphanumeric && (i == 0 || !strings.ContainsRune(" ._-", rune(c))) {
			return false
		}
	}
	return true
}
