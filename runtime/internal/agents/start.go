package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Operation is the name of the operation whose executions agents are.
const Operation = "execute_agent"

// Check fails where an agent may not be started, whatever a person says: with a *BlockedError, with ErrUnlisted, or
// with a *LimitError.
func (k *Keeper) Check(ctx context.Context, w Who, maxSteps int) error {
	s := k.current.Load()
	if _, listed := s.loop.Agent(w.Agent); s.loop.Block == policy.BlockAgent && !listed {
		return ErrUnlisted
	}
	if most := k.config(s, w.Agent).MaxSteps; maxSteps > most {
		return &LimitError{Most: most}
	}
	return k.Blocked(ctx, w, true)
}

// Start makes an execution of an agent; approved says that a person has approved of it. Where the mode asks one, and
// none has, it fails with ErrUnapproved. params are what people see of it later.
func (k *Keeper) Start(ctx context.Context, w Who, maxSteps int, approved bool, params []byte) (*Directive, error) {
	if err := k.Check(ctx, w, maxSteps); err != nil {
		return nil, err
	}
	settings := k.current.Load()
	if settings.asks() && !approved { // it did not ask when the request was admitted
		return nil, ErrUnapproved
	}
	r, err := k.o.Engine.Start(ctx, execution.Start{
		Operation: Operation, CallerKey: w.Caller.Key(), Caller: w.Encoded, Params: params, Session: w.Session,
		Silence: settings.loop.Silence,
	})
	if err != nil {
		return nil, err
	}
	w.Execution = r.ID
	s := &state{Execution: r.ID, Approved: approved, MaxSteps: maxSteps, key: k.statesOf(&w, true) + r.ID}
	for key, position := range map[string]*uint64{k.newsOfAll(): &s.Read, k.newsOf(&w): &s.ReadOwn} {
		n, err := k.readNews(ctx, key)
		if err != nil {
			return nil, err
		}
		*position = n.Last
	}
	if err := k.put(ctx, s); err != nil {
		return nil, err
	}
	record := k.record(&w, audit.AgentStarted, audit.Allowed, "")
	record.Operation = Operation
	if err := k.o.Write(ctx, record); err != nil {
		return nil, err
	}
	d := &Directive{
		Execution: r.ID, Agent: w.Agent, Continue: true, Notifications: []Notification{},
		Factors: []string{"Report each action before it, with record_execution_step"},
	}
	if settings.asks() {
		c := k.config(settings, w.Agent)
		most := c.MaxSteps
		if maxSteps > 0 {
			most = min(most, maxSteps)
		}
		d.Remaining = &most
		d.Factors = append([]string{"A person has approved of the start"}, d.Factors...)
	} else {
		d.Factors = []string{loop.Evaluate(loop.Config{Mode: settings.mode}, loop.Report{}, loop.History{}).Factors[0]}
	}
	return d, nil
}

// Complete ends the execution of an agent that has done its work.
func (k *Keeper) Complete(ctx context.Context, w Who, outcome loop.Outcome, summary string) (*execution.Record, error) {
	if err := k.Blocked(ctx, w, false); err != nil {
		return nil, err
	}
	s, err := k.find(ctx, &w)
	if err != nil {
		return nil, err
	}
	result, err := json.Marshal(struct {
		Agent   string       `json:"element_name"`
		Steps   int          `json:"steps"`
		Outcome loop.Outcome `json:"outcome,omitempty"`
		Summary string       `json:"summary,omitempty"`
	}{w.Agent, s.Steps, outcome, summary})
	if err != nil {
		return nil, fmt.Errorf("encoding what an agent has done: %w", err)
	}
	r, err := k.o.Engine.Complete(ctx, w.Caller.Key(), s.Execution, result)
	return r, k.ended(ctx, &w, s, "complete_execution", err)
}

// Abort ends the execution of an agent that has not done its work. A block stays.
func (k *Keeper) Abort(ctx context.Context, w Who, reason string) (*execution.Record, error) {
	s, err := k.find(ctx, &w)
	if err != nil {
		return nil, err
	}
	r, err := k.o.Engine.Cancel(ctx, w.Caller.Key(), s.Execution, strings.Clone(reason))
	return r, k.ended(ctx, &w, s, "abort_execution", err)
}

// unapproved ends the execution of an agent that was started while the mode asked nobody, and reports since it does.
func (k *Keeper) unapproved(ctx context.Context, w *Who, s *state) error {
	_, err := k.o.Engine.Cancel(ctx, w.Caller.Key(), s.Execution, ErrUnapproved.Error())
	if err = k.ended(ctx, w, s, "record_execution_step", err); err != nil {
		return err
	}
	return ErrUnapproved
}

// ended forgets an execution that has ended, and records that.
func (k *Keeper) ended(ctx context.Context, w *Who, s *state, operation string, err error) error {
	if err != nil {
		return err
	}
	k.forget(ctx, s)
	w.Execution = s.Execution
	record := k.record(w, audit.AgentEnded, audit.Success, "")
	record.Operation = operation
	return k.o.Write(ctx, record)
}

// Verify passes a challenge of a caller with its code. It fails as verify.Box.Verify does.
func (k *Keeper) Verify(ctx context.Context, w Who, challenge, code string) (verify.Result, error) {
	s := k.current.Load()
	result, err := s.box.Verify(ctx, w.Caller, challenge, code)
	if err != nil {
		return result, err
	}
	if result.Block { // what is lifted is over with, also if this fails: the next request sees to it
		if _, err := k.holds(ctx, s, &w); err != nil {
			k.o.Logger.LogAttrs(ctx, slog.LevelError, "the end of a block is not on record yet", slog.Any("error", err))
		}
	}
	return result, nil
}

// Listed returns the names of the agents that there are, if they are listed.
func (k *Keeper) Listed() []string {
	l := k.current.Load().loop
	if l.Block != policy.BlockAgent {
		return nil
	}
	names := make([]string, len(l.Agents))
	for i := range l.Agents {
		names[i] = l.Agents[i].Name
	}
	return slices.Sorted(slices.Values(names))
}
