package gate

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/quota"
)

// Continue is what a person is asked after a quota has paused: not about the request that came next, but whether all
// calls of its caller go on until the period ends.
func Continue(b *meter.Block, caller identity.Caller) string {
	q := b.Quota
	of, calls := "this caller", "all calls of this caller"
	if caller.Anonymous() {
		of, calls = "all callers without a name", "all calls of all callers without a name"
	}
	if q.Shared {
		of = "all callers together"
	}
	text := fmt.Sprintf("Quota %s of %s pauses at %s, and %s is used.", q.Metric, of, amount(q, q.Pause),
		amount(q, b.Current))
	if q.HardStop > 0 {
		text += " It stops at " + amount(q, q.HardStop) + "."
	}
	return text + "\nLet " + calls + ", of whatever operation, go on until " + b.Resets.UTC().Format(time.RFC3339) + "?"
}

// amount is how much of a quota is used, or can be.
func amount(q *quota.Quota, n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64)
	if q.Currency != "" {
		text += " " + q.Currency
	}
	return text
}

// lifting returns what an item must be bound to that lifts the pause of a quota. That is lifted for all calls of the
// caller, so one approval or denial counts for all of them, in this period.
func (a *admission) lifting(b *meter.Block) Binding {
	return Binding{
		Kind: ContinuationToken, Adapter: a.gate.adapter, Caller: a.Caller.Key(),
		Params: Hash(fmt.Appendf(nil, "%s %t %d", b.Quota.Metric, b.Quota.Shared, b.Resets.UnixMilli())),
	}
}

// continuesByInbox reports whether a person decides in the inbox about going on after the pause of a quota.
func (a *admission) continuesByInbox() bool {
	return a.gate.inbox != nil && a.bindable() && a.Operation.humanOnly && !a.asksUser()
}

// continueByInbox returns nil if people have approved that the caller goes on after a pause, which is then to be
// lifted. again says that the request has lifted a pause already.
func (a *admission) continueByInbox(ctx context.Context, b *meter.Block, again bool) *Refusal {
	for {
		w, refusal := a.find(ctx, approve.Continuation, a.lifting(b))
		switch {
		case refusal != nil:
			return refusal
		case w.used() && !again: // by another request, which lifts the pause now, or could not
			return nil
		case !w.approved(a.now):
			return a.ask(ctx, w, blocked(b))
		}
		if used, refusal := a.use(ctx, w); used || refusal != nil {
			return refusal
		}
	}
}

// used reports whether the approval of the item was used up.
func (w *waiting) used() bool { return w.item.ID != "" && w.item.State == approve.Used }
