package verify

import (
	"fmt"
	"strings"
)

// Strength says what an agent would have to break to read a channel. A greater one is stronger.
type Strength int

// The strengths of channels. The zero value is that of none.
const (
	// SameUser keeps a code from agents that have no shell: who runs as the user of the adapter can read what it shows.
	SameUser Strength = 1 + iota
	// OtherUser keeps it from everybody who runs as another user than the adapter and its operators do.
	OtherUser
	// OtherDevice keeps it from everybody on this machine.
	OtherDevice
)

var strengths = [...]string{"none", "same_user", "other_user", "other_device"}

// String returns the strength as configurations write it, such as other_user.
func (s Strength) String() string {
	if s < 0 || int(s) >= len(strengths) {
		return fmt.Sprintf("Strength(%d)", int(s))
	}
	return strengths[s]
}

// ParseStrength reads what String returns.
func ParseStrength(text string) (Strength, error) {
	for s := SameUser; s <= OtherDevice; s++ {
		if text == s.String() {
			return s, nil
		}
	}
	return 0, fmt.Errorf("a channel has no strength %q: it is %s", text, strings.Join(strengths[1:], ", "))
}

// Channel is a way to people. Package notify has those that only tell them that something waits.
type Channel struct {
	Name     string
	Strength Strength
	// Shows reports that people can see codes there, with Box.Show.
	Shows bool
}

// Terminal is the channel of package operator: a terminal that opens the state. Its strength is for the operator of the
// adapter to say. It is SameUser if agents run as the user of the adapter, as they do where their client starts it on
// stdio.
func Terminal(s Strength) Channel { return Channel{Name: "terminal", Strength: s, Shows: true} }

// Console is the channel of package console: a browser. Its strength is for the operator of the adapter to say. It is
// SameUser if agents run as the user of the adapter, or as the one whose browser it is.
func Console(s Strength) Channel { return Channel{Name: "console", Strength: s, Shows: true} }

// strongest returns the greatest strength at which codes are shown.
func (o *Options) strongest() (strength Strength) {
	for _, channel := range o.Channels {
		if channel.Shows {
			strength = max(strength, channel.Strength)
		}
	}
	return strength
}

// checkChannels fails if no channel is as strong as it has to be.
func (o *Options) checkChannels() error {
	const shows = "no channel shows the codes of challenges"
	have := o.strongest()
	switch {
	case o.Minimum < 0 || o.Minimum > OtherDevice:
		return fmt.Errorf("the minimum of channels is %v: it is SameUser, OtherUser or OtherDevice", o.Minimum)
	case have >= o.Minimum:
		return nil
	case have == 0:
		return fmt.Errorf("%s: let people decide at a terminal (package operator), which needs state that it can open, "+
			"or add a channel", shows)
	}
	return fmt.Errorf("%s at the strength %v, only at %v, where an agent with a shell can read them: run the adapter as "+
		"another user than its agents, or on another machine, and say so (challenge.terminal, and challenge.console "+
		"where there is one, in the loop of the policy), or accept the risk in writing there (challenge.channel: %v)",
		shows, o.Minimum, have, have)
}
