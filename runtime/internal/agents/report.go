package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Report is what an agent reports (MCP-AQL core §8.6.3).
type Report struct {
	Who
	Hint    string
	Outcome loop.Outcome
	Risk    *float64
	// Request is the id that the client has given the request; empty: none. The same report with the id of the one before
	// is that one, whose answer was lost.
	Request string
}

// digest identifies what is reported.
func (r *Report) digest() string {
	risk := ""
	if r.Risk != nil {
		risk = fmt.Sprint(*r.Risk)
	}
	return digestOf(r.Request, r.Hint, string(r.Outcome), risk)
}

// Report evaluates a report and returns what the agent is told. It fails with a *BlockedError while the agent is
// blocked, with ErrNone, ErrSeveral or a *execution.StateError where no execution of it runs, and with ErrBusy where
// others of its reports came at the same time.
func (k *Keeper) Report(ctx context.Context, r Report) (*Directive, error) {
	s := k.current.Load()
	found, err := k.find(ctx, &r.Who)
	if err != nil {
		return nil, err
	}
	r.Execution = found.Execution
	j := &judgement{keeper: k, settings: s, report: &r}
	if s.mode == policy.Enforcing {
		if j.holds, err = k.holds(ctx, s, &r.Who); err != nil {
			return nil, err
		}
		if h := blocks(s, j.holds, r.Agent, false); h != nil {
			return nil, k.refuse(&r.Who, h)
		}
	}
	if r.Request != "" && found.Answered == r.digest() && found.Answer != nil {
		return found.Answer, nil
	}
	j.score(ctx)
	const tries = 5
	for range tries {
		j.state = found
		d, err := j.judge(ctx)
		if err == nil || !errors.Is(err, store.ErrConflict) {
			return d, err
		}
		if found, err = k.find(ctx, &r.Who); err != nil {
			return nil, err
		}
	}
	return nil, ErrBusy
}

// judgement is a report on its way to its directive.
type judgement struct {
	keeper   *Keeper
	settings *settings
	report   *Report
	state    *state
	holds    []verify.Hold
	scored   int
	why      []string
	// approved is what people have approved, also where the state was changed meanwhile: their approvals are used up.
	approved loop.Approval
}

// score has the service score the action. A score that it fails to give is the highest.
func (j *judgement) score(ctx context.Context) {
	k := j.keeper
	if k.o.Score == nil || !j.settings.asks() {
		return
	}
	score, why, err := k.o.Score(ctx, j.report.Agent, j.input())
	if err != nil {
		k.o.Logger.LogAttrs(ctx, slog.LevelError, "an action could not be scored, so that it has the highest risk",
			slog.String("agent", j.report.Agent), slog.Any("error", err))
		score, why = 100, []string{"The service could not score it"}
	}
	j.scored, j.why = score, why
}

func (j *judgement) input() loop.Report {
	r := j.report
	return loop.Report{
		Hint: r.Hint, Outcome: r.Outcome, Claimed: r.Risk, Scored: j.scored, Why: j.why, At: j.keeper.now(),
	}
}

// judge evaluates the report, does what comes of that, and keeps it. It fails with store.ErrConflict where another
// report was faster.
func (j *judgement) judge(ctx context.Context) (*Directive, error) {
	k, s := j.keeper, j.state
	config := k.config(j.settings, j.report.Agent)
	if s.MaxSteps > 0 {
		config.MaxSteps = min(config.MaxSteps, s.MaxSteps)
	}
	history, err := j.history(ctx)
	if err != nil {
		return nil, err
	}
	d, question, err := j.evaluate(ctx, config, history)
	if err != nil {
		return nil, err
	}
	answer := &Directive{
		Execution: s.Execution, Agent: j.report.Agent, Step: s.Steps, Continue: d.Continue, Stopped: d.Stopped,
		Reason: d.Reason, Factors: d.Factors, Tier: d.Tier, Notifications: []Notification{},
	}
	if j.settings.asks() {
		answer.Remaining = &d.StepsRemaining
	}
	if d.Continue {
		s.Steps++
		answer.Step = s.Steps
		if s.Recent = append(s.Recent, d.Action); len(s.Recent) > mostRecent {
			s.Recent = s.Recent[1:]
		}
	}
	if s.Verified == d.Action.Digest && d.Continue {
		s.Verified = "" // an action is let go on once
	}
	notification, err := j.hold(ctx, &d, question, answer)
	if err != nil {
		return nil, err
	}
	if answer.Notifications, err = k.deliver(ctx, &j.report.Who, s); err != nil {
		return nil, err
	}
	if notification != nil {
		answer.Notifications = append(answer.Notifications, *notification)
	}
	if err := k.o.Write(ctx, j.record(&d, answer)); err != nil {
		return nil, fmt.Errorf("recording a step: %w", err)
	}
	s.Answered, s.Answer = j.report.digest(), answer
	if err := k.put(ctx, s); err != nil {
		return nil, err
	}
	_, err = k.o.Engine.Hear(ctx, j.report.Caller.Key(), s.Execution, j.settings.loop.Silence, &execution.Progress{
		Current: &s.Steps, Message: cmp.Or(answer.Reason, "Going on"),
	})
	return answer, err
}

