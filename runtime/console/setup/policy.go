package setup

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy"
)

// Policy is what decides about calls: an *aql.Adapter has it.
type Policy interface {
	// Policy returns the policy in force; nil: there is none.
	Policy() *policy.Policy
	// OperationNames returns the names of the operations that it decides about, in order.
	OperationNames() []string
	// Explain says what is decided about a call, and why. It fails if that could not be made.
	Explain(ctx context.Context, operation string, who aql.Caller, params []byte) (aql.Explained, error)
}

// Reload is what became of reading the file of the policy again, the last time that it had changed.
type Reload struct {
	At  time.Time // zero: it has not changed
	Err error     // why it was not taken; the policy before it stays in force
}
