package approve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/store"
)

// key returns the key of the item of a question. Those of an execution are beside each other.
func (q *Question) key() string {
	binding := hex.EncodeToString(q.Binding[:])
	if q.Kind == Enquiry {
		return q.ofExecution() + binding
	}
	return q.start() + binding
}

// ofExecution returns the beginning of the keys of all that an execution asks.
func (q *Question) ofExecution() string {
	digest := sha256.Sum256([]byte(q.Execution))
	return q.start() + "x" + hex.EncodeToString(digest[:16]) + "/"
}

func (b *box) Withdraw(ctx context.Context, q Question) error {
	for again := true; again; {
		again = false
		changed, failed := false, error(nil)
		_, err := b.each(ctx, q.ofExecution(), func(item Item) bool {
			if item.Opened.After(q.At) {
				return true
			}
			if failed = b.withdraw(ctx, &item); errors.Is(failed, store.ErrConflict) { // somebody has voted meanwhile
				again, failed = ctx.Err() == nil, nil
			}
			changed = true
			return failed == nil
		})
		if err = cmp.Or(err, failed); err != nil {
			return fmt.Errorf("withdrawing what an execution has asked: %w", err)
		}
		if changed {
			b.tell(ctx)
		}
	}
	return ctx.Err()
}

// withdraw removes an item that nobody waits for any more. What was decided, and counted, is remembered for a while.
func (b *box) withdraw(ctx context.Context, item *Item) error {
	if err := b.forgetWhole(ctx, item); err != nil {
		return err
	}
	if item.State == Open || item.State == Approved {
		return b.store.Delete(ctx, item.key, item.version)
	}
	return b.write(ctx, item, remembered)
}
