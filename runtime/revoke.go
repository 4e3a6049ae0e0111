package aql

import "context"

// RevokeTokens makes all confirmation and continuation tokens of a caller unknown, for example after a logout. It
// returns how many could still have been used (MCP-AQL confirmation tokens §5.3).
func (a *Adapter) RevokeTokens(ctx context.Context, caller Caller) (int, error) {
	return a.view.Load().gate.Revoke(ctx, &caller)
}

// RevokeAllTokens makes the confirmation and continuation tokens of all callers unknown, for example after a security
// event. It returns how many could still have been used (MCP-AQL confirmation tokens §5.3).
func (a *Adapter) RevokeAllTokens(ctx context.Context) (int, error) {
	return a.view.Load().gate.Revoke(ctx, nil)
}

// RevokeToken makes a confirmation token unknown before it expires, and records the reason. It reports whether the
// token could still have been used (MCP-AQL confirmation tokens §5.3).
func (a *Adapter) RevokeToken(ctx context.Context, token, reason string) (bool, error) {
	return a.view.Load().gate.RevokeToken(ctx, token, reason)
}
