package aql

import (
	"context"
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/runtime/policy"
)

// Explained says what becomes of a call, and why, for people who look after the adapter.
type Explained struct {
	policy.Explanation
	// Confirmed says that the adapter asks for a confirmation of every call of the operation, whatever the policy says.
	Confirmed bool
}

// Policy returns the policy in force; nil: there is none. It must not be changed.
func (a *Adapter) Policy() *policy.Policy {
	if bound := a.view.Load().policy; bound != nil {
		return bound.Policy()
	}
	return nil
}

// OperationNames returns the names of the operations that a policy decides about, in order.
func (a *Adapter) OperationNames() []string {
	var names []string
	for i := range a.definitions.Operations {
		names = append(names, a.definitions.Operations[i].Name)
	}
	slices.Sort(names)
	return names
}

// Explain says what the policy in force decides about a call of an operation with parameters, which are a JSON object,
// as the gate decides about it, and why. Nothing is called, counted or recorded. It fails if there is no such
// operation, and with an *Error if the parameters are none of it.
func (a *Adapter) Explain(ctx context.Context, operation string, who Caller, params []byte) (Explained, error) {
	v := a.view.Load()
	o := v.directory.operations[operation]
	if _, known := a.definitions.Operation(operation); !known || o == nil || o.gate == nil {
		return Explained{}, fmt.Errorf("there is no operation %s", operation)
	}
	q, invalid := a.requestOf(ctx, o, params)
	if invalid != nil {
		return Explained{}, invalid
	}
	bound := v.policy
	if bound == nil {
		var err error
		if bound, err = new(policy.Policy).BindForms(&a.registered, a.form); err != nil {
			return Explained{}, fmt.Errorf("explaining a call without a policy: %w", err)
		}
	}
	e := Explained{Explanation: bound.Explain(operation, policy.Request{Caller: who, Value: q.Seen})}
	e.Confirmed = e.Effect != policy.Deny && o.gate.Confirms()
	return e, nil
}
