package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/agents"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
)

// safetyLoop is the execution safety loop of every adapter that has one.
type safetyLoop struct {
	options    *Loop
	executions *executions
	keeper     *agents.Keeper
	operations []string // of the adapter
	log        *slog.Logger
}

func (o *Loop) enclose(registry *Registry, e executing) (*Registry, executing, looping, error) {
	own, ok := e.(*executions)
	if !ok {
		var err error
		if registry, e, err = newExecutions(registry); err != nil {
			return registry, e, nil, err
		}
		own = e.(*executions)
	}
	l := &safetyLoop{options: o, executions: own}
	own.outside = map[string]*execution.Operation{agents.Operation: {Durable: true, Outside: true}}
	types := gen.LoopTypes()
	for _, operation := range gen.LoopOperations() {
		registry = registry.Extend(l.handler(operation.Name), operation, types)
		types = nil
	}
	return registry, e, l, nil
}

func (l *safetyLoop) open(a *Adapter, g *gate.Gate) error {
	l.log = a.log
	for i := range a.definitions.Operations {
		l.operations = append(l.operations, a.definitions.Operations[i].Name)
	}
	l.keeper = agents.New(agents.Options{
		Adapter: a.options.Name, Mode: l.options.Mode, Store: g.Store(), Inbox: g.Inbox(), Engine: l.executions.engine,
		Operations: loop.Operations(a.definitions.Operations), Risks: l.options.Risks, Score: l.options.Score,
		Channels: l.options.Channels, Console: l.options.Console, Audit: a.options.Audit, Logger: a.log, Now: a.options.Now,
		Write: func(ctx context.Context, records ...audit.Record) error { return g.Write(ctx, records...) },
	})
	return nil
}

func (l *safetyLoop) withHolds(inbox approve.Inbox) approve.Inbox { return l.keeper.WithHolds(inbox) }

func (l *safetyLoop) configure(p *policy.Policy, g *gate.Gate) error {
	var of *policy.Loop
	if p != nil {
		mistakes := append(p.ValidateLoop(nil), l.unheardRules(p)...)
		if err := mistakes.Err(); err != nil {
			return fmt.Errorf("policy: %w", err)
		}
		of = p.Loop
	}
	if mode := l.options.Mode; mode != "" && !slices.Contains(policy.LoopModes(), mode) {
		return fmt.Errorf("safety loop: there is no mode %q: it is one of %v", mode, policy.LoopModes())
	}
	if err := l.keeper.Configure(of); err != nil {
		return fmt.Errorf("safety loop: %w", err)
	}
	person := make(map[string]time.Duration)
	if l.keeper.Asks() {
		person[gen.ExecuteAgent] = agentLifetime
	}
	g.Hold(person, unheld)
	return nil
}

// configurable are the elements of the evaluation that a policy sets (MCP-AQL core §8.7.4).
var configurable = []string{"maxAutonomousSteps", "riskTolerance", "deny", "requiresApproval", "autoApprove"}

func (l *safetyLoop) describe(p *describe.Protocol) {
	c := loop.For(l.keeper.Loop(), "")
	p.Capabilities.ExecutionSafetyLoop = string(l.keeper.Mode())
	if !l.keeper.Asks() {
		return
	}
	block, expires := policy.BlockCaller, policy.DefaultChallengeExpires
	if of := l.keeper.Loop(); of.Block != "" {
		block = of.Block
	}
	if of := l.keeper.Loop(); of.ChallengeExpires > 0 {
		expires = of.ChallengeExpires
	}
	p.SafetyLoop = &describe.SafetyLoop{
		MaxSteps: c.MaxSteps, RiskTolerance: string(c.Tolerance), Block: string(block),
		Channel: l.keeper.Strength().String(), ChallengeSeconds: int(expires / time.Second), Configurable: configurable,
	}
}

// who is whose agent a request is about.
func who(ctx context.Context, session, agent, id string) agents.Who {
	return agents.Who{Caller: CallerOf(ctx), Session: session, Agent: agent, Execution: id}
}

