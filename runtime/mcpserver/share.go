package mcpserver

import (
	"sync"
	"sync/atomic"
)

// share is something of which there is so much, and so much for each caller, such as places for calls.
type share struct {
	limit, each int64
	taken       atomic.Int64

	mu sync.Mutex
	of map[string]int64 // by caller
}

func newShare(limit, each int) *share {
	return &share{limit: int64(limit), each: int64(each), of: make(map[string]int64)}
}

// The outcomes of share.take and buffers.admit.
type outcome int

const (
	admitted  outcome = iota
	allTaken          // by all callers together
	ownTaken          // by the caller
	takenAway         // from this request, for others
)

// take takes a piece for a caller. One without a name is not told from others: only what all have together is bounded.
func (s *share) take(caller string) outcome {
	if caller != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.of[caller] >= s.each {
			return ownTaken
		}
	}
	if s.taken.Add(1) > s.limit {
		s.taken.Add(-1)
		return allTaken
	}
	if caller != "" {
		s.of[caller]++
	}
	return admitted
}

// retake takes a piece again that was given back while its call waited, also where no one is left.
func (s *share) retake(caller string) {
	s.taken.Add(1)
	if caller == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[caller]++
}

// give gives a piece back that was taken.
func (s *share) give(caller string) {
	s.taken.Add(-1)
	if caller == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[caller]--; s.of[caller] == 0 {
		delete(s.of, caller)
	}
}
