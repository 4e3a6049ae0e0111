package aql

import (
	"context"

	"github.com/aqltag/aqltag/runtime/identity"
)

// Caller is who calls, as the transport has verified it. The zero value is an anonymous caller.
type Caller = identity.Caller

type callerKey struct{}

// CallerOf returns the caller of the request that ctx belongs to.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