// history is what was before the report.
func (j *judgement) history(ctx context.Context) (loop.History, error) {
	k, s := j.keeper, j.state
	h := loop.History{Recent: s.Recent}
	for i := range j.holds {
		hold := &j.holds[i]
		switch {
		case hold.Block || hold.Execution != s.Execution:
		case hold.Lifted:
			switch err := j.settings.box.Forget(ctx, *hold); {
			case err == nil:
				s.Verified, s.Held = s.Held, ""
			case !errors.Is(err, store.ErrConflict):
				return h, err
			}
			hold.Execution = "" // it is looked at once
		default:
			h.Challenge = hold.Challenge.String()
		}
	}
	if s.Verified != "" && s.Verified == loop.Digest(j.report.Hint) {
		h.Approved |= loop.VerifiedAction
	}
	if s.Paused != nil && j.settings.mode == policy.Enforcing {
		item, err := k.o.Inbox.Find(ctx, j.question(s.Paused.Binding))
		switch {
		case err != nil:
			return h, fmt.Errorf("looking up what an agent waits for: %w", err)
		case item.ID != "" && item.StateAt(k.now()) == approve.Open:
			h.Paused = s.Paused.Why
		default:
			s.Paused = nil
		}
	}
	h.Approved |= j.approved
	if j.approved&loop.ApprovedSteps != 0 {
		s.Before = s.Steps
	}
	h.Number = s.Steps - s.Before + 1
	return h, nil
}

// evaluate evaluates the report, and again with each approval that there is for what it was paused at. Where it is
// paused for the want of one, it returns the question to ask.
func (j *judgement) evaluate(
	ctx context.Context, config loop.Config, h loop.History,
) (loop.Directive, *approve.Question, error) {
	k, s := j.keeper, j.state
	for {
		d := loop.Evaluate(config, j.input(), h)
		if d.Continue || d.Needs != loop.NeedsApproval || d.Decided == loop.StageState {
			return d, nil, nil
		}
		q := j.ask(&d)
		item, err := k.o.Inbox.Find(ctx, q)
		if err != nil {
			return d, nil, fmt.Errorf("looking up what people have approved: %w", err)
		}
		switch {
		case item.ID == "":
			return d, &q, nil
		case item.StateAt(k.now()) == approve.Denied:
			d.Reason = "A person has refused: " + d.Reason
			if vote := item.Denial(); vote != nil && vote.Reason != "" {
				d.Reason = "A person has refused, because: " + vote.Reason
			}
			d.Factors = append(d.Factors, "A person has refused it")
			return d, nil, nil
		case item.StateAt(k.now()) != approve.Approved:
			return d, &q, nil
		}
		switch err := k.o.Inbox.Use(ctx, item, k.now()); {
		case errors.Is(err, approve.ErrNotApproved):
			return d, &q, nil
		case err != nil:
			return d, nil, fmt.Errorf("using an approval: %w", err)
		}
		if err := k.o.Write(ctx, j.used(&item)); err != nil {
			return d, nil, err
		}
		j.approved |= d.Approval
		h.Approved |= d.Approval
		if d.Approval == loop.ApprovedSteps {
			s.Before = s.Steps
			h.Number = 1
		}
	}
}

