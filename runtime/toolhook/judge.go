package toolhook

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// judge reports a tool use to the loop as the next step of the agent, which is started if it does not run.
func (d *Desk) judge(
	ctx context.Context, f Flags, u *use, registry *aql.Registry, options aql.Options, log *slog.Logger,
) answer {
	text := u.text()
	loop, ok := options.Loop.(*aql.Loop)
	switch {
	case f.Agent == "":
		return refusal("-agent does not say which agent it is of; tell the user")
	case !ok:
		log.Error("the program has no safety loop: aql.Options.Loop is nil")
		return d.unavailable()
	case !u.readable(text):
		return refusal("it has too many arguments to be judged; do it in smaller parts")
	}
	operations := slices.Concat(registry.Definitions().Operations, gen.LoopOperations())
	judging, p, err := u.judging(ctx, loop, options.Policy, operations, f.Agent, text)
	if err != nil {
		log.Error("the tool use was not judged in time", slog.Any("error", err))
		return d.unavailable()
	}
	options.Loop, options.Policy = judging, p
	options.Logger = log
	options.Mode = aql.ModeAll
	options.Available = aql.Available{}
	adapter, err := aql.New(registry, options)
	if err != nil {
		log.Error("the adapter cannot be made", slog.Any("error", err))
		return d.unavailable()
	}
	if u.ofLoop(f.Server, adapter) {
		return answer{passes: true}
	}
	session := adapter.NewSession()
	defer session.Close()
	a := &asking{
		desk: d, agent: f.Agent, adapter: adapter, session: session, state: options.State, log: log,
		ctx: aql.WithCaller(ctx, identity.Owner()), // as the MCP server of this program has it on stdio
	}
	return a.step(u.hint(text), u.id)
}

// ofLoop reports whether a tool use is a request to the operations of a safety loop, and nothing else, in one of the
// tools of an adapter in the MCP server that a client knows by this name. Clients put it before the names of tools.
func (u *use) ofLoop(server string, adapter *aql.Adapter) bool {
	named := false
	for _, tool := range adapter.Tools() {
		named = named || u.tool == "mcp__"+server+"__"+tool.Name
	}
	input, _ := u.input.(map[string]any)
	if server == "" || !named {
		return false
	}
	for name, member := range input {
		switch name {
		case "operation", "_request_id":
		case "params":
			if _, isObject := member.(map[string]any); !isObject {
				return false
			}
		default:
			return false
		}
	}
	operation, _ := input["operation"].(string)
	is := func(o gen.Operation) bool { return o.Name == operation }
	return operation == "introspect" || slices.ContainsFunc(gen.LoopOperations(), is)
}

// asking is a conversation with the loop.
type asking struct {
	desk    *Desk
	agent   string
	adapter *aql.Adapter
	session *aql.Session
	state   store.Store
	ctx     context.Context
	log     *slog.Logger
}

// reply is what the loop answers. Reasons and factors of directives may have patterns of the policy in them, which
// would tell the agent how to word things: it is told neither.
type reply struct {
	Success bool
	Data    struct {
		Continue bool
		Stopped  bool
		Reason   string
		Risk     string `json:"nextStepRisk"`
		Approval string `json:"approval_id"`
		Of       string `json:"approval_of"`
	}
	Error struct {
		Code    aql.Code
		Message string
		Details struct {
			Approval  string `json:"approval_id"`
			Challenge string `json:"challenge_id"`
			Reason    string // of a denial
		}
	}
}

// stands reports whether the agent does not run.
func (r *reply) stands() bool { return !r.Success && r.Error.Code == aql.CodeInvalidState }

// call sends a request to the loop.
func (a *asking) call(operation string, params map[string]string, id string) (reply, error) {
	message := map[string]any{"operation": operation, "params": params}
	if id != "" {
		message["_request_id"] = id
	}
	var r reply
	request, err := json.Marshal(message)
	if err != nil {
		return r, fmt.Errorf("encoding a request: %w", err)
	}
	if err := json.Unmarshal(a.session.Call(a.ctx, a.adapter.Tool(operation), request).JSON, &r); err != nil {
		return r, fmt.Errorf("reading what the loop answers: %w", err)
	}
	return r, nil
}

// step reports the next step.
func (a *asking) step(hint, id string) answer {
	params := map[string]string{"element_name": a.agent, "next_action_hint": hint}
	started := reply{Success: true}
	r, err := a.call(gen.RecordExecutionStep, params, id)
	if err == nil && r.stands() {
		err = a.startAlone(func() (err error) {
			if r, err = a.call(gen.RecordExecutionStep, params, id); err != nil || !r.stands() {
				return err
			}
			started, err = a.call(gen.ExecuteAgent, map[string]string{"element_name": a.agent, "goal": goal}, "")
			if err == nil && started.Success {
				r, err = a.call(gen.RecordExecutionStep, params, id)
			}
			return err
		})
	}
	switch {
	case err == nil && !started.Success:
		return a.unstarted(&started)
	case err != nil:
		a.log.Error("the loop cannot be asked", slog.Any("error", err))
		return a.desk.unavailable()
	case !r.Success:
		return a.failed(&r)
	}
	return a.directed(&r)
}

