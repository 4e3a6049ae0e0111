package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
)

// What is asked of the wrong item.
var (
	errHeld    = errors.New("to let an agent go, use operator unblock, or have it pass the code of operator show-code")
	errNotHeld = errors.New("this item holds no agent; operator approve is for it")
)

// heldItem returns the item with an ID, which must be about an agent that is held. The ID may be that of its challenge.
func (d *Desk) heldItem(ctx context.Context, id string) (approve.Item, error) {
	item, err := d.Inbox.Get(ctx, id)
	if err == nil && !desk.Holds(&item) {
		err = errNotHeld
	}
	return item, err
}

// showCode shows the code of a challenge, on the terminal and nowhere else.
func (d *Desk) showCode(ctx context.Context, id string) error {
	item, err := d.heldItem(ctx, id)
	if err != nil {
		return err
	}
	t, err := d.dialog("a code is shown")
	if err != nil {
		return err
	}
	defer t.Close()
	if err := d.logIn(ctx, t, true); err != nil {
		return err
	}
	shown, err := d.person.Show(ctx, d.Inbox, d.challenges, item.ID, d.now())
	if err != nil {
		return err
	}
	if err := d.writeItem(t, &shown.Item); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	return t.say(fmt.Sprintf(`
  challenge   %s
  code        %s
  good until  %s

If the agent may go on, give it both. They are good for one try. Asking again makes another code.
`, shown.Challenge, shown.Code.Text(), d.clock(shown.Expires)))
}

// unblock lets an agent go on without its code.
func (d *Desk) unblock(ctx context.Context, f Flags, id string) error {
	item, err := d.heldItem(ctx, id)
	if err != nil {
		return err
	}
	return d.decide(ctx, f, &item, decision{
		word: "unblock", lets: "let the agent go on", where: "who lets an agent go on types that", known: true,
	})
}
