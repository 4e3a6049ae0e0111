package aql

import (
	"context"
	"fmt"

	"github.com/aqltag/aqltag/runtime/quota"
)

// QuotaUse is how much is used of the limits of the API behind an adapter, and of the quotas of a caller.
type QuotaUse = quota.Use

// LimitUsed is a limit, which is for all callers together.
type LimitUsed = quota.LimitUsed

// QuotaUsed is a quota of a caller. A step of zero is off.
type QuotaUsed = quota.Used

// QuotaUse returns how much a caller has used, for people who look after the adapter. It counts nothing.
func (a *Adapter) QuotaUse(ctx context.Context, who Caller) (QuotaUse, error) {
	g := a.view.Load().gate
	counters := g.Meter()
	if counters == nil {
		return QuotaUse{}, nil
	}
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	status, err := counters.Status(ctx, who.Key(), a.options.Now(), a.definitions.Operations)
	if err != nil {
		return QuotaUse{}, fmt.Errorf("reading how much is used: %w", err)
	}
	return status.Use(), nil
}
