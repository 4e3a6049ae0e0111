package setup

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// Quotas are the limits and quotas of an adapter: an *aql.Adapter has them.
type Quotas interface {
	// QuotaUse returns how much a caller has used. It counts nothing.
	QuotaUse(ctx context.Context, who aql.Caller) (aql.QuotaUse, error)
}
