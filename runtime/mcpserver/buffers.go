package mcpserver

import (
	"sync"
	"time"
)

// buffers bounds the bytes in memory of what comes and goes over HTTP, of all clients and of each caller. Where there
// is no room, it takes that of requests that wait for their clients: those who send, or read, slowest give way.
type buffers struct {
	limit, each int

	mu    sync.Mutex
	held  int
	of    map[string]int     // by caller
	waits map[*hold]struct{} // those who wait for their clients
}

func newBuffers(limit int) *buffers {
	return &buffers{limit: limit, each: limit / 2, of: make(map[string]int), waits: make(map[*hold]struct{})}
}

// uncounted is how many bytes a request may hold beside those that are counted. So most take no lock.
const uncounted = 16 << 10

// hold is what one request holds.
type hold struct {
	buffers *buffers
	caller  string
	counted bool // it holds more than is uncounted, or did

	// Guarded by buffers.mu.
	bytes int
	since time.Time // when it began to wait
	evict func()    // ends the waiting; nil: it does not wait
	lost  bool      // its bytes were given to others
}

// admit has a request hold so many bytes, those that it holds already included.
func (h *hold) admit(bytes int) outcome {
	if bytes <= uncounted && !h.counted {
		return admitted
	}
	h.counted = true
	b := h.buffers
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.lost {
		return takenAway
	}
	more := bytes - h.bytes
	for h.caller != "" && b.of[h.caller]+more > b.each {
		if !b.evict(func(other *hold) bool { return other != h && other.caller == h.caller }) {
			return ownTaken
		}
	}
	for b.held+more > b.limit {
		if !b.evict(func(other *hold) bool { return other != h }) {
			return allTaken
		}
	}
	b.add(h, more)
	return admitted
}

// force has a request hold bytes that are in memory already, whether there is room or not.
func (h *hold) force(bytes int) {
	if h.admit(bytes) == admitted {
		return
	}
	h.buffers.mu.Lock()
	defer h.buffers.mu.Unlock()
	if !h.lost {
		h.buffers.add(h, bytes-h.bytes)
	}
}

// wait notes that the request waits for its client until proceed is called, and how that is ended.
func (h *hold) wait(evict func()) {
	if !h.counted {
		return
	}
	b := h.buffers
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.since, h.evict = time.Now(), evict; h.lost {
		evict()
		return
	}
	b.waits[h] = struct{}{}
}

// proceed ends what wait began. It returns false if the bytes were given to others meanwhile.
func (h *hold) proceed() bool {
	if !h.counted {
		return true
	}
	b := h.buffers
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waits, h)
	h.evict = nil
	return !h.lost
}

// release ends the holding.
func (h *hold) release() {
	if !h.counted {
		return
	}
	b := h.buffers
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waits, h)
	if !h.lost {
		b.add(h, -h.bytes)
	}
	h.counted, h.lost, h.evict = false, false, nil
}

func (b *buffers) add(h *hold, bytes int) {
	h.bytes += bytes
	b.held += bytes
	if h.caller == "" {
		return
	}
	if b.of[h.caller] += bytes; b.of[h.caller] == 0 {
		delete(b.of, h.caller)
	}
}

// evict takes the bytes of one of those who wait, of the caller who holds most the one who waits longest. It returns
// false if none does.
func (b *buffers) evict(eligible func(*hold) bool) bool {
	var victim *hold
	for h := range b.waits {
		if h.bytes == 0 || !eligible(h) {
			continue
		}
		if victim == nil || b.of[h.caller] > b.of[victim.caller] ||
			b.of[h.caller] == b.of[victim.caller] && h.since.Before(victim.since) {
			victim = h
		}
	}
	if victim == nil {
		return false
	}
	b.add(victim, -victim.bytes)
	victim.lost = true
	delete(b.waits, victim)
	victim.evict()
	return true
}
