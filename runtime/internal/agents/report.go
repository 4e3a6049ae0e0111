package agents

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
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
// blocked, with ErrNone, ErrSeveral or a *execution.StateError where no execution of it runs, with ErrUnapproved, which
// ends its execution, and with ErrBusy where others of its reports came at the same time.
func (k *Keeper) Report(ctx context.Context, r Report) (*Directive, error) {
	s := k.current.Load()
	found, err := k.find(ctx, &r.Who)
	if err != nil {
		return nil, err
	}
	r.Execution = found.Execution
	j := &judgement{keeper: k, settings: s, report: &r, action: digestOf(r.Hint), evaluation: rand.Text(), state: found}
	d, err := j.answer(ctx)
	if j.went != nil && (d == nil || d.Evaluation != j.evaluation) {
		j.withdraw(ctx)
	}
	return d, err
}

// answer answers the report, as often as that is in vain because others were faster.
func (j *judgement) answer(ctx context.Context) (*Directive, error) {
	const tries = 12
	for lost := range tries {
		d, err := j.try(ctx)
		if err == nil || !errors.Is(err, store.ErrConflict) {
			return d, err
		}
		if err := giveWay(ctx, lost); err != nil {
			return nil, err
		}
		if j.state, err = j.keeper.find(ctx, &j.report.Who); err != nil {
			return nil, err
		}
	}
	return nil, ErrBusy
}

