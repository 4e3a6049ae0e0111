package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of Approvers.
const (
	mostApprovers = 20
	mostGroups    = 20
	longestWithin = 24 * time.Hour
)

// Approvers says who must approve a call that a rule has confirmed: people who decide about it in the adapter's inbox
// (see package approve), and nobody whom the client of the call asks. The zero value is one person, whoever that is.
type Approvers struct {
	// Count is how many people must approve, up to 20; zero: one.
	Count int
	// Groups are those of which each of them must be in one, as the channel through which they decide knows them: at a
	// terminal, groups of the operating system. Empty: anybody.
	Groups []string
	// NotRequester refuses the approval of the caller.
	NotRequester bool
	// ReasonRequired requires a reason of everybody who decides.
	ReasonRequired bool
	// Within is how long people have to decide, and the agent, after that, to use the approval, from a second to a day;
	// zero: the lifetime of confirmations.
	Within time.Duration
}

// validateApprovers checks who a rule says must approve.
func (f *findings) validateApprovers(i int, r *Rule) {
	a := r.Approvers
	if a == nil {
		return
	}
	if r.Effect != Confirm && r.Effect.rank() >= 0 {
		f.add(ofRule(i, "approvers"), "approvers is for effect: confirm, and the effect is %s", r.Effect)
	}
	if a.Count < 0 || a.Count > mostApprovers {
		f.add(ofRule(i, "approvers.count"), "count is %d; it must be between 1 and %d", a.Count, mostApprovers)
	}
	if len(a.Groups) > mostGroups {
		f.add(ofRule(i, "approvers.groups"), "there are %d groups; there can be %d", len(a.Groups), mostGroups)
	}
	part := ofRule(i, "approvers.groups")
	for k, group := range a.Groups {
		switch {
		case f.unread[part] || f.unread[part.item(k)]:
		case strings.TrimSpace(group) == "" || len(group) > longestName:
			f.add(part.item(k), "a group has a name of 1 to %d bytes", longestName)
		case strings.ContainsAny(group, "*?"):
			f.add(part.item(k), "%s: groups are compared exactly, and * and ? have no meaning in them; list the groups",
				clip(group))
		}
	}
	if a.Within != 0 && (a.Within < time.Second || a.Within > longestWithin) {
		f.add(ofRule(i, "approvers.within"), "within is %v; it must be between %v and %v", span(a.Within),
			span(time.Second), span(longestWithin))
	} else if a.Within != 0 && r.Cooldown >= a.Within {
		f.add(ofRule(i, "approvers.within"), "within is %v, and the rule has a cooldown of %v, before which nobody can "+
			"approve; make within longer", span(a.Within), span(r.Cooldown))
	}
}

// String returns who must approve, in words.
func (a *Approvers) String() string {
	text := "one person"
	if a.Count > 1 {
		text = fmt.Sprintf("%d people", a.Count)
	}
	if len(a.Groups) > 0 {
		text += " of " + strings.Join(a.Groups, ", ")
	}
	if a.NotRequester {
		text += ", not by who asks"
	}
	if a.ReasonRequired {
		text += ", with a reason"
	}
	if a.Within > 0 {
		text += ", within " + span(a.Within)
	}
	return text
}

// span returns a duration as a policy has it: 1h, and not 1h0m0s.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// AlwaysApproved reports whether a rule says who must approve every call of the operation that is not denied, whoever
// calls it with whatever parameters.
func (r *Rules) AlwaysApproved() bool {
	return r != nil && slices.ContainsFunc(r.list, func(b boundRule) bool {
		return b.rule.Approvers != nil && len(b.conditions) == 0 && b.rule.anybody()
	})
}

// anybody reports whether the rule is about all callers.
func (r *Rule) anybody() bool {
	return r.Anonymous == nil && len(r.Callers)+len(r.Issuers)+len(r.Scopes) == 0 &&
		len(r.Not.Callers)+len(r.Not.Issuers)+len(r.Not.Scopes) == 0
}

// NamesApprovers reports whether a rule says who must approve, which only an adapter with an inbox can ask.
func (b *Bound) NamesApprovers() bool {
	return b != nil && slices.ContainsFunc(b.rules, func(r Rule) bool { return r.Approvers != nil })
}
