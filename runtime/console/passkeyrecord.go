package console

import (
	"context"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/store"
)

// passkeyRecord puts on record that a person gets or gives up a passkey, before that is done, and that it was not done
// where it fails after that.
type passkeyRecord struct {
	write func(ctx context.Context, outcome audit.Outcome, name string) error
	name  string // of the passkey
	begun bool
}

// recordPasskey returns what records an event of the person of a visit.
func (c *console) recordPasskey(v *visit, event audit.Event) *passkeyRecord {
	write := func(ctx context.Context, outcome audit.Outcome, name string) error {
		err := c.o.Audit.Write(ctx, audit.Record{
			Time: c.now(), Event: event, Adapter: c.o.Name, Outcome: outcome, Reason: name, Rule: "console", Caller: v.Who,
		})
		if err != nil {
			return fmt.Errorf("recording a passkey: %w", err)
		}
		return nil
	}
	return &passkeyRecord{write: write}
}

// begin records that it is to be done with a passkey of a name. It does so once.
func (p *passkeyRecord) begin(ctx context.Context, name string) error {
	if p.begun {
		return nil
	}
	err := p.write(ctx, audit.Allowed, name)
	p.begun, p.name = err == nil, name
	return err
}

// change does it, again where the passkeys of the person have changed meanwhile.
func (p *passkeyRecord) change(ctx context.Context, do func() error) error {
	err := do()
	for errors.Is(err, store.ErrConflict) && ctx.Err() == nil {
		err = do()
	}
	if err != nil && p.begun { // also where the browser is gone
		err = errors.Join(err, p.write(context.WithoutCancel(ctx), audit.Failure, p.name))
	}
	return err
}