func (l *safetyLoop) refuse(ctx context.Context, x *exchange, q *request) *Error {
	if q.operation.definition.Name != gen.ExecuteAgent {
		return nil
	}
	agent, given := q.Value("element_name")
	most, _ := q.Value("max_autonomous_steps")
	var steps int
	_ = json.Unmarshal([]byte(most), &steps) // which the decoder has checked
	w := who(ctx, x.session.ID(), textOfJSON(agent, given), "")
	return l.failed(ctx, x, q, l.keeper.Check(ctx, w, steps))
}

func (l *safetyLoop) asked(q *request) gate.Params {
	if q.operation.definition.Name == gen.ExecuteAgent {
		return startParams{q}
	}
	return nil
}

// startParams are the parameters of a request to start an agent.
type startParams struct{ *request }

func (p startParams) Asked() (message string, params []byte) {
	message, params = p.request.Asked()
	return message, inParts(params)
}

// inParts returns parameters as people are shown them who approve of a start: long ones in parts, so that they see all.
func inParts(params []byte) []byte {
	const whole = 450 // bytes of a value that an item has whole
	r, w := wire.NewReader(string(params), wire.Limits{}), wire.NewWriter(nil)
	w.BeginObject()
	for ok := r.Object(); ok && r.Next(); {
		name, text := r.Name(), r.Raw()
		if len(text) <= whole {
			w.KeyEscaped(name)
			w.Raw(text)
			continue
		}
		if strings.HasPrefix(text, `"`) {
			text, _ = wire.NewReader(text, wire.Limits{}).String()
		}
		parts := make(map[string]string)
		approve.InParts(parts, name, text)
		for _, part := range slices.Sorted(maps.Keys(parts)) {
			w.KeyEscaped(part)
			w.String(parts[part])
		}
	}
	w.EndObject()
	if r.Fault() != nil {
		return params
	}
	return w.Bytes()
}

// failed is the failure that an error of the keeper is, before there is a handler to return it.
func (l *safetyLoop) failed(ctx context.Context, x *exchange, q *request, err error) *Error {
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*Error](l.failure(err, "")); ok {
		x.checkpoint.reject(ctx, q, failed)
		return failed
	}
	failed := x.reporter(q).internal(ctx, err, nil, stateUnavailable)
	x.checkpoint.reject(ctx, q, failed)
	return failed
}

func (l *safetyLoop) waits(ctx context.Context, x *exchange, q *request, refused *gate.Refusal) {
	definition := &q.operation.definition
	if refused.Item == nil || !refused.Opened || definition.Name == gen.ExecuteAgent {
		return
	}
	err := l.keeper.Pending(ctx, who(ctx, x.session.ID(), "", ""), definition.Name, string(definition.Danger), "")
	if err != nil {
		l.log.LogAttrs(ctx, slog.LevelError, "agents are not told that an operation waits", slog.Any("error", err))
	}
}

func (l *safetyLoop) passes(ctx context.Context, x *exchange, q *request) {
	if !x.checkpoint.pass.Confirmed {
		return
	}
	err := l.keeper.Granted(ctx, who(ctx, x.session.ID(), "", ""), q.operation.definition.Name)
	if err != nil {
		l.log.LogAttrs(ctx, slog.LevelError, "agents are told still that an operation waits", slog.Any("error", err))
	}
}

// loopVisit is a request of the loop.
type loopVisit struct {
	session, label string
	params         []byte
	approved       bool // by a person
}

type loopKey struct{}

func (l *safetyLoop) within(ctx context.Context, x *exchange, q *request) context.Context {
	switch q.operation.definition.Name {
	case gen.ExecuteAgent:
		return context.WithValue(ctx, loopKey{}, &loopVisit{
			session: x.session.ID(), params: q.sent(), approved: x.view.gate.Operation(gen.ExecuteAgent).ByPerson(),
		})
	case gen.RecordExecutionStep, gen.CompleteExecution, gen.AbortExecution, gen.VerifyChallenge:
		return context.WithValue(ctx, loopKey{}, &loopVisit{session: x.session.ID(), label: string([]byte(x.message.id))})
	}
	return ctx
}
