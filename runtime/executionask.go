package aql

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/words"
)

// questions is what an attempt asks with.
type questions struct {
	executions *executions
	operation  string
	request    *request
	by         starter
}

// starter is who has started an execution, as its record has it.
type starter struct {
	Caller
	// Session is the connection of an anonymous caller, whom nothing else tells from others; empty: there is none.
	Session string `json:"session,omitempty"`
}

// connection returns starter.Session for what a caller starts.
func (v *executionVisit) connection(who Caller) string {
	if who.Anonymous() {
		return v.gated.Connection()
	}
	return ""
}

// askedFor is what an execution keeps of what it waits for.
type askedFor struct {
	Name     string `json:"name,omitempty"` // to show, where the question has none
	Item     string `json:"item,omitempty"`
	Message  string `json:"message,omitempty"`
	Full     int    `json:"full,omitempty"` // how often there was no room to ask
	Type     string `json:"type,omitempty"` // JSON type of the answer of a caller; empty: any
	Bits     int    `json:"bits,omitempty"` // of a number
	Unsigned bool   `json:"unsigned,omitempty"`
}

func (w *askedFor) text() string {
	text, _ := json.Marshal(w) // it has texts and a number
	return string(text)
}

func askedOf(w *execution.Waiting) askedFor {
	var a askedFor
	_ = json.Unmarshal([]byte(w.About), &a) // of another version: it says nothing
	return a
}

const (
	defaultLifetime  = 24 * time.Hour
	shortestLifetime = time.Minute
	longestLifetime  = 30 * 24 * time.Hour
	// longestQuestion bounds the name of a question: that of its step has some more.
	longestQuestion = 150
	// longestWords bounds the message and each reason of a question as people see them, in bytes, as the inbox bounds what
	// it shows of a parameter. They are shown whole: nobody approves what was cut off.
	longestWords = 500
	mostReasons  = 20
	// longestAnswer bounds the answer of a caller: the result of a step.
	longestAnswer = 64 * kib
)

// ask asks an operator, and returns the decision.
func (a *questions) ask(ctx context.Context, run *execution.Run, approval Approval) ([]byte, error) {
	name := approval.identity()
	approval.show()
	if err := approval.check(); err != nil {
		return nil, err
	}
	lifetime := cmp.Or(approval.Lifetime, defaultLifetime)
	look := func(ctx context.Context, before *execution.Waiting) ([]byte, execution.Waiting, error) {
		var next execution.Waiting
		full := 0
		if before != nil && askedOf(before).Item == "" { // it was not asked yet
			full, before = askedOf(before).Full, nil
		}
		g := a.executions.adapter.view.Load().gate
		bounded, cancel := g.Bound(ctx)
		defer cancel()
		q := a.enquiry(run.ID(), name)
		if before == nil {
			q.Lifetime, q.Params = lifetime, a.request
			q.Danger = cmp.Or(approval.Danger, a.request.operation.definition.Danger)
			q.Message, q.Reasons = approval.Message, approval.Reasons
			item, err := g.Enquire(bounded, q)
			about := askedFor{Item: item.ID, Message: q.Message}
			if approval.Name == "" {
				about.Name = words.Clip(approval.Message, longestQuestion)
			}
			if many := (*approve.TooManyError)(nil); errors.As(err, &many) {
				about.Full = full + 1
				now := a.executions.adapter.options.Now()
				next.Until, next.About = now.Add(untilRoom(full, many.Until.Sub(now))), about.text()
				next.Ref = notAsked
				return nil, next, nil
			} else if denied := (*gate.DeniedError)(nil); errors.As(err, &denied) {
				failed, _ := (&refusal{Refusal: denied.Refusal, request: a.request}).explain()
				return nil, next, failed
			} else if err != nil {
				return nil, next, fmt.Errorf("asking an operator: %w", err)
			}
			next.Until, next.About, next.Ref = item.Expires, about.text(), item.ID
		}
		answer, err := decision(bounded, g, q)
		if before != nil && answer == nil && err == nil { // its time is over
			answer, err = json.Marshal(Decision{Expired: true})
		}
		return answer, next, err
	}
	return run.Await(ctx, execution.FromPerson, name, look)
}

// show spells the words of a question as people see them. A handler may have put into them what an agent, or anybody
// else, has written: it cannot add a line that looks like one of the item.
func (a *Approval) show() {
	a.Message = words.Printable(a.Message)
	a.Reasons = slices.Clone(a.Reasons)
	for i, reason := range a.Reasons {
		a.Reasons[i] = words.Printable(reason)
	}
}

