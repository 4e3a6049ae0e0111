package aql

import (
	"context"
	"time"
)

// Question is what a human can be asked before an operation runs.
type Question struct {
	Operation   string
	DangerLevel string
	Message     string // in the words of the operation's author, with the values of parameters; may be empty
	Reasons     []string
	Params      string        // a JSON object of the parameters, without sensitive values
	Wait        time.Duration // how long an approval is not accepted yet
	Expires     time.Time

	token string
}

// Answer is what a human has answered to a Question. It goes with the request that was asked about, sent once more.
type Answer struct {
	State    string // what Session.Seal made of the question
	Approved bool
}

type answerKey struct{}

// WithAnswer returns a context in which a request comes with a human's answer. What the request itself presents as a
// confirmation counts nothing then.
func WithAnswer(ctx context.Context, a Answer) context.Context {
	return context.WithValue(ctx, answerKey{}, &a)
}

// Seal makes of a question what a client can carry to and fro while it asks its human: nobody but an adapter with the same
// state can make it, it is good for the same request of the same caller alone, once, until the question expires.
func (s *Session) Seal(ctx context.Context, q *Question) (string, error) {
	return s.adapter.view.Load().gate.Seal(ctx, q.token, CallerOf(ctx))
}
