package meter

import (
	"cmp"

	"github.com/aqltag/aqltag/runtime/quota"
)

// Used yields each quota that counts the call, and the share of it that is used, with the call: 1 is its last step, and
// more is beyond it. What the call turns out to have used besides is in the shares of the next one.
func (t *Taken) Used(yield func(quota.Metric, float64) bool) {
	if t.gauge == nil {
		return
	}
	quotas := t.gauge.meter.options.Quotas
	counts := t.counts[len(t.counts)-len(quotas):] // behind those of limits
	for i := range quotas {
		q := &quotas[i]
		if !yield(q.Metric, share(q, float64(counts[i].Used)/scale(q.Metric))) {
			return
		}
	}
}

// Used returns the quota that blocks the call, and the share of it that is used; ok is false where an API limit does.
func (b *Block) Used() (metric quota.Metric, used float64, ok bool) {
	if b == nil || b.Quota == nil {
		return "", 0, false
	}
	return b.Quota.Metric, share(b.Quota, b.Current), true
}

// share returns the share of the last step of a quota that is used.
func share(q *quota.Quota, used float64) float64 {
	return used / cmp.Or(q.HardStop, q.Pause, q.Warn)
}
