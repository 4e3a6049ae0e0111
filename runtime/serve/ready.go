package serve

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/checks"
)

// freshness is how long an answer of /readyz counts: whoever asks more often does not burden the state.
const freshness = time.Second

// newReadiness returns what looks with check, and answers nothing but that the process ends once it is stopping.
func newReadiness(check func(context.Context) []aql.Check, log *slog.Logger, stopping *atomic.Bool) *readiness {
	return &readiness{check: check, log: log, stopping: stopping, turn: make(chan struct{}, 1)}
}

// readiness answers whether calls should be sent to the adapter.
type readiness struct {
	check    func(context.Context) []aql.Check
	log      *slog.Logger
	stopping *atomic.Bool

	// turn has room for the one that looks. Who waits for it leaves with their client: a state that does not answer
	// keeps no others.
	turn   chan struct{}
	checks []aql.Check
	until  time.Time // when checks are too old
	told   checks.Log
}

// status is the answer of /readyz. It says which check failed, and not why: anybody may ask.
type status struct {
	Status string                 `json:"status"`
	Checks map[string]checkStatus `json:"checks,omitempty"`
}

type checkStatus struct {
	OK     bool  `json:"ok"`
	Millis int64 `json:"ms"`
}

func (h *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, ready := status{Status: "stopping"}, false
	if !h.stopping.Load() {
		answer, ready = h.look(r.Context())
	}
	w.Header().Set("Content-Type", "application/json")
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(answer) // the client has gone
}

// executionsCheck is the name of the check of executions that this process cannot run. A process of an older version is
// ready all the same while those of a newer one take its place.
const executionsCheck = "executions"

func (h *readiness) look(ctx context.Context) (answer status, ready bool) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return status{Status: "failing"}, false
	}
	if now := time.Now(); !now.Before(h.until) {
		h.checks = h.check(context.WithoutCancel(ctx)) // others wait for it, too
		h.until = time.Now().Add(freshness)
	}
	answer, ready = status{Status: "ok", Checks: make(map[string]checkStatus)}, true
	for _, check := range h.checks {
		answer.Checks[check.Name] = checkStatus{check.Err == nil, check.Took.Milliseconds()}
		switch {
		case check.Name == policyCheck, check.Name == executionsCheck:
			if check.Err != nil && ready {
				answer.Status = "degraded"
			}
			if check.Name == executionsCheck { // why the policy before is in force has logged who read the file
				h.told.TellDegraded(ctx, h.log, check.Name, check.Err)
			}
			continue
		case check.Err != nil:
			answer.Status, ready = "failing", false
		}
		h.told.Tell(ctx, h.log, check.Name, check.Err)
	}
	return answer, ready
}
