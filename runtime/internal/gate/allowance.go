package gate

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// sessionsOfCaller bounds the tokens of a caller, as a number of sessions, however many it opens: tokens take space in
// the store, which all callers share.
const sessionsOfCaller = 10

// mostAllowances bounds the callers that are remembered.
const mostAllowances = 4096

// allowances bound how many tokens each caller can be issued.
type allowances struct {
	limit rate.Limit // of one session

	mu      sync.Mutex
	callers map[string]*rate.Limiter
}

// mayIssue counts a token and reports whether a caller can be issued it.
func (a *allowances) mayIssue(caller string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	limiter := a.callers[caller]
	if limiter == nil {
		if len(a.callers) >= mostAllowances {
			a.forget(now)
		}
		if a.callers == nil {
			a.callers = make(map[string]*rate.Limiter)
		}
		limiter = rate.NewLimiter(sessionsOfCaller*a.limit, sessionsOfCaller*burst)
		a.callers[caller] = limiter
	}
	return limiter.AllowN(now, 1)
}

// forget removes the callers whose allowance is full again, for whom it makes no difference. If more than half of
// mostAllowances remain, it removes others down to half.
func (a *allowances) forget(now time.Time) {
	for caller, limiter := range a.callers {
		if limiter.TokensAt(now) >= float64(limiter.Burst()) {
			delete(a.callers, caller)
		}
	}
	for caller := range a.callers {
		if len(a.callers) <= mostAllowances/2 {
			return
		}
		delete(a.callers, caller)
	}
}
