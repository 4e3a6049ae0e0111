package aql

import "context"

// RevokeTokens makes all confirmation and continuation tokens of a caller unknown, for example after a logout. What
// people have approved for its requests and quotas in the inbox of Confirmation.Inbox has to be approved anew. It
// returns how many of both could still have been used (MCP-AQL confirmation tokens §5.3). What executions have asked,
// steps of the safety loop and pauses of quotas that were lifted stay as they were decided.
func (a *Adapter) RevokeTokens(ctx context.Context, caller Caller) (int, error) {
	return a.view.Load().gate.Revoke(ctx, &caller)
}

// RevokeAllTokens does what RevokeTokens does for all callers, for example after a security event.
func (a *Adapter) RevokeAllTokens(ctx context.Context) (int, error) {
	return a.view.Load().gate.Revoke(ctx, nil)
}

// RevokeToken makes a confirmation token unknown before it expires, and records the reason. It reports whether the
// token could still have been used (MCP-AQL confirmation tokens §5.3).
func (a *Adapter) RevokeToken(ctx context.Context, token, reason string) (bool, error) {
	return a.view.Load().gate.RevokeToken(ctx, token, reason)
}
