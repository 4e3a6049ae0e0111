package gate

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// sessionsOfCaller is how many sessions' worth of tokens a caller is given, however many sessions it opens: tokens take up
// room that all callers share.
const sessionsOfCaller = 10

// mostAllowances is how many callers are remembered at a time.
const mostAllowances = 4096

// allowances bound how many tokens callers are given. The zero value remembers nobody.
type allowances struct {
	limit rate.Limit // of one session

	mu      sync.Mutex
	callers map[string]*rate.Limiter
}

// mayAsk reports whether a caller is given another token.
func (a *allowances) mayAsk(caller string, now time.Time) bool {
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

// forget makes room: those go whose allowance is whole again, for whom it makes no difference, and where these are few half of
// the others.
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