// check returns what is wrong with a question, of which the words are shown.
func (a *Approval) check() error {
	lifetime := cmp.Or(a.Lifetime, defaultLifetime)
	switch {
	case a.Message == "":
		return errors.New("an approval needs a message: what the operator is asked")
	case len(a.Message) > longestWords:
		return fmt.Errorf("the message of an approval has %d bytes; an operator is shown %d: say less, or split the question",
			len(a.Message), longestWords)
	case len(a.Name) > longestQuestion:
		return fmt.Errorf("the name of an approval has %d bytes; it has up to %d", len(a.Name), longestQuestion)
	case len(a.Reasons) > mostReasons:
		return fmt.Errorf("an approval has %d reasons; an operator is shown %d", len(a.Reasons), mostReasons)
	case lifetime < shortestLifetime || lifetime > longestLifetime:
		return fmt.Errorf("an operator cannot have %v to decide: it is %v to %v", lifetime, shortestLifetime,
			longestLifetime)
	case a.Danger != "" && a.Danger.Level() < 0:
		return fmt.Errorf("%q is no danger level", a.Danger)
	}
	for _, reason := range a.Reasons {
		if len(reason) > longestWords {
			return fmt.Errorf("a reason of an approval has %d bytes; an operator is shown %d", len(reason), longestWords)
		}
	}
	return nil
}

// identity is what tells the question from others of the execution: its name, else a digest of all that a person reads
// of it, so that an approval counts for no other words.
func (a *Approval) identity() string {
	if a.Name != "" {
		return a.Name
	}
	parts := append([]string{string(a.Danger), a.Message}, a.Reasons...)
	text := ""
	for _, part := range parts {
		text += fmt.Sprintf("%d:%s", len(part), part)
	}
	digest := sha256.Sum256([]byte(text))
	return "question " + hex.EncodeToString(digest[:])
}

func (a *questions) enquiry(id, name string) *gate.Enquiry {
	g := a.executions.adapter.view.Load().gate
	return &gate.Enquiry{
		Operation: g.Operation(a.operation), Caller: a.by.Caller, Session: a.by.Session, Execution: id, Name: name,
	}
}

// untilRoom is after how long it is worth to ask again, after there was no room for a question so many times. Another
// question expires then, if it is not decided before.
func untilRoom(times int, expires time.Duration) time.Duration {
	const most = 4 // doublings of a minute
	return min(time.Minute<<min(times, most), max(expires, time.Second))
}

// decision returns what was decided about a question; nil: nothing was.
func decision(ctx context.Context, g *gate.Gate, q *gate.Enquiry) ([]byte, error) {
	item, decided, err := g.Decision(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("looking for the decision of an operator: %w", err)
	}
	if !decided {
		return nil, nil
	}
	var d Decision
	switch vote := item.Denial(); {
	case item.State == approve.Used && len(item.Votes) > 0:
		d.Approved = true
		d.give(item.Votes)
	case item.State == approve.Denied && vote != nil:
		d.give([]approve.Vote{*vote})
	default:
		d.Expired = true
	}
	return json.Marshal(d)
}

// give makes the decision that of votes, the last of which has decided.
func (d *Decision) give(votes []approve.Vote) {
	var reasons, people []string
	for i := range votes {
		people = append(people, votes[i].By.Subject)
		if votes[i].Reason != "" {
			reasons = append(reasons, votes[i].Reason)
		}
		d.At = votes[i].At
	}
	d.By, d.Reason = strings.Join(people, ", "), strings.Join(reasons, "; ")
}

// decided returns the decision about the question of a paused execution; nil: there is none yet.
func (e *executions) decided(l *longRunning) func(context.Context, *execution.Record) ([]byte, error) {
	return func(ctx context.Context, r *execution.Record) ([]byte, error) {
		if askedOf(r.Waiting).Item == "" {
			return nil, nil
		}
		a := questions{executions: e, operation: l.Name}
		if err := json.Unmarshal(r.Caller, &a.by); err != nil {
			return nil, fmt.Errorf("reading the caller of an execution: %w", err)
		}
		q := a.enquiry(r.ID, r.Waiting.Name)
		return decision(ctx, e.adapter.view.Load().gate, q)
	}
}

// ended withdraws what an execution has asked that has ended.
func (e *executions) ended(ctx context.Context, r *execution.Record) error {
	if l := e.operations[r.Operation]; l != nil && !l.Lifecycle.Asks {
		return nil
	}
	a := questions{executions: e, operation: r.Operation}
	if json.Unmarshal(r.Caller, &a.by) == nil { // else nobody knows what it has asked, which expires
		return e.adapter.view.Load().gate.Withdraw(ctx, a.enquiry(r.ID, ""), r.Finished)
	}
	return nil
}

