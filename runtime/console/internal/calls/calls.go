// Package calls keeps what an adapter was asked for lately, in the memory of its process: the last thousand calls, and
// what came of those of each minute of the last hour.
package calls

import (
	"context"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
)

// Kept is how many calls are kept, and Minutes for how many minutes what came of those of each.
const (
	Kept    = 1000
	Minutes = 60
)

// longestName bounds what is kept of the name of a caller, in bytes.
const longestName = 200

// Call is a request that was answered: alone, or as one of a batch. It has neither parameters nor results.
type Call struct {
	Number    uint64         `json:"n"`  // in its process, from 1 on, in the order of the answers
	At        time.Time      `json:"at"` // when it was answered
	Took      time.Duration  `json:"took"`
	Subject   string         `json:"subject,omitempty"`
	Issuer    string         `json:"issuer,omitempty"`
	Operation string         `json:"operation,omitempty"` // empty: it was for none of the adapter
	Danger    string         `json:"danger,omitempty"`
	Effect    observe.Effect `json:"effect,omitempty"` // of the last decision of the gate; empty: there was none
	Code      string         `json:"code,omitempty"`   // error code; empty: it succeeded
}

// Caller returns who has sent the request.
func (c *Call) Caller() identity.Caller { return identity.Caller{Subject: c.Subject, Issuer: c.Issuer} }

// Recorder has the calls of a process. It is safe for concurrent use.
type Recorder struct {
	now    func() time.Time
	caller func(context.Context) identity.Caller

	mu      sync.Mutex
	count   uint64 // of all calls since the beginning
	last    []Call // up to Kept; the call with the number n is at (n-1) % Kept
	minutes []Minute
}

// New returns a recorder with a clock. caller returns who sends the request of a context; nil: nobody knows.
func New(now func() time.Time, caller func(context.Context) identity.Caller) *Recorder {
	if caller == nil {
		caller = func(context.Context) identity.Caller { return identity.Caller{} }
	}
	return &Recorder{now: now, caller: caller}
}

// Hooks returns the hooks that record calls.
func (r *Recorder) Hooks() *observe.Hooks {
	return &observe.Hooks{Operation: r.operation, Gate: r.gate}
}

// operation is the hook for requests. What it begins to record is in the context, under the recorder.
func (r *Recorder) operation(
	ctx context.Context, o observe.Operation,
) (context.Context, func(observe.OperationEnd)) {
	who, began := r.caller(ctx), r.now()
	call := &Call{
		Subject: cut(who.Subject), Issuer: cut(who.Issuer), Operation: o.Name, Danger: o.Danger,
	}
	return context.WithValue(ctx, r, call), func(end observe.OperationEnd) {
		r.mu.Lock()
		defer r.mu.Unlock()
		call.At, call.Code = r.now(), end.Code
		call.Took = max(call.At.Sub(began), 0)
		r.keep(*call)
	}
}

// gate is the hook for decisions.
func (r *Recorder) gate(ctx context.Context, d observe.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if call, ok := ctx.Value(r).(*Call); ok {
		call.Effect = d.Effect
	}
	minute := r.minute(r.now())
	switch d.Effect {
	case observe.Allowed, observe.Confirmed:
		minute.Passed++
	case observe.Held:
		minute.Held++
	case observe.Denied:
		minute.Denied++
	case observe.Failed:
		minute.Undecided++
	}
}

// keep keeps a call in the place of the oldest one.
func (r *Recorder) keep(call Call) {
	r.count++
	call.Number = r.count
	if len(r.last) < Kept {
		r.last = append(r.last, call)
	} else {
		r.last[(r.count-1)%Kept] = call
	}
	minute := r.minute(call.At)
	minute.Calls++
	if call.Code != "" {
		minute.Failed++
	}
	minute.Took.add(call.Took)
}

// minute returns the minute of a time, which is the last one: where the clock was set back, that of before goes on.
func (r *Recorder) minute(at time.Time) *Minute {
	number := MinuteOf(at)
	if n := len(r.minutes); n == 0 || r.minutes[n-1].Number < number {
		for len(r.minutes) > 0 && (len(r.minutes) == Minutes || r.minutes[0].Number <= number-Minutes) {
			r.minutes = append(r.minutes[:0], r.minutes[1:]...)
		}
		r.minutes = append(r.minutes, Minute{Number: number})
	}
	return &r.minutes[len(r.minutes)-1]
}

// Last returns up to most of the last calls, the latest first, and the minutes of the last hour in which there was
// something, in their order.
func (r *Recorder) Last(most int) ([]Call, []Minute) {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := make([]Call, min(most, len(r.last)))
	for i := range calls {
		calls[i] = r.last[(r.count-1-uint64(i))%Kept]
	}
	var minutes []Minute
	for first, i := MinuteOf(r.now())-Minutes+1, 0; i < len(r.minutes); i++ {
		if r.minutes[i].Number >= first {
			minutes = append(minutes, r.minutes[i].clone())
		}
	}
	return calls, minutes
}

func cut(name string) string { return name[:min(len(name), longestName)] }
