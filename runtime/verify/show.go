package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Show draws the code of a challenge, for a person. id is that of the challenge, or of its item in the inbox. A code
// that was shown before is good no more. A block whose challenge has expired gets another one. Show fails with one of
// the errors of package approve if there is no such hold, or it is over.
func (b *Box) Show(ctx context.Context, person identity.Caller, id string) (Shown, error) {
	if person.Anonymous() {
		return Shown{}, ErrNobody
	}
	for ctx.Err() == nil {
		h, err := b.named(ctx, id)
		if err != nil {
			return Shown{}, err
		}
		now := b.now()
		if h, err = b.renewed(ctx, h, now); err == nil {
			code := newCode()
			sum := digest(h.Challenge, code)
			h.Digest = sum[:]
			if err = b.put(ctx, &h, now); err == nil {
				shown := h.record(audit.ChallengeShown, audit.Success, "")
				shown.Caller = person
				if err := b.write(ctx, shown); err != nil {
					return Shown{}, err
				}
				return Shown{Challenge: h.Challenge, Code: code, Expires: h.Expires, Item: h.item()}, nil
			}
		}
		if !errors.Is(err, store.ErrConflict) {
			return Shown{}, fmt.Errorf("showing a code: %w", err)
		}
	}
	return Shown{}, fmt.Errorf("showing a code: %w", ctx.Err())
}

// named returns the hold that is in force with an item or a challenge of this id.
func (b *Box) named(ctx context.Context, id string) (found hold, err error) {
	challenge, _ := ParseID(id)
	unreadable, err := b.each(ctx, prefix, func(h hold) bool {
		if h.Item.ID == id || !challenge.IsZero() && (h.Challenge == challenge || h.Closed == challenge) {
			found = h
		}
		return found.version == 0
	})
	switch {
	case err != nil:
		return hold{}, err
	case found.version == 0 && unreadable > 0:
		return hold{}, fmt.Errorf("%w; %w", approve.ErrUnknown, &approve.UnreadableError{Entries: unreadable})
	case found.version == 0:
		return hold{}, approve.ErrUnknown
	case found.Item.State == approve.Used:
		return found, approve.ErrDecided
	case !found.open(b.now()):
		return found, approve.ErrExpired
	}
	return found, nil
}