// goal is what people see of an agent that is started by its first tool use.
const goal = "Everything that the agent does with the tools of its client, each tool use being a step"

// waits is the answer to what waits for a person.
func (a *asking) waits(what, item string) answer {
	return a.unapproved("a person has to approve of "+what+" first", item)
}

// unapproved is the answer where an item has to be approved first.
func (a *asking) unapproved(why, item string) answer {
	return refusal("%s, by '%s operator approve %s' with the -state of the hook. Tell the user, and make the same tool "+
		"use again when that is done, without any change", why, a.desk.Program, item)
}

// unstarted is the answer where the agent cannot be started, or not yet.
func (a *asking) unstarted(r *reply) answer {
	start := "the start of agent '" + a.agent + "'"
	item := r.Error.Details.Approval
	why, declined := strings.CutPrefix(r.Error.Details.Reason, startDeclined)
	switch {
	case item != "" && declined:
		return refused(start, strings.TrimPrefix(why, ": "))
	case item != "" && r.Error.Code != aql.CodePermissionDenied: // it waits for a confirmation, or beyond a quota
		return a.waits(start, item)
	}
	return a.failed(r)
}

// startDeclined begins the reason where a person has denied a start.
const startDeclined = "an operator was asked and did not approve"

// refused is the answer to what a person has refused, with the reason that they have given.
func refused(what, because string) answer {
	if because != "" {
		because = ", because: " + because
	}
	return refusal("a person has refused %s%s. Do not try it in another way", what, because)
}

// directed is the answer that a directive is.
func (a *asking) directed(r *reply) answer {
	d := &r.Data
	why, denied := strings.CutPrefix(d.Reason, personRefused)
	switch {
	case d.Continue && !d.Stopped:
		return answer{passes: true}
	case d.Stopped:
		return a.blocked()
	case d.Approval != "":
		return a.held(d.Of, d.Approval)
	case denied:
		told, because := strings.CutPrefix(why, ", because: ")
		if !because {
			told = ""
		}
		return refused("it", told)
	case d.Risk == "verify":
		return refusal("a person has to look at the agent first: %s says at what. Tell the user, and make the same tool use "+
			"again when that is done, without any change", a.list())
	}
	return refusal("the agent waits for a person: %s says for what. Tell the user", a.list())
}

// list is what a person runs to see what waits. The file of the state is nothing for agents.
func (a *asking) list() string {
	return "'" + a.desk.Program + " operator list' with the -state of the hook"
}

// held is the answer where an item waits, which may be about something else.
func (a *asking) held(of, item string) answer {
	switch of {
	case "action":
		return a.waits("it", item)
	case "failure":
		return a.waits("going on after a failure", item)
	case "steps":
		return a.unapproved("the agent has used up its steps. A person has to approve of as many again, whatever they are",
			item)
	}
	return refusal("something else waits for a person first, which the agent has tried before: '%s operator show %s' "+
		"with the -state of the hook says what. Tell the user, and make the same tool use again when that is decided, "+
		"without any change", a.desk.Program, item)
}

// personRefused begins the reason of a directive where a person has refused.
const personRefused = "A person has refused"

func (a *asking) blocked() answer {
	return refusal("agent '%s' is blocked until a person lifts that: %s says why. Stop, do nothing more, and tell the "+
		"user", a.agent, a.list())
}

// failed is the answer where the loop has not judged the step. Messages of failures are written for agents.
func (a *asking) failed(r *reply) answer {
	a.log.Error("the loop has not judged a step",
		slog.String("code", string(r.Error.Code)), slog.String("error", r.Error.Message))
	switch {
	case r.Error.Details.Challenge != "":
		return a.blocked()
	case r.Error.Code == "", strings.HasPrefix(string(r.Error.Code), "INTERNAL_"):
		return a.desk.unavailable()
	case r.Error.Code == aql.CodeRateLimitExceeded && strings.Contains(r.Error.Message, "is busy"):
		return refusal("the state of the loop is busy, so the step was not judged. Make the same tool use again, without " +
			"any change")
	case r.Error.Code == aql.CodeRateLimitExceeded:
		return refusal("the loop was asked too often. Make the same tool use again in a minute, without any change")
	}
	return refusal("%s", strings.TrimSuffix(r.Error.Message, "."))
}
