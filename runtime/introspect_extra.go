package aql

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/trust"
)

// The queries of introspect that adapters answer only where they are asked to.
const (
	queryAdapterInfo = "adapter_info"
	queryQuotaStatus = "quota_status"
)

// introspectionDenied is the failure of introspect and get_manifest in an adapter that is not trusted with it (MCP-AQL trust
// levels §5.3). Failures of introspect have no details (requirements T-10).
func (x *exchange) introspectionDenied() *Error {
	t := x.adapter.options.Trust
	if t == nil || !t.DenyUntestedIntrospection || !t.Standing.Level.Below(trust.Generated) {
		return nil
	}
	refused := trustTooLow(x.operation.definition.Name, trust.Generated, trust.Untested, 0)
	return failure(refused.Code, refused.Message)
}

// adapterInfo tells who the adapter is, by which definitions it was built (requirements REQ-GE-06) and how far it is trusted
// (MCP-AQL trust levels §6.4).
func (x *exchange) adapterInfo() (Reply, *Error) {
	type info struct {
		Name        string          `json:"name"`
		Version     string          `json:"version"`
		Definitions string          `json:"definitions"`
		Trust       *trust.Standing `json:"trust,omitempty"`
	}
	data := info{Name: x.adapter.options.Name, Version: x.adapter.options.Version, Definitions: x.adapter.Fingerprint()}
	if t := x.adapter.options.Trust; t != nil {
		standing := t.Standing
		if standing.Level == "" {
			standing.Level = trust.Untested
		}
		data.Trust = &standing
	}
	return x.told(data)
}

// quotaStatus tells where the limits and the caller's quotas stand (MCP-AQL rate limiting §6).
func (x *exchange) quotaStatus(ctx context.Context) (Reply, *Error) {
	meter := x.view.gate.Meter()
	if meter == nil {
		return x.told(quota.Status{Adapter: x.adapter.options.Name, APILimits: map[string]quota.LimitStatus{}, Quotas: []quota.Standing{}})
	}
	ctx, cancel := x.view.gate.Bound(ctx)
	defer cancel()
	status, err := meter.Status(ctx, CallerOf(ctx).Key(), x.adapter.options.Now())
	if err != nil {
		x.adapter.log.LogAttrs(ctx, slog.LevelError, "state cannot be read", x.logAttrs("", err)...)
		return Reply{}, internal("state is unavailable; try again later")
	}
	return x.told(status)
}

func (x *exchange) told(data any) (Reply, *Error) {
	text, err := json.Marshal(data)
	if err != nil {
		return Reply{}, internal("unexpected failure")
	}
	return Reply{JSON: append(append([]byte(successOpen), text...), '}')}, nil
}
