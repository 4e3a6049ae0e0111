package aql

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/trust"
)

// The queries of introspect that every adapter answers.
const (
	queryOperations = "operations"
	queryTypes      = "types"
)

// The queries of introspect that only some adapters answer: see Options.AdapterInfo and Options.QuotaStatus.
const (
	queryAdapterInfo = "adapter_info"
	queryQuotaStatus = "quota_status"
)

// introspectionDenied is the failure of a built-in operation in an adapter that is not trusted with it (MCP-AQL trust
// levels §5.3); nil: it is. Failures of introspect have no details.
func (a *Adapter) introspectionDenied(operation string) *Error {
	t := a.options.Trust
	if t == nil || !t.DenyUntestedIntrospection || !t.Standing.Level.Below(trust.Generated) {
		return nil
	}
	denied := trustTooLow(operation, trust.Generated, trust.Untested, 0)
	return failure(denied.Code, denied.Message)
}

// info answers the query adapter_info: the name and version of the adapter, the fingerprint of its definitions, and its
// trust level (MCP-AQL trust levels §6.4).
func (a *Adapter) info() ([]byte, *Error) {
	type info struct {
		Name        string          `json:"name"`
		Version     string          `json:"version"`
		Definitions string          `json:"definitions"`
		Trust       *trust.Standing `json:"trust,omitempty"`
	}
	data := info{Name: a.options.Name, Version: a.options.Version, Definitions: a.Fingerprint()}
	if t := a.options.Trust; t != nil {
		standing := t.Standing
		if standing.Level == "" {
			standing.Level = trust.Untested
		}
		data.Trust = &standing
	}
	return successJSON(data)
}

// quotaStatus answers the query quota_status: how much of the limits and of the caller's quotas is used (MCP-AQL rate
// limiting §6).
func (a *Adapter) quotaStatus(ctx context.Context, v *view, report reporter) ([]byte, *Error) {
	g := v.gate
	counters := g.Meter()
	if counters == nil {
		return successJSON(meter.Status{
			Adapter: a.options.Name, APILimits: map[string]meter.LimitStatus{}, Quotas: []meter.QuotaStatus{},
		})
	}
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	status, err := counters.Status(ctx, CallerOf(ctx).Key(), a.options.Now(), v.definitions.Operations)
	if err != nil {
		a.log.LogAttrs(ctx, slog.LevelError, "state cannot be read", report.attrs("", err)...)
		if gate.IsBusy(err) {
			return nil, failure(CodeRateLimitExceeded, stateBusy, detail{"retry_after_seconds", 1})
		}
		return nil, internal("state is unavailable; try again later")
	}
	return successJSON(status)
}

func successJSON(data any) ([]byte, *Error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, internal(unexpected)
	}
	return append(append([]byte(successOpen), text...), '}'), nil
}
