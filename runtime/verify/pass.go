package verify

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Verify passes a challenge of the caller with its code, which lifts the hold. It fails with a *FailedError if the
// challenge is not passed, and with a *TooManyError if nothing was looked at. A challenge is over when somebody has
// tried it, whether the code was right or not: a hold that is not lifted has another one.
func (b *Box) Verify(ctx context.Context, caller identity.Caller, id, code string) (Result, error) {
	challenge, _ := ParseID(id) // zero is the id of none
	typed, readable := readCode(code)
	h, err := b.find(ctx, caller, challenge)
	if err != nil {
		return Result{}, err
	}
	attempt, err := b.count(ctx, caller, h.Item.Agent)
	if err != nil {
		return Result{}, b.uncounted(ctx, &h, caller, err)
	}
	for ctx.Err() == nil {
		now := b.now()
		switch {
		case h.version == 0:
			return Result{}, b.failed(ctx, b.unknown(caller), "unknown", ID{})
		case h.Item.State == approve.Open && !h.open(now):
			return Result{}, b.failed(ctx, h.record(audit.ChallengeFailed, audit.Failure, ""), "expired", ID{})
		case !h.open(now):
			return Result{}, b.failed(ctx, h.record(audit.ChallengeFailed, audit.Failure, ""), "over", ID{})
		case h.Challenge != challenge:
			return Result{}, b.failed(ctx, h.record(audit.ChallengeFailed, audit.Failure, ""), "over", h.Challenge)
		}
		// Right or wrong, what was tried is over before anything else happens.
		next := h.replaced(now)
		err := b.put(ctx, &next, now)
		if errors.Is(err, store.ErrConflict) {
			if h, err = b.find(ctx, caller, challenge); err == nil {
				continue
			}
		}
		if err != nil {
			return Result{}, fmt.Errorf("closing a challenge: %w", err)
		}
		record := h.record(audit.ChallengeFailed, audit.Failure, "")
		switch {
		case !h.matches(challenge, typed) || !readable:
			return Result{}, b.failed(ctx, record, "wrong code", next.Challenge)
		case !now.Before(h.Expires):
			return Result{}, b.failed(ctx, record, "expired", next.Challenge)
		}
		result := Result{Agent: h.Item.Agent, Execution: h.Item.Execution, Block: h.block()}
		if err := b.write(ctx, h.record(audit.ChallengeVerified, audit.Success, "")); err != nil {
			return Result{}, err
		}
		if err := b.lift(ctx, next); err != nil {
			return Result{}, err
		}
		b.giveBack(ctx, attempt)
		return result, nil
	}
	return Result{}, fmt.Errorf("verifying: %w", ctx.Err())
}

// matches reports whether a code is that of a challenge of the hold. It takes as long for a wrong one, and where nobody
// was shown a code.
func (h *hold) matches(id ID, c Code) bool {
	var known [sha256.Size]byte
	copy(known[:], h.Digest)
	got := digest(id, c)
	return subtle.ConstantTimeCompare(known[:], got[:]) == 1 && len(h.Digest) == sha256.Size
}

// find returns the hold of a caller that has a challenge, or had it before its present one. Its version is zero if
// there is none. Those of other callers are not looked at.
func (b *Box) find(ctx context.Context, caller identity.Caller, id ID) (found hold, err error) {
	_, err = b.each(ctx, start(b.o.Adapter, caller), func(h hold) bool {
		if !id.IsZero() && (h.Challenge == id || h.Closed == id) {
			found = h
		}
		return found.version == 0
	})
	return found, err
}

// failed records a failure, and returns it. A replacement that it has is recorded, too.
func (b *Box) failed(ctx context.Context, failure audit.Record, reason string, replacement ID) error {
	failure.Reason = reason
	records := []audit.Record{failure}
	if !replacement.IsZero() && reason != "over" {
		opened := failure
		opened.Event, opened.Outcome, opened.ChallengeID = audit.ChallengeOpened, audit.Success, replacement.String()
		opened.Reason = "replaces one that was tried"
		records = append(records, opened)
	}
	if err := b.write(ctx, records...); err != nil {
		return err
	}
	return &FailedError{Replacement: replacement}
}

// lift lifts a hold of which a challenge was passed, whatever has become of its challenges since.
func (b *Box) lift(ctx context.Context, h hold) error {
	for ctx.Err() == nil {
		now := b.now()
		next := h.lifted(now)
		err := b.put(ctx, &next, now)
		if err == nil {
			return nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("lifting what holds an agent: %w", err)
		}
		now = b.now()
		latest, err := b.get(ctx, h.key)
		switch {
		case err != nil:
			return fmt.Errorf("lifting what holds an agent: %w", err)
		case latest.version == 0, latest.Item.ID != h.Item.ID, latest.Item.State == approve.Used:
			return nil // somebody else has lifted it
		}
		h = latest
	}
	return fmt.Errorf("lifting what holds an agent: %w", ctx.Err())
}
