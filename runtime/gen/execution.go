package gen

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Lifecycle is how an operation runs that outlives its call (MCP-AQL core §8.4).
type Lifecycle struct {
	Durable bool          // executions outlive the session in which they were started, and the process
	Retry   int           // how often an attempt that has failed is repeated, and a failed execution started again
	Keep    time.Duration // how long an execution that has ended can be read; zero: the adapter's default
	Once    string        // parameter whose value starts one execution only; empty: none does
	Asks    bool          // executions pause until a person, or their caller, answers
}

// States are the states that executions can be in: those of the protocol, and paused and retrying, which are states of
// running.
func (l *Lifecycle) States() []string {
	states := []string{"pending", "running"}
	if l.Asks {
		states = append(states, "paused")
	}
	if l.Retry > 0 {
		states = append(states, "retrying")
	}
	return append(states, "completed", "failed", "cancelled")
}

// Execution is how a handler is called whose operation outlives its call, as generated code declares it.
type Execution struct {
	Lifecycle
	// Run is an aql.RunFunc.
	Run any
}

// The operations that every adapter has that has executions.
const (
	GetExecution    = "get_execution"
	ListExecutions  = "list_executions"
	CancelExecution = "cancel_execution"
	RetryExecution  = "retry_execution"
	AnswerExecution = "answer_execution"
)

// MaxExecutionWait is the longest time for which a request waits for a change of an execution, in milliseconds.
const MaxExecutionWait = 30_000

// Executes reports whether an operation outlives its call.
func (a *Definitions) Executes() bool {
	return slices.ContainsFunc(a.Operations, func(o Operation) bool { return o.Lifecycle != nil })
}

// asks reports whether executions of one of some operations pause until somebody answers.
func asks(operations []Operation) bool {
	return slices.ContainsFunc(operations, func(o Operation) bool { return o.Lifecycle != nil && o.Lifecycle.Asks })
}

// AddExecutions adds the operations with which agents follow executions, and makes operations that outlive their call
// return one, where there are such operations.
func AddExecutions(a *Definitions) {
	if !a.Executes() {
		return
	}
	a.Operations, a.Types = slices.Clone(a.Operations), slices.Clip(a.Types)
	a.Types = append(a.Types, ExecutionTypes(a.Operations)...)
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Lifecycle != nil {
			a.Types = append(a.Types, ExecutionOf(o))
			o.BecomeExecution()
		}
	}
	a.Operations = append(a.Operations, ExecutionOperations(a.Operations)...)
}

// ExecutionOf returns the type of the executions of an operation, as long as that has the type of its results.
func ExecutionOf(o *Operation) Type {
	t := executionTypes(o.Lifecycle.Asks)[0]
	t.Name, t.Description = executionName(o.Name), "An execution of "+o.Name+"."
	at := slices.IndexFunc(t.Fields, func(p Param) bool { return p.Name == "result" })
	if o.Returns.Name == "" || o.Returns.Name == "Nothing" && o.Returns.Kind == KindScalar {
		t.Fields = slices.Delete(t.Fields, at, at+1)
	} else {
		t.Fields[at].Type = o.Returns.Name
	}
	return t
}

// BecomeExecution makes the operation return an execution.
func (o *Operation) BecomeExecution() {
	name := executionName(o.Name)
	o.Returns = Returns{Name: name, Kind: KindObject, Description: "An execution of " + o.Name + ".", Nullable: true}
	what := "Runs in the background: " + GetExecution + " tells how far it is."
	if !o.Lifecycle.Durable {
		what = "Runs in the background while the session lasts: " + GetExecution + " tells how far it is."
	}
	o.Description = strings.TrimSpace(strings.TrimSuffix(o.Description, ".") + ". " + what)
	if strings.HasPrefix(o.Description, ". ") {
		o.Description = what
	}
}