// giveWay waits for a while that is longer the more often a report has lost to others, so that each of many gets its
// turn.
func giveWay(ctx context.Context, lost int) error {
	timer := time.NewTimer(mathrand.N(10 * time.Millisecond << min(lost, 6)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// judgement is a report on its way to its directive.
type judgement struct {
	keeper   *Keeper
	settings *settings
	report   *Report
	action   string // digest of the hint, to the letter: people decide about what they see
	// evaluation identifies this one in records. A report may be evaluated several times, and of their records the last
	// one counts. went is the directive to go on which that is about; nil: it is none.
	evaluation string
	went       *Directive
	state      *state
	holds      []verify.Hold
	judged     bool // the service has scored the action
	scored     int
	why        []string
	// decided is what people have approved of it, and renewed that one of that is that the counter begins anew.
	decided loop.Approval
	renewed bool
}

// try answers the report from the state that was read last. It fails with store.ErrConflict where another report was
// faster: then nothing that was read before counts.
func (j *judgement) try(ctx context.Context) (*Directive, error) {
	if err := j.readHolds(ctx); err != nil {
		return nil, err
	}
	if j.settings.asks() && !j.state.Approved {
		return nil, j.keeper.unapproved(ctx, &j.report.Who, j.state)
	}
	answer := j.judge
	if j.repeats() {
		answer = j.repeat
	} else if !j.judged {
		j.score(ctx)
		j.judged = true
	}
	d, err := answer(ctx)
	if err == nil && d.Continue { // no agent goes on that was blocked meanwhile
		err = j.readHolds(ctx)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// readHolds reads what holds the agent, after the state, so that no hold is read that the state knows to be over. It
// fails with a *BlockedError if the agent is blocked.
func (j *judgement) readHolds(ctx context.Context) (err error) {
	k, s := j.keeper, j.settings
	if s.mode != policy.Enforcing {
		return nil
	}
	if j.holds, err = k.holds(ctx, s, &j.report.Who); err != nil {
		return err
	}
	if h := blocks(s, j.holds, j.report.Agent, false); h != nil {
		return k.refuse(ctx, &j.report.Who, h)
	}
	return nil
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
	outcome := r.Outcome
	if j.state.Failed { // whatever the agent says later
		outcome = loop.Failed
	}
	return loop.Report{
		Hint: r.Hint, Outcome: outcome, Claimed: r.Risk, Scored: j.scored, Why: j.why, At: j.keeper.now(),
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
	if j.report.Outcome == loop.Failed && j.settings.mode == policy.Enforcing {
		s.Failed = true
	}
	history, err := j.history(ctx)
	if err != nil {
		return nil, err
	}
	d, question, err := j.evaluate(ctx, config, history)
	if err != nil {
		return nil, err
	}
	told := &Directive{
		Evaluation: j.evaluation, Execution: s.Execution, Agent: j.report.Agent, Step: s.Steps,
		Continue: d.Continue, Stopped: d.Stopped, Reason: d.Reason, Factors: d.Factors, Tier: d.Tier,
		Notifications: []Notification{},
	}
	if j.settings.asks() {
		told.Remaining = &d.StepsRemaining
	}
	if d.Continue {
		s.goOn(j.action)
		told.Step = s.Steps
		if s.Recent = append(s.Recent, d.Action); len(s.Recent) > mostRecent {
			s.Recent = s.Recent[1:]
		}
	}
	notification, err := j.hold(ctx, &d, question, told)
	if err != nil {
		return nil, err
	}
	if told.Notifications, err = k.deliver(ctx, &j.report.Who, s); err != nil {
		return nil, err
	}
	if notification != nil {
		told.Notifications = append(told.Notifications, *notification)
	}
	if j.went = nil; d.Continue {
		j.went = told
	}
	if err := k.o.Write(ctx, j.record(&d, told)); err != nil {
		return nil, fmt.Errorf("recording a step: %w", err)
	}
	_, err = k.o.Engine.Hear(ctx, j.report.Caller.Key(), s.Execution, j.settings.loop.Silence, &execution.Progress{
		Current: &s.Steps, Message: cmp.Or(told.Reason, "Going on"),
	})
	if err != nil {
		return nil, err
	}
	s.Answer = &answer{Report: j.report.digest(), Settings: j.settings.digest, At: k.now(), Directive: told}
	return told, k.put(ctx, s) // the last of all that can fail: what people have decided is used up with it
}

// history is what was before the report.
func (j *judgement) history(ctx context.Context) (loop.History, error) {
	k, s := j.keeper, j.state
	h := loop.History{Recent: s.Recent}
	if j.settings.mode != policy.Enforcing {
		h.Number = s.Steps - s.Before + 1
		return h, nil
	}
	for i := range j.holds {
		hold := &j.holds[i]
		switch {
		case hold.Block || hold.Execution != s.Execution:
		case hold.Lifted:
			err := j.keep(ctx, decision{What: loop.VerifiedAction, Of: hold.Action, From: hold.Challenge.String()})
			if err != nil {
				return h, err
			}
		default:
			h.Challenge = hold.Challenge.String()
		}
	}
	if err := j.take(ctx); err != nil {
		return h, err
	}
	if s.Paused != nil {
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
	h.Approved, h.Number = j.approved(), s.Steps-s.Before+1
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
		j.decided = h.Approved
		if d.Continue || d.Needs != loop.NeedsApproval || d.Decided == loop.StageState {
			return d, nil, nil
		}
		q := j.ask(&d)
		item, err := k.o.Inbox.Find(ctx, q)
		if err != nil {
			return d, nil, fmt.Errorf("looking up what people have approved: %w", err)
		}
		if d.Approval == loop.ApprovedAction && item.StateAt(k.now()) != approve.Approved {
			switch denied, err := j.denied(ctx); {
			case err != nil:
				return d, nil, err
			case denied.ID != "":
				item = denied
			}
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
		err = j.keep(ctx, decision{What: d.Approval, Of: j.subject(d.Approval), From: item.ID, Binding: q.Binding})
		if err == nil {
			err = j.take(ctx)
		}
		if err != nil {
			return d, nil, err
		}
		h.Approved, h.Number = j.approved(), s.Steps-s.Before+1
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
			Says: j.report.Hint, Action: j.action,
		})
		if err != nil {
			return nil, fmt.Errorf("holding an agent: %w", err)
		}
		n.Verification = id.String()
		answer.Reason += ": challenge " + id.String()
	case d.Needs == loop.NeedsChallenge:
		return nil, nil // it was told before
	case q != nil:
		if d.Approval == loop.ApprovedAction {
			if err := j.note(ctx); err != nil {
				return nil, err
			}
		}
		item, opened, err := k.o.Inbox.Ask(ctx, *q)
		if err != nil {
			return nil, err
		}
		s.Paused = &pause{Binding: q.Binding, Why: d.Reason, Item: item.ID}
		answer.Approval, answer.ApprovalOf = item.ID, j.about(q.Binding)
		if opened {
			record := k.record(&j.report.Who, audit.ApprovalRequested, audit.Success, d.Reason)
			record.ApprovalID = item.ID
			if err := k.o.Write(ctx, record); err != nil {
				return nil, err
			}
		}
	case s.Paused != nil:
		answer.Approval, answer.ApprovalOf = s.Paused.Item, j.about(s.Paused.Binding)
		return nil, nil // it was told before
	default:
		return nil, nil // a person has refused: nobody is waited for
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
