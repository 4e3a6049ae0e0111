package aql

import (
	"context"

	"github.com/aqltag/aqltag/runtime/identity"
)

// Caller is who calls, as the transport has verified it.
type Caller = identity.Caller

type callerKey struct{}

// WithCaller returns a context in which requests come from a caller. Transports call it, with an identity that they have
// verified; a request without one is anonymous.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of the request that ctx belongs to.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
