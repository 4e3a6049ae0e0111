package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/store"
)

// Executions are settings of the operations that outlive their calls: of those whose handlers take a *Run.
type Executions struct {
	// Slots is how many attempts run at the same time in this process. Default: 16.
	Slots int
	// Lease is how long a process that is not heard of is believed to run. Its durable executions then go on elsewhere.
	// Default: 15 seconds.
	Lease time.Duration
	// Poll is how often a process looks for executions that others have started. Default: 1 second.
	Poll time.Duration
	// Drain is how long attempts may go on to the end of their step when Work is to end. Default: 5 seconds.
	Drain time.Duration
	// Most is how many executions of one caller may be under way, in all processes. Default: 10,000.
	Most int
}

// executions are the executions of every adapter that has some.
type executions struct {
	adapter    *Adapter
	operations map[string]*longRunning
	codecs     *codec.Set
	cursors    func() *cursors // those of lists
	engine     *execution.Engine
	outside    map[string]*execution.Operation // whose executions are carried out elsewhere
}

// longRunning is an operation that outlives its call.
type longRunning struct {
	*gen.Bound // as it was registered
	run        RunFunc
	encoder    *codec.Result // nil: it returns nothing
}

// newExecutions makes the operations of a registry that outlive their calls start executions.
func newExecutions(registry *Registry) (*Registry, executing, error) {
	e := &executions{operations: make(map[string]*longRunning)}
	handlers, operations := make(map[string]*gen.Handler), make(map[string]gen.Operation)
	types := gen.ExecutionTypes(registry.Definitions().Operations)
	own := types[0]
	bound := registry.Operations()
	e.codecs = codec.NewSet(registry.Definitions().Types, registry.Codecs()...)
	for i := range bound {
		o := &bound[i]
		attempt := o.Attempt()
		if attempt == nil {
			continue
		}
		run, ok := attempt.Run.(RunFunc)
		if !ok {
			return registry, nil, noRun(o.Name)
		}
		l := &longRunning{Bound: o, run: run}
		if result := o.Result(); result != nil {
			var err error
			if l.encoder, err = e.codecs.Result(result, o.Returns.Name); err != nil {
				return registry, nil, fmt.Errorf("operation %s: %w", o.Name, err)
			}
		}
		e.operations[o.Name] = l
		types = append(types, gen.ExecutionOf(&o.Operation))
		starts := o.Operation
		starts.Returns = gen.Returns{Name: own.Name, Kind: own.Kind, Description: own.Description, Nullable: true}
		operations[o.Name] = starts
		handlers[o.Name] = &gen.Handler{
			Name: o.Name, Request: o.NewRequest(), Result: (**executionAnswer)(nil),
			Call: func(ctx context.Context, _ []any, _ any) (any, error) { return e.start(ctx, l) },
		}
	}
	extended := registry.Replace(handlers, operations)
	for _, o := range gen.ExecutionOperations(registry.Definitions().Operations) {
		extended = extended.Extend(e.handler(o.Name), o, types)
		types = nil
	}
	return extended, e, nil
}

// handler returns what carries out an operation that is about executions.
func (e *executions) handler(name string) *gen.Handler {
	h := &gen.Handler{Name: name, Request: (*executionRequest)(nil), Result: (**executionAnswer)(nil)}
	answer := func(
		do func(ctx context.Context, v *executionVisit, q *executionRequest) (*execution.Record, error),
	) func(context.Context, []any, any) (any, error) {
		return func(ctx context.Context, _ []any, request any) (any, error) {
			v, ok := ctx.Value(executionKey{}).(*executionVisit)
			if !ok {
				return nil, errNoExecutionRequest
			}
			q := request.(*executionRequest)
			r, err := do(ctx, v, q)
			if err != nil {
				return nil, e.failure(err, q.ID)
			}
			e.tell(v, r, false)
			return e.answer(ctx, r)
		}
	}
	switch name {
	case gen.GetExecution:
		h.Call = answer(e.get)
	case gen.CancelExecution:
		h.Call = answer(e.cancel)
	case gen.RetryExecution:
		h.Call = answer(e.retry)
	case gen.AnswerExecution:
		h.Call = answer(e.answerWait)
	default:
		h.Request, h.Result = (*executionsRequest)(nil), (**executionList)(nil)
		h.Call = e.list
	}
	return h
}

func (e *executions) define(definitions *gen.Definitions) {
	for i := range definitions.Operations {
		if l := e.operations[definitions.Operations[i].Name]; l != nil {
			definitions.Operations[i].BecomeExecution()
		}
	}
}

