package gate

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
)

// mostAsked bounds the questions of a session that can be answered: more than a person answers in the lifetime of a
// token.
const mostAsked = 256

// questions are those that a human was asked on one connection. They are in the memory of this process alone, so that
// neither who reads and writes the store, nor a client on another connection, can answer one of them.
type questions struct {
	mu    sync.Mutex
	asked map[string]*question // by state
	order []string             // states, the oldest first
}

// question is one that a human was asked. A state that was answered is good for nothing, whatever the store says of its
// token.
type question struct {
	token, caller string
	answered      Verdict // Accepted: not yet
	at            time.Time
}

// ask returns the state of a question about a token, which says nothing of the token.
func (q *questions) ask(token string, caller identity.Caller) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	for state, known := range q.asked {
		if known.token == token {
			return state
		}
	}
	if q.asked == nil {
		q.asked = make(map[string]*question)
	}
	if len(q.order) >= mostAsked {
		delete(q.asked, q.order[0])
		q.order = append(q.order[:0], q.order[1:]...)
	}
	state := "ask_" + rand.Text()
	q.asked[state] = &question{token: token, caller: caller.Key()}
	q.order = append(q.order, state)
	return state
}

// of returns the question of a state; ok is false if the caller was not asked it here.
func (q *questions) of(state string, caller identity.Caller) (asked question, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	known := q.asked[state]
	if known == nil || known.caller != caller.Key() {
		return question{}, false
	}
	return *known, true
}

// answer takes note of what became of a question.
func (q *questions) answer(state string, verdict Verdict, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if known := q.asked[state]; known != nil {
		known.answered, known.at = verdict, at
	}
}

// Seal returns a text that stands for a token while a client asks a human, and with which it cannot present the token.
// It counts only in the session that it is made in, and in one of a caller in all sessions of the caller in gates that
// share store and keys.
func (s *Session) Seal(ctx context.Context, token string, caller identity.Caller) (string, error) {
	if s.connected {
		return s.questions.ask(token, caller), nil
	}
	return s.gate.seal(ctx, token, caller)
}

// answered returns the token of a question that was asked and not answered yet, or why there is none.
func (a *admission) answered(ctx context.Context) (token string, refusal *Refusal) {
	if !a.Session.connected {
		token, err := a.gate.unseal(ctx, a.Sealed, a.Caller)
		if err != nil {
			return "", unavailable(err)
		}
		if token != "" {
			return token, nil
		}
	} else if asked, ok := a.Session.questions.of(a.Sealed, a.Caller); ok {
		if asked.answered == Accepted {
			return asked.token, nil
		}
		a.Session.failed(a.now)
		return "", &Refusal{Reason: TokenRefused, Redeemed: Redemption{
			Verdict: asked.answered, ID: TokenID(asked.token), ConsumedAt: asked.at,
		}}
	}
	refusal = a.refuseUnknown()
	refusal.Forged = true
	return "", refusal
}
