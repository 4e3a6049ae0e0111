package serve

import (
	"sync/atomic"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console/setup"
)

// show gives a console what the adapter has for its pages.
func (s *settings) show(o *setup.Options, adapter *aql.Adapter, options *Options) error {
	if adapter.Executes() {
		o.Executions, o.Agents = adapter, options.Adapter.Loop != nil
	}
	if q := &options.Adapter.Quota; len(q.Quotas)+len(q.Limits) > 0 {
		o.Quotas = adapter
	}
	o.Policy = adapter
	if s.policy != "" {
		s.reloads = new(reloads)
		o.Reloaded = s.reloads.get
	}
	if s.audit != "" {
		key, err := s.keyOfAudit(options)
		if err != nil {
			return err
		}
		o.AuditFile, o.AuditKey = s.audit, key
	}
	return nil
}

// reloads keeps what became of reading the policy again.
type reloads struct{ last atomic.Pointer[setup.Reload] }

// note keeps the error of a policy that has changed, nil: it was taken. Where nobody looks, it does nothing.
func (r *reloads) note(err error) {
	if r != nil {
		r.last.Store(&setup.Reload{At: time.Now(), Err: err})
	}
}

func (r *reloads) get() setup.Reload {
	if last := r.last.Load(); last != nil {
		return *last
	}
	return setup.Reload{}
}
