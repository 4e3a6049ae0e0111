package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// decision is what people have decided in favour of an execution. It is kept in the state before the item or the hold
// that it comes from is used up, and counts from then on: nothing that fails in between loses it, and nothing has it
// count twice.
type decision struct {
	What loop.Approval `json:"what"`
	// Of is what it is good for: the digest of the action, or the number of the step.
	Of string `json:"of"`
	// From is the id of the item, or of the challenge of the hold.
	From    string          `json:"from"`
	Binding approve.Binding `json:"binding,omitzero"` // of the item
	Taken   bool            `json:"taken,omitempty"`  // the item or the hold is used up
}

// step is what a decision about a failure is good for.
func (s *state) step() string { return strconv.Itoa(s.Steps) }

// goOn counts a step, and drops what was decided about this action and about the failure before it.
func (s *state) goOn(action string) {
	s.Decisions = slices.DeleteFunc(s.Decisions, func(d decision) bool {
		return d.What == loop.ApprovedFailure || d.Of == action
	})
	s.Steps++
	s.Failed = false
}

// approved returns what people have approved of the report.
func (j *judgement) approved() (all loop.Approval) {
	s := j.state
	for _, d := range s.Decisions {
		if d.Taken && (d.Of == j.action && d.What != loop.ApprovedFailure ||
			d.Of == s.step() && d.What == loop.ApprovedFailure) {
			all |= d.What
		}
	}
	return all
}

// keep keeps a decision in the state, which others see before it is used up. It fails with store.ErrConflict where
// another report was faster.
func (j *judgement) keep(ctx context.Context, d decision) error {
	s := j.state
	if slices.ContainsFunc(s.Decisions, func(other decision) bool { return other.From == d.From }) {
		return nil
	}
	s.Decisions = append(s.Decisions, d)
	return j.keeper.put(ctx, s)
}

// take uses up what the kept decisions come from. It drops those that people have taken back.
func (j *judgement) take(ctx context.Context) error {
	s := j.state
	var kept []decision
	for _, d := range s.Decisions {
		stands := true
		if !d.Taken {
			var err error
			if d.What == loop.VerifiedAction {
				err = j.takeHold(ctx, &d)
			} else {
				stands, err = j.takeItem(ctx, &d)
			}
			if err != nil {
				return err
			}
		}
		d.Taken = true
		switch {
		case stands && d.What == loop.ApprovedSteps:
			s.Before, j.renewed = s.Steps, true
		case stands:
			kept = append(kept, d)
		}
	}
	s.Decisions = kept
	return nil
}

// takeHold forgets the hold that was lifted. One that is not there was forgotten before.
func (j *judgement) takeHold(ctx context.Context, d *decision) error {
	i := slices.IndexFunc(j.holds, func(h verify.Hold) bool { return h.Lifted && h.Challenge.String() == d.From })
	if i < 0 {
		return nil
	}
	err := j.settings.box.Forget(ctx, j.holds[i])
	if errors.Is(err, store.ErrConflict) { // another report has, for the decision that both of them have read
		return nil
	}
	return err
}

// takeItem uses up an approval, and reports whether it stands: a person may have taken it back. An item that is used
// was so for this decision, as it is about this execution alone. It is on record twice if something fails behind that.
func (j *judgement) takeItem(ctx context.Context, d *decision) (stands bool, err error) {
	k := j.keeper
	item, err := k.o.Inbox.Find(ctx, j.question(d.Binding))
	if err != nil {
		return false, fmt.Errorf("looking up what people have approved: %w", err)
	}
	switch state := item.StateAt(k.now()); {
	case item.ID != d.From:
		return false, nil
	case state == approve.Approved:
		switch err := k.o.Inbox.Use(ctx, item, k.now()); {
		case errors.Is(err, approve.ErrNotApproved): // it has changed since
			return false, store.ErrConflict
		case err != nil:
			return false, fmt.Errorf("using an approval: %w", err)
		}
	case state != approve.Used:
		return false, nil
	}
	return true, k.o.Write(ctx, j.used(&item))
}