// hold does what a directive that does not let the agent go on leaves to be done: it asks people, or has the agent held
// until one has looked. It returns what the agent is told of it.
func (j *judgement) hold(
	ctx context.Context, d *loop.Directive, q *approve.Question, answer *Directive,
) (*Notification, error) {
	k, s := j.keeper, j.state
	if d.Continue {
		return nil, nil
	}
	n := &Notification{
		Type: AutonomyPause, Message: "Agent '" + j.report.Agent + "' waits for a person", Reason: d.Reason,
		Level: string(d.Tier), At: k.now(),
	}
	switch {
	case d.Needs == loop.NeedsUnblock && d.Decided != loop.StageState:
		made, err := k.block(ctx, j.settings, &j.report.Who, d.Reason, d.Rule, j.report.Hint)
		if err != nil {
			return nil, err
		}
		return nil, j.passOver(ctx, &made, answer)
	case d.Needs == loop.NeedsChallenge && d.Decided != loop.StageState:
		id, err := j.settings.box.Open(ctx, verify.Subject{
			Caller: j.report.Caller, Agent: j.report.Agent, Execution: s.Execution, Reasons: []string{d.Reason},
			Says: j.report.Hint,
		})
		if err != nil {
			return nil, fmt.Errorf("holding an agent: %w", err)
		}
		s.Held, n.Verification = d.Action.Digest, id.String()
		answer.Reason += ": challenge " + id.String()
	case d.Needs == loop.NeedsChallenge:
		return nil, nil // it was told before
	case q != nil:
		item, opened, err := k.o.Inbox.Ask(ctx, *q)
		if err != nil {
			return nil, err
		}
		s.Paused = &pause{Binding: q.Binding, Why: d.Reason, Item: item.ID}
		answer.Approval = item.ID
		if opened {
			record := k.record(&j.report.Who, audit.ApprovalRequested, audit.Success, d.Reason)
			record.ApprovalID = item.ID
			if err := k.o.Write(ctx, record); err != nil {
				return nil, err
			}
		}
	case s.Paused != nil:
		answer.Approval = s.Paused.Item
		return nil, nil // it was told before
	}
	return n, nil
}

// passOver sees that the agent is told of its own block with this directive, whatever is dropped.
func (j *judgement) passOver(ctx context.Context, n *Notification, answer *Directive) error {
	all, err := j.keeper.readNews(ctx, j.keeper.newsOfAll())
	if err != nil {
		return err
	}
	for _, e := range all.List {
		if e.Number > j.state.Read && e.Of == n.Of && e.Verification == n.Verification {
			return nil // it is delivered with the others
		}
	}
	answer.Notifications = append(answer.Notifications, *n)
	return nil
}

// question is the part of a question by which the inbox finds its item.
func (j *judgement) question(b approve.Binding) approve.Question {
	q := approve.Question{
		Binding: b, Kind: approve.Step, Caller: j.report.Caller, Lifetime: stepLifetime, At: j.keeper.now(),
	}
	if j.report.Caller.Anonymous() {
		q.Session = j.report.Session
	}
	return q
}

// ask is the question that a person is asked about a directive.
func (j *judgement) ask(d *loop.Directive) approve.Question {
	k, s := j.keeper, j.state
	about := map[loop.Approval]string{
		loop.ApprovedSteps:   fmt.Sprintf("steps %d", s.Before),
		loop.ApprovedFailure: fmt.Sprintf("failure %d", s.Steps),
		loop.ApprovedAction:  "action " + d.Action.Digest,
	}[d.Approval]
	w := &j.report.Who
	q := j.question(bindingOf(k.o.Adapter, w.Caller.Key(), anonymous(w), w.Agent, s.Execution, about))
	q.Adapter, q.Operation, q.Danger, q.Rule = k.o.Adapter, "record_execution_step", gen.Reversible, d.Rule
	q.Message = "Agent '" + j.report.Agent + "': " + d.Reason + ". May it go on?"
	q.Reasons, q.Params = d.Factors, said(j.report.Agent, s.Execution, j.report.Hint)
	return q
}

// said is what people are shown of what an agent says. A long hint is shown in parts, so that they see all of it.
func said(agent, execution, hint string) string {
	params := map[string]string{"element_name": agent, "execution_id": execution}
	const width = 450
	name := "next_action_hint"
	for i := 2; ; i++ {
		part := hint
		if len(part) > width {
			part = part[:width]
			for !utf8.RuneStart(hint[len(part)]) {
				part = part[:len(part)-1]
			}
		}
		params[name], hint = part, hint[len(part):]
		if hint == "" {
			break
		}
		name = fmt.Sprintf("next_action_hint (%02d)", i) // in the order of names
	}
	text, err := json.Marshal(params)
	if err != nil { // which texts cannot fail to be
		return "{}"
	}
	return string(text)
}