// decisions returns a channel that receives when operators may have decided.
func (e *executions) decisions(ctx context.Context) <-chan struct{} {
	if inbox := e.adapter.view.Load().gate.Inbox(); inbox != nil {
		return inbox.Changes(ctx)
	}
	return nil
}

// notAsked is in place of the item of a question for which there was no room: nobody decides about it.
const notAsked = "-"

// undecided returns the items about which operators have not decided.
func (e *executions) undecided(ctx context.Context) (ids []string, err error) {
	inbox := e.adapter.view.Load().gate.Inbox()
	if inbox == nil {
		return nil, nil
	}
	items, err := inbox.List(ctx)
	if unreadable := (*approve.UnreadableError)(nil); err != nil && !errors.As(err, &unreadable) { // those are looked at
		return nil, fmt.Errorf("listing the questions to operators: %w", err)
	}
	ids = append(ids, notAsked)
	now := e.adapter.options.Now()
	for i := range items {
		if items[i].StateAt(now) == approve.Open {
			ids = append(ids, items[i].ID)
		}
	}
	return ids, nil
}

// wait returns the answer of the caller who has started the execution.
func (a *questions) wait(
	ctx context.Context, run *execution.Run, name string, about askedFor, again int,
) ([]byte, error) {
	if name == "" || len(name) > longestQuestion {
		return nil, fmt.Errorf("the name of what is waited for has %d bytes; it has 1 to %d", len(name), longestQuestion)
	}
	look := func(_ context.Context, before *execution.Waiting) ([]byte, execution.Waiting, error) {
		if before != nil { // its time is over
			return nil, *before, fmt.Errorf("the caller has not answered %q for %v", name, longestLifetime)
		}
		until := a.executions.adapter.options.Now().Add(longestLifetime)
		return nil, execution.Waiting{Until: until, About: about.text()}, nil
	}
	return run.AwaitAgain(ctx, execution.FromCaller, name, again, look)
}

// answerWait gives an execution the answer that it waits for.
func (e *executions) answerWait(
	ctx context.Context, v *executionVisit, q *executionRequest,
) (*execution.Record, error) {
	caller, value := CallerOf(ctx).Key(), []byte(q.Value)
	if len(value) == 0 {
		value = []byte("null")
	}
	if len(value) > longestAnswer {
		return nil, tooLarge("answer_size", longestAnswer, len(value), "bytes")
	}
	r, err := e.engine.Get(ctx, caller, q.ID)
	if err != nil {
		return nil, err
	}
	if w := r.Waiting; r.State == execution.Paused && w != nil && w.From == execution.FromCaller && w.Name == q.Name {
		about := askedOf(w)
		read, refused := about.read(v.operations[gen.AnswerExecution], value)
		if refused != nil {
			return nil, refused
		}
		value = read
	}
	return e.engine.Answer(ctx, caller, q.ID, q.Name, value)
}

// notWaiting is the failure of an answer that an execution does not wait for (MCP-AQL core §8.4.2).
func notWaiting(r *execution.Record) *Error {
	message := "Execution '" + r.ID + "' is '" + string(r.State) + "' and does not wait for this answer"
	details := []detail{{"execution_id", r.ID}, {"status", string(r.State)}}
	w := waitsFor(r)
	if w == nil {
		return failure(CodeInvalidState, message, append(details, detail{"allowed_from", []string{"paused"}})...)
	}
	from, hint := "an operator", "An operator decides about it; 'answer_execution' cannot"
	if r.Waiting.From != execution.FromPerson {
		from, hint = "its caller", "Answer with 'name' '"+w.Name+"'"
	}
	return failure(CodeInvalidState, message+", but for '"+w.Name+"' from "+from, details...).
		WithDetail("waits_for", map[string]string{"name": w.Name, "from": w.From}).WithDetail("hint", hint)
}

// waitsFor is what agents see of what a paused execution waits for; nil: it waits for nothing.
func waitsFor(r *execution.Record) *executionWait {
	w := r.Waiting
	if r.State != execution.Paused || w == nil {
		return nil
	}
	about := askedOf(w)
	shown := &executionWait{
		Name: cmp.Or(about.Name, w.Name), From: "caller", Type: about.Type, Message: about.Message,
		Approval: about.Item, Until: &w.Until,
	}
	if w.From == execution.FromPerson {
		shown.From = "operator"
	}
	return shown
}

// executionWait is for what an execution is paused.
type executionWait struct {
	Name, From, Type, Message, Approval string
	Until                               *time.Time
}
