package aql

import (
	"context"
	"math"
	"sync"

	"github.com/aqltag/aqltag/runtime/quota"
)

// Usage is what a request has used: tokens and money.
type Usage = quota.Usage

// ReportUsage adds to what the request that ctx, the handler's context, belongs to has used, for quotas of tokens and
// costs. Tokens replace the adapter's own estimate, which is a quarter of the bytes of request and answer. What is
// negative counts as nothing, and a cost that is no number as more than any quota allows. It may be called from several
// goroutines, until the handler returns. An attempt at an execution is charged for what it has reported at its end, and
// for nothing that was not reported.
func ReportUsage(ctx context.Context, u Usage) {
	if s, ok := ctx.Value(usageKey{}).(*usage); ok {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.used.Tokens += min(max(u.Tokens, 0), math.MaxInt64-s.used.Tokens)
		s.used.Cost += max(u.Cost, 0) // NaN stays NaN
	}
}

type usageKey struct{}

// usage collects what a request has used.
type usage struct {
	mutex sync.Mutex
	used  quota.Usage
}

// bytesOfToken is how many bytes make one token in the adapter's estimate.
const bytesOfToken = 4

// used returns what was reported. The tokens, if they were not, are estimated for so many bytes.
func (h *handling) used(bytes int) quota.Usage {
	h.usage.mutex.Lock()
	defer h.usage.mutex.Unlock()
	used := h.usage.used
	if used.Tokens == 0 {
		used.Tokens = int64((bytes + bytesOfToken - 1) / bytesOfToken)
	}
	return used
}

// ObserveLimits reads the limits that the API behind the adapter reports in a response: the headers that the adapter's
// limits name, and Retry-After. Handlers call it with the response's http.Header, so that no call is made that the API
// would refuse (MCP-AQL rate limiting §4.2).
func (a *Adapter) ObserveLimits(ctx context.Context, status int, header map[string][]string) error {
	if meter := a.view.Load().gate.Meter(); meter != nil {
		return meter.Observe(ctx, status, header, a.options.Now())
	}
	return nil
}
