package observe

import "time"

// Session is a connection of a client that has ended.
type Session struct {
	Adapter string // name of the service
	ID      string // random, as in logs and in Call
	Took    time.Duration
}

// Call is a message of a client: a request, or a batch of them.
type Call struct {
	Adapter string // name of the service
	Tool    string // MCP tool to which the message was sent; empty: the adapter does not have it
	Session string // random, as in logs
	Bytes   int    // of the message
	// Transport is what the transport knows of the call.
	Transport Transport
}

// Transport is what the transport of a call knows of it. What it does not know is empty.
type Transport struct {
	Network  string // tcp, unix or pipe
	Protocol string // version of MCP
	// The others are words of the client. RequestID is the id of the JSON-RPC request, of up to 64 bytes. TraceParent and
	// TraceState are members of its metadata, of up to 512 bytes each, and say which span of the client is that of the
	// call (W3C Trace Context). Nothing says that they are well-formed, or true.
	RequestID, TraceParent, TraceState string
}

// CallEnd is what came of a call.
type CallEnd struct {
	// Code is the error code of the answer; empty: it succeeded. A batch succeeds although its items fail.
	Code  string
	Error bool // the answer is an error of the tool, in the sense of MCP
	Items int  // of a batch; zero: the message is none
	Bytes int  // of the answer
	// RPCError is the code of the JSON-RPC error that the client gets in place of the answer, such as -32602; zero: it
	// gets the answer.
	RPCError int
}

// Operation is a request in a call.
type Operation struct {
	// Name is that of an operation of the adapter; empty: the request is for none, and the other fields but Index are
	// empty, too.
	Name     string
	Category string // such as READ
	Danger   string // danger level; empty: of an operation that the adapter answers itself
	Endpoint string // endpoint family
	Index    int    // in a batch, from 0 on
}

// OperationEnd is what came of a request.
type OperationEnd struct {
	Code string // error code; empty: it succeeded
	// Ran reports that the handler was called, or that an execution was started. The gate lets requests pass whose
	// answer fails for another reason then.
	Ran bool
}

// Effect is what the gate decides.
type Effect string

// The decisions of the gate.
const (
	Allowed   Effect = "allowed"
	Confirmed Effect = "confirmed" // allowed, by a token or a person
	Held      Effect = "held"      // until a token or a person confirms it
	Denied    Effect = "denied"
	Failed    Effect = "failed" // the state or the audit log has failed, or had no time
)

// Decision is a decision of the gate.
type Decision struct {
	Operation string
	Effect    Effect
	// Reason is one of a few words, such as policy or quota_pause; empty: it is allowed.
	Reason string
	Rule   string // of the policy that denies it, or demands a confirmation; empty: none
}

// QuotaUse is how much of a quota is used.
type QuotaUse struct {
	Metric string // such as requests_per_day
	// Share is the share of the last step of the quota: 1 is where that begins, and more is beyond it. Of a quota that
	// each caller has, it is the one of the caller of the request.
	Share float64
}

// StateChange is a change of the state of an execution.
type StateChange struct {
	Operation string        // execute_agent for an agent in the safety loop
	Execution string        // id
	From, To  string        // states, such as running; an empty From: it is started
	Attempt   int           // the last one, from 1 on; zero: there was none
	Lost      bool          // the process of the last attempt is gone
	Ended     bool          // To is a state in which it stays, unless it is retried
	Took      time.Duration // from the start to the end, where it has Ended
}

// Attempt is an attempt at an execution.
type Attempt struct {
	Operation string
	Execution string // id
	Number    int    // from 1 on
	TakenOver bool   // the process of the attempt before is gone
	Origin    string // what Hooks.Origin returned when the execution was started
}

// AttemptEnd is what came of an attempt.
type AttemptEnd struct {
	// Code is the error code of the failure; empty: there is none, or it does not count since the attempt was Stopped.
	Code string
	// Stopped is why the attempt was to end before its handler had returned: cancelled, paused or lost, which is that
	// another process may go on; empty: it was not.
	Stopped string
}

// Step is a step of an attempt.
type Step struct {
	Operation string
	Execution string // id
	Attempt   int
}

// StepEnd is what came of a step.
type StepEnd struct{ Failed bool }

// ApprovalEvent is what happens to an item of the inbox.
type ApprovalEvent string

// The events of items.
const (
	Opened ApprovalEvent = "opened"
	Used   ApprovalEvent = "used" // the approval, so that what waited for it goes on
)

// Approval is something that happens to an item of the inbox.
type Approval struct {
	Operation string
	Kind      string // such as confirmation, question, step
	Event     ApprovalEvent
	// Waited is the time from the opening to the last vote, for Used.
	Waited time.Duration
}

// Directive is what the safety loop tells an agent.
type Directive struct {
	Agent     string // as it calls itself: any text
	Execution string // id
	Step      int    // that the agent is told
	Tier      string // of the risk; empty: none was evaluated
	Continue  bool
	Stopped   bool // until somebody has looked
}

// VerificationResult is what became of a code.
type VerificationResult string

// What becomes of codes.
const (
	Verified   VerificationResult = "verified"
	Wrong      VerificationResult = "wrong"       // or for a challenge that is over, or that there is not
	NotChecked VerificationResult = "not_checked" // too many were wrong before, or the state has failed
)

// Verification is a code that an agent has sent.
type Verification struct{ Result VerificationResult }

// StoreMethod is a method of store.Store.
type StoreMethod string

// The methods of stores of which hooks are told.
const (
	StoreGet    StoreMethod = "get"
	StorePut    StoreMethod = "put"
	StoreDelete StoreMethod = "delete"
	StoreList   StoreMethod = "list"
	StoreTake   StoreMethod = "take"
)

// StoreCall is something that an adapter has asked of its state.
type StoreCall struct {
	Method StoreMethod
	Took   time.Duration
	// Failed says that the state has not done it. It is false for a change to what somebody else has changed meanwhile,
	// and for what was cancelled by who asked.
	Failed bool
}