// open makes the engine. It fails where what must not be read would be readable in the state.
func (e *executions) open(a *Adapter) error {
	e.adapter = a
	e.cursors = sync.OnceValue(func() *cursors { // the gate is made after this
		return &cursors{adapter: a.options.Name, gate: a.view.Load().gate}
	})
	for name, handler := range a.handlers {
		if isAboutExecutions(name) { // they are built in
			handler.intercept = nil
		}
	}
	var faults []error
	operations := make(map[string]*execution.Operation, len(e.operations))
	types := make(map[string]*gen.Type)
	for i := range a.registered.Types {
		types[a.registered.Types[i].Name] = &a.registered.Types[i]
	}
	for name, l := range e.operations {
		c := l.Lifecycle
		operations[name] = &execution.Operation{
			Durable: c.Durable, Retry: c.Retry, Keep: c.Keep, Timeout: l.Timeout, Do: e.observed(l, e.attempt(l)),
		}
		if c.Asks {
			operations[name].Decided = e.decided(l)
		}
		if !a.options.Available.has(&l.Operation) {
			operations[name].Do, operations[name].Decided = nil, nil // what others start stays in the queue for them
			continue
		}
		for i := range l.Params {
			var seen []string
			if c.Durable && a.options.State != nil && a.options.StateKey == nil && sensitive(&l.Params[i], types, &seen) {
				faults = append(faults, fmt.Errorf("operation %s is durable, so that the state would have its sensitive "+
					"parameter %s: give the adapter a StateKey (-state-key)", name, l.Params[i].Name))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	maps.Copy(operations, e.outside)
	if a.options.State == nil {
		a.options.State = new(store.Memory)
	}
	var keys [][]byte
	if a.options.StateKey != nil {
		keys = append([][]byte{a.options.StateKey}, a.options.OldStateKeys...)
	}
	o := &a.options.Executions
	dispatcher, _ := unobserved(a.options.State).(execution.Dispatcher)
	var err error
	e.engine, err = execution.New(execution.Options{
		Store: a.options.State, Dispatcher: dispatcher, Name: a.options.Name, Operations: operations,
		Slots: o.Slots, Lease: o.Lease, Poll: o.Poll, Drain: o.Drain, Most: o.Most, Keys: keys, Logger: a.log,
		Decisions: e.decisions, Ended: e.ended, Undecided: e.undecided, Changed: e.changed(),
		Now: a.options.Now,
	})
	return err
}

func (e *executions) work(ctx context.Context) error { return e.engine.Work(ctx) }

// executionVisit is a request that starts an execution or is about some, with what decides about it.
type executionVisit struct {
	params     []byte
	canonical  []byte // of the parameters, where there is a key
	once       string
	found      *foundExecution
	wait       time.Duration   // for what the execution comes to that is started
	session    context.Context // ends with the session
	gate       *gate.Gate
	gated      *gate.Session
	label      string
	operations map[string]*operation
	grounds    gate.Grounds // on which a request to start one again was confirmed, by a human or a token
	batch      bool         // others of its message come after it
	exchange   *exchange
}

type executionKey struct{}

// errNoExecutionRequest is the error of a handler about executions that no request has brought.
var errNoExecutionRequest = errors.New("an execution was asked for with a context that is not that of its request")

func (e *executions) within(ctx context.Context, x *exchange, q *request) context.Context {
	l := e.operations[q.operation.definition.Name]
	if l == nil && !isAboutExecutions(q.operation.definition.Name) {
		return ctx
	}
	v := &executionVisit{
		session: x.session.open, gate: x.checkpoint.gate, gated: x.checkpoint.session, label: string([]byte(x.message.id)),
		operations: x.view.directory.operations, batch: x.message.batch != nil, exchange: x,
	}
	if x.checkpoint.pass.Confirmed && q.operation.definition.Name == gen.RetryExecution {
		v.grounds = v.gate.Grounds(&x.checkpoint.request)
	}
	if l != nil {
		v.params, v.wait, v.found = q.sent(), waitOf(x, q), x.checkpoint.found
		if once := l.Lifecycle.Once; once != "" {
			if v.once = textOfJSON(q.Value(once)); v.once != "" {
				v.canonical = q.seen()
			}
		}
	}
	return context.WithValue(ctx, executionKey{}, v)
}

func isAboutExecutions(name string) bool {
	switch name {
	case gen.GetExecution, gen.ListExecutions, gen.CancelExecution, gen.RetryExecution, gen.AnswerExecution:
		return true
	}
	return false
}

// textOfJSON returns the text that a JSON text is; empty: it is none.
func textOfJSON(text string, given bool) string {
	var value string
	if !given || json.Unmarshal([]byte(text), &value) != nil {
		return ""
	}
	return value
}

// seen returns the parameters as the handler sees them, in a form that does not depend on how they were spelled.
func (q *request) seen() []byte {
	w := wire.NewWriter(nil)
	w.BeginObject()
	for i := range q.operation.definition.Params {
		name := q.operation.definition.Params[i].Name
		if text, given := q.visible(name); given {
			w.KeyEscaped(name)
			w.Raw(string(wire.Canonical(nil, text)))
		}
	}
	w.EndObject()
	return w.Bytes()
}

// sent returns the parameters as an object of JSON that can be read again.
func (q *request) sent() []byte {
	w := wire.NewWriter(nil)
	w.BeginObject()
	for i := range q.operation.definition.Params {
		name := q.operation.definition.Params[i].Name
		if text, given := q.Value(name); given {
			w.KeyEscaped(name)
			w.Raw(text)
		}
	}
	w.EndObject()
	return w.Bytes()
}

func (e *executions) fault() error { return e.engine.Err() }

func (e *executions) unable() error { return e.engine.Unable() }

func (e *executions) count(ctx context.Context, b *Backlog) error {
	l, err := e.engine.Load(ctx)
	b.Due, b.Later, b.Running, b.Oldest = l.Due, l.Later, l.Running, l.Oldest
	return err
}
