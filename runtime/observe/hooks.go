// Package observe has the hooks with which a program sees what an adapter does: its sessions, calls, their operations,
// what the gate decides, executions with their attempts and steps, approvals, what the safety loop tells agents, and
// the codes that these send. Metrics and traces are made of these:
//
//	var failed atomic.Int64
//	hooks := &observe.Hooks{
//		Operation: func(ctx context.Context, o observe.Operation) (context.Context, func(observe.OperationEnd)) {
//			return ctx, func(end observe.OperationEnd) {
//				if end.Code != "" {
//					failed.Add(1)
//				}
//			}
//		},
//	}
//	adapter, err := aql.New(registry, aql.Options{Observe: hooks})
//
// No event has parameters, results, messages, tokens, or the name of a caller.
package observe

import "context"

// Hooks are called when something happens in an adapter. A nil hook is not called, and costs a comparison.
//
// A hook runs in the goroutine of what it is told of, which waits for it, and may be called by many goroutines at the
// same time. A hook that panics is logged the first time, and harms nothing.
//
// Some hooks are told that something begins, and return two things. The values of the context, such as a span, are
// those of everything that happens within; its deadline and its end are not looked at. A nil context is the one that
// the hook was given. The function is called once, when what began has ended; nil: it is not called.
type Hooks struct {
	// Session is told of each connection of a client that has ended. The sessions of callers over a protocol without
	// sessions are not told of.
	Session func(ctx context.Context, s Session)
	// Call is told of each message that a client sends, whatever comes of it. Where the server asks a person in the
	// middle of a message, in protocol versions before 2026-07-28, it is told of what comes before and of what comes after
	// as two.
	Call func(ctx context.Context, c Call) (context.Context, func(CallEnd))
	// Operation is told of each request in a message, within Call: of the only one, or of the items of a batch one after
	// the other. The items that a batch does not reach are not told of. A request that is looked at again within its
	// message, such as when the cooldown of its approval is over, is told of again.
	Operation func(ctx context.Context, o Operation) (context.Context, func(OperationEnd))
	// Gate is told of the decision about a request, once and within Operation. What a request needs besides, such as a
	// relation that it loads, or the execution that it retries, is decided about for it, and not told of. Nothing is
	// decided about requests that are not valid, and about operations that no trust level, policy, quota or confirmation
	// holds, unless their requests have to be on record: those of the category EXECUTE, where there is an audit log.
	Gate func(ctx context.Context, d Decision)
	// Quota is told, behind Gate, of each quota that counts a request which is let through, and of the one that refuses
	// it. The gate knows that from its decision: the state is not asked for it. Tokens and costs that only the handler
	// knows are in what is told of the next request.
	Quota func(ctx context.Context, u QuotaUse)
	// Execution is told of each change of the state of an execution, in the process that has made it, and of each start
	// with an empty State.From. Nothing is told where the process dies just then.
	Execution func(ctx context.Context, c StateChange)
	// Origin is called where an execution is started, within the Operation that starts it. It returns a text of up to 128
	// bytes, such as a traceparent, that each Attempt is told, in whatever process and after how long a time. A longer one
	// is left out. The text is in the state, and not encrypted there.
	Origin func(ctx context.Context) string
	// Attempt is told of each attempt at an execution whose handler is about to be called. Its context is none of a call:
	// the call that started the execution may be long over.
	Attempt func(ctx context.Context, a Attempt) (context.Context, func(AttemptEnd))
	// Step is told of each step that is done, within Attempt. A step whose result was kept before is not done again.
	Step func(ctx context.Context, s Step) (context.Context, func(StepEnd))
	// Approval is told of each item that this adapter opens in its inbox, and of each approval that it uses up. People
	// decide in other processes, or elsewhere in this one.
	Approval func(ctx context.Context, a Approval)
	// Directive is told of each directive that the safety loop gives an agent, within the Operation that asks for it.
	Directive func(ctx context.Context, d Directive)
	// Verification is told of each code that an agent sends to be let go, within the Operation that verifies it.
	Verification func(ctx context.Context, v Verification)
	// Store is told of each call of Options.State, when it has returned. Without a State it is told of nothing.
	Store func(ctx context.Context, c StoreCall)
}
