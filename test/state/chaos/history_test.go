package chaos

import (
	"fmt"
	"sync"
	"time"
)

// verdict is what an answer says about the handler.
type verdict int

const (
	unknown verdict = iota // there is no answer, or it leaves open whether the handler ran
	success
	refused // before it ran
)

func (v verdict) String() string { return [...]string{"unknown", "success", "refused"}[v] }

// answer is what a client learns of an attempt.
type answer struct {
	verdict verdict
	code    string // of the refusal
	detail  string
	token   string // that is given out
	expires time.Time
	state   string // of a question to a person
}

// attempt is one request for one operation on one thing.
type attempt struct {
	name      string // of its call, in the journal; on stdio there is none
	operation string
	id        string
	caller    string
	process   process
	life      int    // of the process
	token     string // that is presented
	state     string // of the question that a person was asked
	approved  bool   // by the person
	revokes   string // the caller whose tokens are revoked
	got       answer

	start, end   int64 // the places of its beginning and its end among all events; end is 0 until then
	began, ended time.Time
}

// process is what the model knows of a process. On stdio a token is good in the life of the process in which it was
// given out: it is that of a session.
type process struct {
	name  string
	stdio bool
	human bool // a person is asked for each confirmation
}

// entry is a line of the journal.
type entry struct {
	Process, Operation, ID, Caller, Attempt string
}

// history is what clients did and learnt.
type history struct {
	mu       sync.Mutex
	events   int64
	calls    int // that have ended
	replies  int // how many of them were answered
	attempts []*attempt
}

// begin adds attempts that are about to be made in one call.
func (h *history) begin(all ...attempt) []*attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events++
	name := fmt.Sprintf("a%d", h.events)
	begun := make([]*attempt, len(all))
	for i, a := range all {
		a.start, a.began = h.events, time.Now()
		if !a.process.stdio {
			a.name = name
		}
		begun[i] = &a
	}
	h.attempts = append(h.attempts, begun...)
	return begun
}

// finish adds the answers to attempts of one call.
func (h *history) finish(begun []*attempt, answers []answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events++
	if answers[0].code != "" || answers[0].verdict == success {
		h.replies++
	}
	h.calls++
	for i, a := range begun {
		a.end, a.ended, a.got = h.events, time.Now(), answers[i]
	}
}

// answered returns how many calls were answered.
func (h *history) answered() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.replies
}

// snapshot returns the attempts as they are now.
func (h *history) snapshot() []*attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	copies := make([]*attempt, len(h.attempts))
	for i, a := range h.attempts {
		c := *a
		copies[i] = &c
	}
	return copies
}
