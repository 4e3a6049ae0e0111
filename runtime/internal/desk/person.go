package desk

import (
	"context"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Why the role of a person does not let it decide.
var (
	ErrLooksOnly = errors.New("you may look, and decide nothing: an admin says who may decide")
	ErrNotAdmin  = errors.New("only an admin lets an agent go on without its code")
)

// Person is somebody who looks at what waits, at a terminal or in a browser. Whatever the person decides goes through
// these methods, which hold it to its role.
type Person struct {
	Who     identity.Caller
	Name    string // for people to read beside Who: see approve.Vote
	Role    identity.Role
	Groups  []string
	Channel string // where the person is, such as approve.Terminal
}

// Refuses returns why a vote of the person about an item does not count at a time; nil: it counts, as far as
// approve.Item.Refuses says.
func (p *Person) Refuses(item *approve.Item, approves bool, at time.Time) error {
	if !p.Role.Includes(identity.Approver) {
		return ErrLooksOnly
	}
	if !p.Role.Includes(identity.Admin) {
		if approves && Holds(item) {
			return ErrNotAdmin
		}
		item = stricter(item)
	}
	return item.Refuses(approve.Vote{
		By: p.Who, Groups: p.Groups, Channel: p.Channel, Approve: approves, At: at,
	})
}

// stricter returns an item that who asks does not approve, whatever its rule says.
func stricter(item *approve.Item) *approve.Item {
	of := *item
	of.Needs.NotRequester = true
	return &of
}

// Vote adds a vote to an item, with the person, the groups and the channel of p, and records it in a log; nil: there is
// none. It returns the item as it is then, also with an *UnrecordedError. Other errors are those of the inbox, or of
// this package.
func (p *Person) Vote(
	ctx context.Context, in approve.Inbox, log *audit.Log, id string, v approve.Vote,
) (approve.Item, error) {
	v.By, v.Name, v.Groups, v.Channel = p.Who, p.Name, p.Groups, p.Channel
	if !p.Role.Includes(identity.Admin) { // who has asked, and what kind it is, stays as it is
		item, err := in.Get(ctx, id)
		if err == nil {
			err = p.Refuses(&item, v.Approve, v.At)
		}
		if err != nil {
			return item, err
		}
	}
	return castVote(ctx, in, log, id, v)
}

// Ends returns why the person may not end an execution; nil: it may.
func (p *Person) Ends() error {
	if !p.Role.Includes(identity.Approver) {
		return ErrLooksOnly
	}
	return nil
}

// SeesCode returns why the person does not see the code of what holds an agent at a time; nil: it does.
func (p *Person) SeesCode(item *approve.Item, at time.Time) error {
	switch {
	case !p.Role.Includes(identity.Approver):
		return ErrLooksOnly
	case p.Role.Includes(identity.Admin):
		return nil
	}
	err := stricter(item).Refuses(approve.Vote{
		By: p.Who, Groups: p.Groups, Channel: p.Channel, Approve: true, At: at,
	})
	if errors.Is(err, approve.ErrRequester) {
		return err
	}
	return nil // a code needs no votes
}

// Show draws the code of what holds an agent, for the person to see, as verify.Box.Show does. The id may be that of the
// challenge.
func (p *Person) Show(
	ctx context.Context, in approve.Inbox, box *verify.Box, id string, at time.Time,
) (verify.Shown, error) {
	item, err := in.Get(ctx, id)
	if err == nil {
		err = p.SeesCode(&item, at)
	}
	if err != nil {
		return verify.Shown{}, err
	}
	return box.Show(ctx, p.Who, item.ID)
}
