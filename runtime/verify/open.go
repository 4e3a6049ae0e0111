package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Open holds a subject, and returns the id of its challenge. A subject that is held already keeps its hold. It fails
// with ErrTooMany if too many executions of the caller are paused; there is always room for a block.
func (b *Box) Open(ctx context.Context, s Subject) (ID, error) {
	if !utf8.ValidString(s.Caller.Subject + s.Caller.Issuer + s.Agent + s.Execution) {
		return ID{}, errors.New("a name of what is to be held is no UTF-8, and would not be found again")
	}
	now := b.now()
	fresh := b.newHold(&s, now)
	for ctx.Err() == nil {
		before, err := b.get(ctx, fresh.key)
		if err != nil {
			return ID{}, fmt.Errorf("looking up what holds an agent: %w", err)
		}
		if before.open(now) {
			before, err = b.renewed(ctx, before, now)
			if errors.Is(err, store.ErrConflict) {
				continue
			}
			return before.Challenge, err
		}
		if err := b.checkPaused(ctx, &s, now); err != nil {
			return ID{}, err
		}
		next := fresh
		next.version = before.version
		switch err := b.put(ctx, &next, now); {
		case err == nil:
			return next.Challenge, b.opened(ctx, &before, &next)
		case !errors.Is(err, store.ErrConflict): // no other process was faster
			return ID{}, fmt.Errorf("holding an agent: %w", err)
		}
	}
	return ID{}, fmt.Errorf("holding an agent: %w", ctx.Err())
}

// opened records that a hold has begun. What was in its place may be a pause that has expired.
func (b *Box) opened(ctx context.Context, before, next *hold) error {
	if before.version != 0 && before.Item.State == approve.Open {
		if err := b.write(ctx, before.record(audit.ChallengeExpired, audit.Failure, "")); err != nil {
			return err
		}
	}
	return b.write(ctx, next.record(audit.ChallengeOpened, audit.Success, ""))
}

// renewed returns a hold that is in force with a challenge that can be passed. It fails with store.ErrConflict if the
// hold has changed.
func (b *Box) renewed(ctx context.Context, h hold, now time.Time) (hold, error) {
	if now.Before(h.Expires) {
		return h, nil
	}
	next := h.replaced(now)
	if err := b.put(ctx, &next, now); err != nil {
		return h, fmt.Errorf("replacing a challenge: %w", err)
	}
	return next, b.write(ctx, h.record(audit.ChallengeExpired, audit.Failure, ""),
		next.record(audit.ChallengeOpened, audit.Success, "replaces one that has expired"))
}

// checkPaused fails if so many executions of a caller are paused that people would no longer look at each. Two
// processes may exceed the bound by what they pause at the same time.
func (b *Box) checkPaused(ctx context.Context, s *Subject, now time.Time) error {
	if s.Block {
		return nil
	}
	paused := 0
	_, err := b.each(ctx, start(b.o.Adapter, s.Caller), func(h hold) bool {
		if h.open(now) && !h.block() {
			paused++
		}
		return paused < mostPaused
	})
	if err == nil && paused >= mostPaused {
		err = ErrTooMany
	}
	return err
}

// Holds returns what holds agents of a caller, and what was lifted and is not forgotten yet, the oldest first. It fails
// if one of them cannot be read: then every agent of the caller must be taken to be blocked.
func (b *Box) Holds(ctx context.Context, caller identity.Caller) ([]Hold, error) {
	now := b.now()
	var found []hold
	unreadable, err := b.each(ctx, start(b.o.Adapter, caller), func(h hold) bool {
		found = append(found, h)
		return true
	})
	if err == nil && unreadable > 0 {
		err = errDamaged
	}
	if err != nil {
		return nil, err
	}
	var holds []Hold
	for _, h := range found {
		switch {
		case h.Item.State == approve.Used:
		case !h.open(now):
			if err := b.expire(ctx, &h); err != nil {
				return nil, err
			}
			continue
		default:
			next, err := b.renewed(ctx, h, now)
			if err != nil && !errors.Is(err, store.ErrConflict) { // it holds, with the challenge of another process
				return nil, err
			}
			h = next
		}
		holds = append(holds, h.hold())
	}
	slices.SortStableFunc(holds, func(x, y Hold) int {
		return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.key, y.key))
	})
	return holds, nil
}

// Lifted returns the blocks that were lifted, of all callers, and are not forgotten yet. What cannot be read is left
// out: it holds its agent still.
func (b *Box) Lifted(ctx context.Context) ([]Hold, error) {
	var lifted []Hold
	_, err := b.each(ctx, prefix, func(h hold) bool {
		if h.Item.Adapter == b.o.Adapter && h.block() && h.Item.State == approve.Used {
			lifted = append(lifted, h.hold())
		}
		return true
	})
	return lifted, err
}

// expire removes a pause that has expired.
func (b *Box) expire(ctx context.Context, h *hold) error {
	switch err := b.o.Store.Delete(ctx, h.key, h.version); {
	case errors.Is(err, store.ErrConflict): // another process has removed it, or paused the execution once more
		return nil
	case err != nil:
		return fmt.Errorf("removing what has expired: %w", err)
	}
	return b.write(ctx, h.record(audit.ChallengeExpired, audit.Failure, ""))
}

// hold returns the hold for who enforces it.
func (h *hold) hold() Hold {
	held := Hold{
		Challenge: h.Challenge, Caller: h.Item.Caller, Agent: h.Item.Agent,
		Execution: h.Item.Execution, Block: h.block(), Action: h.Action, Reasons: h.Item.Reasons,
		Since: h.Item.Opened, Expires: h.Expires, Lifted: h.Item.State == approve.Used, LiftedAt: h.Item.UsedAt,
		key: h.key, version: h.version,
	}
	for _, vote := range h.Item.Votes {
		if held.Lifted {
			held.By = append(held.By, vote.By)
		}
	}
	return held
}

// Forget removes a hold that was lifted, so that Holds no longer returns it. Of several calls with the same hold one
// succeeds; the others fail with store.ErrConflict.
func (b *Box) Forget(ctx context.Context, h Hold) error {
	if !h.Lifted {
		return errors.New("what still holds an agent cannot be forgotten")
	}
	if err := b.o.Store.Delete(ctx, h.key, h.version); err != nil {
		return fmt.Errorf("forgetting what held an agent: %w", err)
	}
	return nil
}
