package aql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Approval is what a handler asks an operator before it goes on.
type Approval struct {
	// Name tells the question from others of the handler, in up to 150 bytes. Default: Message, Reasons and Danger.
	Name string
	// Message is the question, as a text of one line. Nothing in it is a placeholder, unlike in the tag confirm: use
	// fmt.Sprintf, and %q for what others have written, so that the operator sees where it ends. An escape such as \u000a
	// stands in place of a line break and of each character that misleads (words.Printable). The operator is shown all of
	// it, up to 500 bytes with the escapes; a longer one is an error. The caller reads it, too: put nothing sensitive
	// into it.
	Message string
	// Reasons say why the operator is asked: up to 20, as texts like Message.
	Reasons []string
	// Danger is the danger level of what follows. Default: that of the operation.
	Danger gen.Danger
	// Lifetime is how long the operator has, from a minute to 30 days, unless a rule of the policy gives less. Default: 24
	// hours.
	Lifetime time.Duration
}

// Decision is what has become of an Approval. Unless somebody has approved, it is a refusal.
type Decision struct {
	Approved bool      `json:"approved"`
	Expired  bool      `json:"expired,omitempty"` // nobody has decided in time
	Reason   string    `json:"reason,omitempty"`  // empty: none was given; of several approvals, all with semicolons
	By       string    `json:"by,omitempty"`      // who decided; of several approvals, of all with commas between them
	At       time.Time `json:"at,omitzero"`       // when
}

// errNoAsks is the error of a handler that pauses although its operation does not say so.
var errNoAsks = errors.New("run.Ask and run.Wait need asks in the tag of the operation: without it agents are not " +
	"told that it may be paused")

// Ask asks an operator, and returns the decision: it waits in the inbox (see package approve), where agents do not
// reach it. The attempt ends until there is one, so return the error; the handler then runs again from its beginning,
// and Ask returns what was decided. It is kept as the result of a step is: each question is asked once. A Message, a
// reason or a danger level that changes makes another question, unless Name is given.
//
// Where the policy denies the call of the operation by now, nobody is asked, and the error says so to the caller.
//
// The operation needs the tag asks, and the adapter an inbox. Do not ask within a step. A nil *Run asks nobody, and is
// refused.
func (r *Run) Ask(ctx context.Context, a Approval) (Decision, error) {
	if r == nil {
		return Decision{}, nil
	}
	if r.asking == nil {
		return Decision{}, errNoAsks
	}
	text, err := r.asking.ask(ctx, r.run, a)
	if err != nil {
		return Decision{}, err
	}
	var d Decision
	if err := json.Unmarshal(text, &d); err != nil {
		return Decision{}, fmt.Errorf("reading the decision about %q: %w", a.Message, err)
	}
	return d, nil
}

// Wait waits for an answer of the caller who has started the execution, who gives it with answer_execution. It is JSON
// of up to 64 KiB. The attempt ends until there is one, so return the error; the handler then runs again from its
// beginning, and Wait returns the answer. It is kept as the result of a step is. Without an answer for 30 days the
// execution fails.
//
// The operation needs the tag asks. Do not wait within a step. The function Wait returns answers of a type. A nil *Run
// gets null.
func (r *Run) Wait(ctx context.Context, name string) (json.RawMessage, error) {
	return r.wait(ctx, name, askedFor{}, 0)
}

func (r *Run) wait(ctx context.Context, name string, about askedFor, again int) (json.RawMessage, error) {
	if r == nil {
		return json.RawMessage("null"), nil
	}
	if r.asking == nil {
		return nil, errNoAsks
	}
	return r.asking.wait(ctx, r.run, name, about, again)
}

// Wait is Run.Wait for answers of a type. Answers of another JSON type are refused when they are given, and numbers
// that are too large for T; 3.0 is an integer. With one that does not fit T all the same, such as an object with a
// member that a struct does not have, the execution goes on to wait, and waits_for.message says so to its caller. The
// hundredth fails it with VALIDATION_INVALID_TYPE. T is read as encoding/json reads it: members may be missing, and the
// tags aql have no effect. Check the value, and wait for another one by another name.
func Wait[T any](ctx context.Context, run *Run, name string) (T, error) {
	var answer T
	about := awaitedOf(reflect.TypeFor[T]())
	for again := 0; ; again++ {
		text, err := run.wait(ctx, name, about, again)
		if err != nil || run == nil {
			return answer, err
		}
		unfit := readAnswer(text, &answer)
		if unfit == nil {
			return answer, nil
		}
		var zero T
		if answer = zero; again == mostUnfit {
			return answer, invalidType("value", cmp.Or(about.Type, "another value"), kindOfJSON(text), "")
		}
		about.Message = unfitMessage(unfit)
	}
}
