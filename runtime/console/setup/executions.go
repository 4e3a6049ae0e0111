package setup

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/execution"
)

// Executions are the executions of an adapter, whoever's they are: an *aql.Adapter has them.
type Executions interface {
	// Executions returns a page of them, the newest first, and where the next one begins; empty: this is the last.
	Executions(ctx context.Context, q execution.Query) (page []aql.Overseen, next string, err error)
	// Execution returns one. It fails with execution.ErrNotFound where there is none.
	Execution(ctx context.Context, id string) (aql.Overseen, error)
	// CancelExecution ends one. It fails with an *execution.StateError where it has ended.
	CancelExecution(ctx context.Context, id, reason string) error
}