// executionName is the name of the type of the executions of an operation.
func executionName(operation string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(operation, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String() + "Execution"
}

// ExecutionOperations returns the operations with which agents follow the executions of some operations.
func ExecutionOperations(of []Operation) []Operation {
	retried := false
	danger := Reversible
	for i := range of {
		o := &of[i]
		if o.Lifecycle == nil {
			continue
		}
		if o.Lifecycle.Retry > 0 && o.Lifecycle.Durable {
			retried = true
			if o.Danger.Level() > danger.Level() {
				danger = o.Danger
			}
		}
	}
	id := Param{
		Name: "execution_id", Go: "ID", Type: "string", Required: true, ID: true, MaxLength: 100,
		Description: "Id of the execution, from the answer to its start",
	}
	example := func(params, description string) []Example { return []Example{{params, description}} }
	returns := func(at int) Returns {
		t := &ExecutionTypes(of)[at]
		return Returns{Name: t.Name, Kind: t.Kind, Description: t.Description, Nullable: true}
	}
	operations := []Operation{
		{
			Name: GetExecution, Category: Read, Danger: Safe, DangerSource: DangerFromCategory,
			Description: "Reads how far an execution is, and what has come of it.", Returns: returns(0),
			Params: []Param{
				id,
				{
					Name: "wait_ms", Go: "Wait", Type: "integer", Default: "0", Minimum: "0", Maximum: "30000",
					Description: "How long to wait for a change of the execution, in milliseconds",
				},
				{
					Name: "after_version", Go: "After", Type: "string", MaxLength: 20,
					Description: "Known version of the execution: only another one ends the wait. " +
						"Default: its version when the request comes",
				},
			},
			Examples: example(`{"execution_id":"exec_7k3f","wait_ms":30000}`, "Waits for a change"),
		},
		{
			Name: ListExecutions, Category: Read, Danger: Safe, DangerSource: DangerFromCategory,
			Description: "Lists the executions that the caller has started, the newest first.", Returns: returns(1),
			Params: []Param{
				{
					Name: "status", Go: "Status", Type: "string",
					Enum:        executionStates(asks(of)),
					Description: "Only executions with this status",
				},
				{
					// No list of names: it would show a caller operations that are hidden from them.
					Name: "operation", Go: "Operation", Type: "string", MaxLength: 100,
					Description: "Only executions of this operation",
				},
				{
					Name: "first", Go: "First", Type: "integer", Default: "20", Minimum: "1", Maximum: "100",
					Description: "How many to list",
				},
				{
					Name: "after", Go: "After", Type: "string", MaxLength: 400,
					Description: "pageInfo.endCursor of the answer before, with the same status and operation",
				},
			},
			Examples: example(`{"status":"running"}`, "What is under way"),
		},
		{
			Name: CancelExecution, Category: Execute, Danger: Reversible, DangerSource: DangerFromTag,
			Description: "Cancels an execution that has not ended. One that runs ends when it notices.", Returns: returns(0),
			Params: []Param{
				id,
				{Name: "reason", Go: "Reason", Type: "string", MaxLength: 500, Description: "Why, for those who read of it"},
			},
			Examples: example(`{"execution_id":"exec_7k3f","reason":"No longer needed"}`, "Ends it, and says why"),
		},
	}
	if retried {
		operations = append(operations, Operation{
			Name: RetryExecution, Category: Execute, Danger: danger, DangerSource: DangerFromTag,
			Description: "Starts an execution again that has failed. Steps that are done are not repeated.",
			Params:      []Param{id}, Returns: returns(0),
			Examples: example(`{"execution_id":"exec_7k3f"}`, "Once more"),
		})
	}
	if asks(of) {
		operations = append(operations, answerExecution(id, returns(0)))
	}
	return operations
}

// ExecutionTypes returns the types of the operations with which agents follow the executions of some operations: that
// of an execution first, and then that of several.
func ExecutionTypes(of []Operation) []Type { return executionTypes(asks(of)) }

// executionTypes returns the types of executions. asks says that they may pause.
func executionTypes(asks bool) []Type {
	text := func(name, goName, description string) Param {
		return Param{Name: name, Go: goName, Type: "string", OmitEmpty: true, Description: description}
	}
	moment := func(name, goName, description string) Param {
		p := text(name, goName, description)
		p.Format, p.Nullable = "date-time", true
		return p
	}
	integer := func(name, goName, description string) Param {
		return Param{Name: name, Go: goName, Type: "integer", OmitEmpty: true, Description: description}
	}
	part := func(name, goName, typ, description string) Param {
		return Param{Name: name, Go: goName, Type: typ, OmitEmpty: true, Nullable: true, Description: description}
	}
	count := func(name, goName, description string) Param {
		p := integer(name, goName, description)
		p.Nullable = true
		return p
	}
	id := text("execution_id", "ID", "Its id")
	id.Required, id.OmitEmpty, id.ID = true, false, true
	status := text("status", "Status", "retrying is a state of running: an attempt has failed, and another one follows")
	status.Required, status.OmitEmpty = true, false
	status.Enum = executionStates(asks)
	if asks {
		status.Description += ". paused is one, too: it goes on when there is what it waits for"
	}
	operation := text("operation", "Operation", "The operation that started it")
	operation.Required, operation.OmitEmpty = true, false
	types := []Type{
		{
			Name: "Execution", Kind: KindObject, Description: "An operation that runs in the background.", Fields: []Param{
				id, operation, status,
				moment("started_at", "StartedAt", "When it began to run"),
				moment("finished_at", "FinishedAt", "When it ended"),
				part("progress", "Progress", "ExecutionProgress", "How far it is"),
				{
					Name: "result", Go: "Result", Type: "any", OmitEmpty: true, Nullable: true,
					Description: "What it has come to, if completed",
				},
				part("error", "Error", "ExecutionError", "Why it has failed"),
				integer("attempt", "Attempt", "Number of the attempt, from 1 on; to go on after a pause is one, too"),
				{
					Name: "cancel_requested", Go: "CancelRequested", Type: "boolean", OmitEmpty: true,
					Description: "That it runs still, although it is to end",
				},
				text("reason", "Reason", "Why it was cancelled"),
				text("version", "Version", "Changes with the execution"),
				integer("poll_after_ms", "PollAfter", "When it is worth to look again; absent at the end"),
			},
		},
		{
			Name: "ExecutionList", Kind: KindObject, Description: "Executions, the newest first.", Fields: []Param{
				{
					Name: "items", Go: "Items", Type: "array", Required: true, Items: &Param{Type: "Execution"},
					Description: "Without their results",
				},
				{Name: "pageInfo", Go: "Page", Type: "ExecutionPageInfo", Required: true, Description: "Where the list goes on"},
			},
		},
		{
			Name: "ExecutionError", Kind: KindObject, Description: "Why an execution has failed.", Fields: []Param{
				{Name: "code", Go: "Code", Type: "string", Required: true, Description: "Code of the failure"},
				{Name: "message", Go: "Message", Type: "string", Required: true, Description: "What has failed"},
				{
					Name: "details", Go: "Details", Type: "any", OmitEmpty: true, Nullable: true,
					Description: "What else is known",
				},
			},
		},
		{
			Name: "ExecutionPageInfo", Kind: KindObject, Description: "Where a list of executions goes on.", Fields: []Param{
				{Name: "hasNextPage", Go: "Next", Type: "boolean", Required: true, Description: "Whether there may be more"},
				{
					Name: "hasPreviousPage", Go: "Previous", Type: "boolean", Required: true,
					Description: "Whether there are some in front of them",
				},
				text("startCursor", "Start", "Of the first one"),
				text("endCursor", "End", "Of the last one; for after"),
			},
		},
		{
			Name: "ExecutionProgress", Kind: KindObject, Description: "How far an execution is.", Fields: []Param{
				{
					Name: "percentage", Go: "Percentage", Type: "number", OmitEmpty: true, Nullable: true, Minimum: "0",
					Maximum: "100", Description: "How much is done",
				},
				count("current", "Current", "How many parts are done"),
				count("total", "Total", "How many parts there are"),
				text("message", "Message", "What is being done"),
			},
		},
	}
	if asks {
		types[0].Fields = append(types[0].Fields, part("waits_for", "WaitsFor", "ExecutionWait", "For what it is paused"))
		types = append(types, executionWait())
	}
	return types
}

// executionStates are the values of the status of executions.
func executionStates(asks bool) []string { return (&Lifecycle{Retry: 1, Asks: asks}).States() }

// Attempt returns how the handler of an operation is called that outlives its call; nil: it does not.
func (b *Bound) Attempt() *Execution { return b.handler.Execution }

// NewRequest returns a nil pointer to the request struct.
func (b *Bound) NewRequest() any { return b.handler.Request }

// ReceiversOf returns the receivers with which one attempt goes on.
func (b *Bound) ReceiversOf(ctx context.Context) ([]any, error) { return b.chosen(ctx, b.choices, nil) }

// Replace returns a copy of the registry with other handlers and definitions for operations, by their names.
func (r *Registry) Replace(handlers map[string]*Handler, operations map[string]Operation) *Registry {
	replaced := *r
	replaced.operations = slices.Clone(r.operations)
	for i := range replaced.operations {
		if h := handlers[replaced.operations[i].Name]; h != nil {
			replaced.operations[i] = Bound{Operation: operations[h.Name], handler: h}
		}
	}
	return &replaced
}
