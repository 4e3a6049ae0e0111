package verify

import (
	"context"
	"fmt"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
)

// operation is what records of challenges are about.
const operation = "verify_challenge"

// record returns the record of an event of the hold's challenge.
func (h *hold) record(event audit.Event, outcome audit.Outcome, reason string) audit.Record {
	return audit.Record{
		Event: event, Adapter: h.Item.Adapter, Operation: operation, Outcome: outcome, Reason: reason,
		ApprovalID: h.Item.ID, ChallengeID: h.Challenge.String(), Agent: h.Item.Agent, Caller: h.Item.Caller,
	}
}

// unknown returns the record of a failure about a challenge that its caller does not have.
func (b *Box) unknown(caller identity.Caller) audit.Record {
	return audit.Record{
		Event: audit.ChallengeFailed, Adapter: b.o.Adapter, Operation: operation, Outcome: audit.Failure, Caller: caller,
	}
}

// write writes records, if something receives them.
func (b *Box) write(ctx context.Context, records ...audit.Record) error {
	if b.o.Audit == nil {
		return nil
	}
	now := b.now()
	for i := range records {
		records[i].Time = now
	}
	if err := b.o.Audit.Write(ctx, records...); err != nil {
		return fmt.Errorf("recording what becomes of a challenge: %w", err)
	}
	return nil
}
