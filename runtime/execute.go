package aql

import (
	"context"
	"fmt"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
)

// executing are the executions of an adapter.
type executing interface {
	// define makes definitions those that agents see.
	define(definitions *gen.Definitions)
	// open makes what runs executions, when everything else of the adapter is there.
	open(a *Adapter) error
	// find returns what the key of a request finds in place of starting an execution; nil: nothing.
	find(ctx context.Context, x *exchange, q *request) *foundExecution
	// asked returns what people are asked about in place of the parameters of a request; nil: about these.
	asked(ctx context.Context, x *exchange, q *request) gate.Params
	// within returns the context of a request that starts an execution or is about some.
	within(ctx context.Context, x *exchange, q *request) context.Context
	work(ctx context.Context) error
	// count counts the executions that have not ended.
	count(ctx context.Context, b *Backlog) error
	// listAll, look and cancelAny are Adapter.Executions, Execution and CancelExecution.
	listAll(ctx context.Context, q execution.Query) (page []Overseen, next string, err error)
	look(ctx context.Context, id string) (Overseen, error)
	cancelAny(ctx context.Context, id, reason string) error
	// fault returns why the process runs no executions; nil: it does.
	fault() error
	// unable returns what is due that this process cannot run; nil: nothing.
	unable() error
}

// RunFunc calls a handler that takes a *Run. receivers are those that NewRegistry was given, or NewRegistryFor has
// chosen; request is a pointer to the request struct. Generated code declares it.
type RunFunc func(ctx context.Context, receivers []any, request any, run *Run) (result any, err error)

// execute makes the operations of a registry that outlive their calls start executions; see execute.
func (RunFunc) execute(registry *Registry) (*Registry, executing, error) {
	return newExecutions(registry)
}

// execute makes the operations of a registry that outlive their calls start executions, and returns it with those that
// follow them. The handlers lead to the code behind that, and nothing else does: an adapter without executions does not
// link it.
func execute(registry *Registry) (*Registry, executing, error) {
	type executer interface {
		execute(registry *Registry) (*Registry, executing, error)
	}
	operations := registry.Operations()
	for i := range operations {
		attempt := operations[i].Attempt()
		if attempt == nil {
			continue
		}
		first, ok := attempt.Run.(executer)
		if !ok {
			return registry, nil, noRun(operations[i].Name)
		}
		return first.execute(registry)
	}
	return registry, nil, nil
}

func noRun(operation string) error {
	return fmt.Errorf("operation %s has no aql.RunFunc; the generated code is out of date", operation)
}

// Executes reports whether the adapter has operations that outlive their calls: whether Work has something to do.
func (a *Adapter) Executes() bool { return a.executing != nil }

// Work runs the executions of the adapter until ctx ends: those that were started in this process, and durable ones
// that others have started or left which share Options.State. At the end it lets attempts go on to the end of their
// step, for up to Executions.Drain, hands durable executions back to be gone on with elsewhere, and cancels others. It
// returns at once where there is nothing to run, and fails where the state cannot be reached at the beginning.
//
// serve.Main calls it. Without it durable executions wait, and others are refused.
func (a *Adapter) Work(ctx context.Context) error {
	if a.executing == nil {
		return nil
	}
	return a.executing.work(ctx)
}
