package agents

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// holds returns what holds the agents of a caller. Blocks that people have lifted are over with it. If it fails, every
// request of theirs must.
func (k *Keeper) holds(ctx context.Context, s *settings, w *Who) ([]verify.Hold, error) {
	all, err := s.box.Holds(ctx, w.Caller)
	if err != nil {
		return nil, fmt.Errorf("reading what holds the agents of a caller: %w", err)
	}
	var holds []verify.Hold
	for _, h := range all {
		if h.Block && h.Lifted {
			if err := k.unblocked(ctx, s, w, h); err != nil {
				return nil, err
			}
			continue
		}
		holds = append(holds, h)
	}
	return holds, nil
}

// unblocked records that a block is over, no longer tells agents of it, and then forgets it. Of two requests that find
// it lifted at the same time, both may record it.
func (k *Keeper) unblocked(ctx context.Context, s *settings, w *Who, h verify.Hold) error {
	by := "a challenge that was passed"
	if len(h.By) > 0 {
		names := make([]string, len(h.By))
		for i, person := range h.By {
			names[i] = person.Key()
		}
		by = strings.Join(names, ", ")
	}
	record := k.record(w, audit.AgentUnblocked, audit.Success, "by "+by)
	record.Agent, record.ChallengeID = h.Agent, h.Challenge.String()
	if err := k.o.Write(ctx, record); err != nil {
		return err
	}
	err := k.withdraw(ctx, k.newsOfAll(), func(n *Notification) bool {
		return n.Of == blockOf(w, h.Agent) && !n.At.After(h.LiftedAt) // it may be blocked anew by now
	})
	if err != nil {
		return err
	}
	switch err := s.box.Forget(ctx, h); {
	case errors.Is(err, store.ErrConflict): // another request has done so
		return nil
	case err != nil:
		return err
	}
	return k.publish(ctx, k.newsOf(w), Notification{
		Type: Status, Message: "Agent '" + h.Agent + "' is no longer blocked", At: k.now(),
	})
}

// settle is over with the blocks of all callers that were lifted.
func (k *Keeper) settle(ctx context.Context) error {
	s := k.current.Load()
	lifted, err := s.box.Lifted(ctx)
	if err != nil {
		return fmt.Errorf("reading what was lifted: %w", err)
	}
	for _, h := range lifted {
		if err := k.unblocked(ctx, s, &Who{Caller: h.Caller, Agent: h.Agent}, h); err != nil {
			return err
		}
	}
	return nil
}

// blockOf names the block of an agent.
func blockOf(w *Who, agent string) string { return digestOf(w.Caller.Key(), agent) }

// blocks returns the hold that blocks an agent. Where the loop blocks callers, the block of one agent keeps its caller
// from starting any: an agent chooses its name itself (T-97).
func blocks(s *settings, holds []verify.Hold, agent string, starts bool) *verify.Hold {
	for i := range holds {
		h := &holds[i]
		if h.Block && !h.Lifted && (policy.SameAgent(h.Agent, agent) || starts && s.loop.Block != policy.BlockAgent) {
			return h
		}
	}
	return nil
}

// Blocked fails with a *BlockedError if a request about an agent must be refused because of a block; starts says that
// it would start the agent.
func (k *Keeper) Blocked(ctx context.Context, w Who, starts bool) error {
	s := k.current.Load()
	if s.mode != policy.Enforcing {
		return nil
	}
	holds, err := k.holds(ctx, s, &w)
	if err != nil {
		return err
	}
	if h := blocks(s, holds, w.Agent, starts); h != nil {
		return k.refuse(ctx, &w, h)
	}
	return nil
}

// refuse is the refusal of a request because of a block.
func (k *Keeper) refuse(ctx context.Context, w *Who, h *verify.Hold) *BlockedError {
	if err := k.catchUp(ctx, w, h); err != nil {
		k.o.Logger.LogAttrs(ctx, slog.LevelError, "agents may not have been told of a block",
			slog.String("agent", h.Agent), slog.Any("error", err))
	}
	since := "since " + h.Since.UTC().Format("15:04:05")
	if h.Agent != w.Agent {
		since += ", by agent '" + h.Agent + "' of the same caller"
	}
	return &BlockedError{Hold: *h, Directive: blocked(w, since)}
}

// blocked is the directive of a refusal.
func blocked(w *Who, why string) *Directive {
	return &Directive{
		Execution: w.Execution, Agent: w.Agent, Stopped: true, Reason: "Blocked " + why, Factors: []string{"Blocked " + why},
		Notifications: []Notification{},
	}
}

// block blocks an agent, and tells all agents of it. A block that was lifted meanwhile is over first: this one takes
// its place.
func (k *Keeper) block(ctx context.Context, s *settings, w *Who, reason, rule, hint string) (Notification, error) {
	if _, err := k.holds(ctx, s, w); err != nil {
		return Notification{}, err
	}
	id, err := s.box.Open(ctx, verify.Subject{
		Caller: w.Caller, Agent: w.Agent, Block: true, Reasons: []string{reason}, Says: hint,
	})
	if err != nil {
		return Notification{}, fmt.Errorf("blocking an agent: %w", err)
	}
	return k.announce(ctx, w, w.Agent, id, reason, rule)
}

// announce records that an agent is blocked, and tells all agents of it.
func (k *Keeper) announce(
	ctx context.Context, w *Who, agent string, id verify.ID, reason, rule string,
) (Notification, error) {
	record := k.record(w, audit.AgentBlocked, audit.Success, reason)
	record.Agent, record.Rule, record.ChallengeID = agent, rule, id.String()
	if err := k.o.Write(ctx, record); err != nil {
		return Notification{}, err
	}
	n := Notification{
		Type: DangerZone, Message: "Agent '" + agent + "' is blocked until an operator verifies",
		Level: "danger_zone", Verification: id.String(), At: k.now(), Of: blockOf(w, agent),
	}
	err := k.withdraw(ctx, k.newsOfAll(), func(other *Notification) bool { return other.Of == n.Of })
	if err == nil {
		err = k.publish(ctx, k.newsOfAll(), n)
	}
	return n, err
}

// catchUp announces a block that is not announced: the process that opened it has ended before, or the store has
// failed. One whose notification may have been dropped or forgotten is taken to be announced.
func (k *Keeper) catchUp(ctx context.Context, w *Who, h *verify.Hold) error {
	n, err := k.readNews(ctx, k.newsOfAll())
	if err != nil {
		return err
	}
	dropped := len(n.List) == mostNews && h.Since.Before(n.List[0].At)
	if dropped || k.now().Sub(h.Since) >= forgotten || slices.ContainsFunc(n.List, func(e entry) bool {
		return e.Of == blockOf(w, h.Agent)
	}) {
		return nil
	}
	_, err = k.announce(ctx, w, h.Agent, h.Challenge, strings.Join(h.Reasons, "; "), "")
	return err
}

// record returns a record of an agent.
func (k *Keeper) record(w *Who, event audit.Event, outcome audit.Outcome, reason string) audit.Record {
	return audit.Record{
		Time: k.now(), Event: event, Adapter: k.o.Adapter, Operation: "record_execution_step", Outcome: outcome,
		Reason: reason, Agent: w.Agent, Caller: w.Caller, SessionID: w.Session,
	}
}
