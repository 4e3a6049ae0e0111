package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/words"
)

// What is asked of the wrong item.
var (
	errHeld    = errors.New("to let an agent go, use operator unblock, or have it pass the code of operator show-code")
	errNotHeld = errors.New("this item holds no agent; operator approve is for it")
)

// holds reports whether an item is about an agent that is held.
func holds(item *approve.Item) bool { return item.Kind == approve.Pause || item.Kind == approve.Block }

// heldItem returns the item with an ID, which must be about an agent that is held. The ID may be that of its challenge.
func (d *Desk) heldItem(ctx context.Context, id string) (approve.Item, error) {
	item, err := d.Inbox.Get(ctx, id)
	if err == nil && !holds(&item) {
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
	shown, err := d.challenges.Show(ctx, d.Who, item.ID)
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

// released says that an agent that was held may go on.
func released(item *approve.Item) string {
	what := fmt.Sprintf("agent %s is not blocked any more", words.Printable(item.Agent))
	if item.Kind == approve.Pause {
		what = fmt.Sprintf("execution %s of agent %s is not paused any more", words.Printable(item.Execution),
			words.Printable(item.Agent))
	}
	return words.Printable(item.ID) + " is lifted: " + what + "."
}
