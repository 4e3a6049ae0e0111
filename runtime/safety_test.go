package aql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/describe/fingerprint"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/schematest"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
	"github.com/google/go-cmp/cmp"
)

// agents is an adapter with a safety loop, and the people who look after it.
type agents struct {
	t       *testing.T
	state   *store.Memory
	options aql.Options
	adapter *aql.Adapter
	session *aql.Session
	inbox   approve.Inbox
	records *recorder
	now     time.Time
}

// recorder keeps the records of an audit log.
type recorder struct{ list []audit.Record }

func (r *recorder) Write(_ context.Context, records []audit.Record) error {
	r.list = append(r.list, records...)
	return nil
}

func (*recorder) Close() error { return nil }

// events are those of records, with the agents that they are about.
func (r *recorder) events() []string {
	var list []string
	for _, record := range r.list {
		if record.Agent != "" {
			list = append(list, string(record.Event)+" "+record.Agent)
		}
	}
	return list
}

// strict is a policy with a pattern of each kind.
func strict() *policy.Policy {
	return &policy.Policy{Loop: &policy.Loop{LoopLimits: policy.LoopLimits{
		MaxSteps: 3, Deny: []string{"rm -rf*"}, RequiresApproval: []string{"deploy*"}, AutoApprove: []string{"read_*"},
	}}}
}

func newAgents(t *testing.T, p *policy.Policy, change func(*aql.Options)) *agents {
	t.Helper()
	a := &agents{t: t, now: time.Date(2026, 11, 22, 0, 16, 0, 0, time.UTC), records: new(recorder)}
	a.state = &store.Memory{Now: func() time.Time { return a.now }}
	a.options = aql.Options{
		Name: "shop", State: a.state, Policy: p, Now: func() time.Time { return a.now },
		Loop:         &aql.Loop{Channels: []verify.Channel{verify.Terminal(verify.OtherUser)}},
		Confirmation: aql.Confirmation{Inbox: approve.New},
		Audit:        audit.New(audit.Options{Sinks: []audit.Sink{a.records}, Wait: true}),
	}
	if change != nil {
		change(&a.options)
	}
	a.restart()
	return a
}

// restart makes the adapter anew, as a process does that starts.
func (a *agents) restart() {
	a.t.Helper()
	var err error
	if a.adapter, err = aql.New(gen.NewRegistry([]gen.Handler{forgetting()}, nil), a.options); err != nil {
		a.t.Fatal(err)
	}
	a.session = a.adapter.NewSession()
	box := a.box()
	a.inbox = box.Inbox(approve.New(a.state))
}

// box is that of the people.
func (a *agents) box() *verify.Box {
	a.t.Helper()
	box, err := verify.New(verify.Options{Store: a.state, Adapter: "shop", Now: func() time.Time { return a.now }})
	if err != nil {
		a.t.Fatal(err)
	}
	return box
}

// agentAnswer is an answer of the loop.
type agentAnswer struct {
	Success bool
	Data    struct {
		ExecutionID    string `json:"execution_id"`
		ElementName    string `json:"element_name"`
		Step           int
		Continue       *bool
		Stopped        bool
		Reason         string
		Factors        []string
		StepsRemaining *int
		NextStepRisk   string
		ApprovalID     string `json:"approval_id"`
		ApprovalOf     string `json:"approval_of"`
		Notifications  []struct {
			Type, Message string
			Metadata      map[string]string
			Timestamp     time.Time
		}
		Status              string
		Result              map[string]any
		Verified, Unblocked bool
	}
	Error struct {
		Code, Message string
		Details       map[string]any
	}
}

// call makes a request of a caller: "operation", and its parameters in JSON.
func (a *agents) call(caller, operation, params string) agentAnswer {
	a.t.Helper()
	return a.send(caller, operation, `{"operation":"`+operation+`","params":`+params+`}`)
}

func (a *agents) send(caller, operation, request string) agentAnswer {
	a.t.Helper()
	ctx := aql.WithCaller(a.t.Context(), aql.Caller{Subject: caller, Issuer: "test"})
	reply := a.session.Call(ctx, a.adapter.Tool(operation), []byte(request))
	var answer agentAnswer
	if err := json.Unmarshal(reply.JSON, &answer); err != nil {
		a.t.Fatalf("%v: %s", err, reply.JSON)
	}
	schematest.Load(a.t, "operation-result", "").Check(a.t, reply.JSON)
	return answer
}

// report reports the next action of an agent.
func (a *agents) report(caller, agent, hint string, more ...string) agentAnswer {
	a.t.Helper()
	params := fmt.Sprintf(`{"element_name":%q,"nextActionHint":%q%s}`, agent, hint, strings.Join(more, ""))
	return a.call(caller, gen.RecordExecutionStep, params)
}

// approve lets an item pass.
func (a *agents) vote(id string, approves bool) {
	a.t.Helper()
	_, err := a.inbox.Vote(a.t.Context(), id, approve.Vote{
		By: aql.Caller{Subject: "olga", Issuer: "ops"}, Channel: "test", Approve: approves, Reason: "I looked", At: a.now,
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// start starts an agent of which a person approves, and returns its execution.
func (a *agents) start(caller, agent string) string {
	a.t.Helper()
	params := `{"element_name":"` + agent + `","goal":"Release it"}`
	asked := a.call(caller, gen.ExecuteAgent, params)
	id, _ := asked.Error.Details["approval_id"].(string)
	if asked.Error.Code != "CONFIRMATION_REQUIRED" || id == "" {
		a.t.Fatalf("starting %s: %+v", agent, asked)
	}
	if again := a.call(caller, gen.ExecuteAgent, params); again.Error.Details["approval_id"] != id {
		a.t.Errorf("starting it again: %+v", again)
	}
	a.vote(id, true)
	started := a.call(caller, gen.ExecuteAgent, params)
	if !started.Success || started.Data.Continue == nil || !*started.Data.Continue {
		a.t.Fatalf("starting %s: %+v", agent, started)
	}
	if again := a.call(caller, gen.ExecuteAgent, params); again.Error.Code != "CONFIRMATION_REQUIRED" {
		a.t.Errorf("the approval is good for another start: %+v", again)
	}
	return started.Data.ExecutionID
}

func (a *agents) goesOn(what string, answer agentAnswer) {
	a.t.Helper()
	if !answer.Success || answer.Data.Continue == nil || !*answer.Data.Continue || answer.Data.Stopped ||
		answer.Data.Factors == nil {
		a.t.Errorf("%s: %+v %+v", what, answer.Error, answer.Data)
	}
}

// pauses expects a directive not to go on, and returns the item that waits.
func (a *agents) pauses(what, reason string, answer agentAnswer) string {
	a.t.Helper()
	d := answer.Data
	if !answer.Success || d.Continue == nil || *d.Continue || d.Stopped || !strings.Contains(d.Reason, reason) ||
		d.Factors == nil {
		a.t.Errorf("%s: %+v %+v", what, answer.Error, d)
	}
	return d.ApprovalID
}

func (a *agents) fails(what, code string, answer agentAnswer) {
	a.t.Helper()
	if answer.Success || answer.Error.Code != code {
		a.t.Errorf("%s: %+v %+v; want %s", what, answer.Error, answer.Data, code)
	}
}

// Who approves of the start of an agent sees all of its goal and of its parameters, however long they are.
func TestPeopleSeeAllOfAStart(t *testing.T) {
	a := newAgents(t, strict(), nil)
	goal := "Tidy the notes. " + strings.Repeat("Be careful: ä < b. ", 45) + "Then delete all \"customers\"."
	params, err := json.Marshal(map[string]any{
		"element_name": "bot", "goal": goal, "max_autonomous_steps": 2,
		"parameters": map[string]any{"notes": []string{strings.Repeat("x", 600), "and the rest"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	asked := a.call("ann", gen.ExecuteAgent, string(params))
	item, err := a.inbox.Get(t.Context(), fmt.Sprint(asked.Error.Details["approval_id"]))
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if err := json.Unmarshal([]byte(item.Params), &shown); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		of, _, _ := strings.Cut(name, " (")
		all[of] += fmt.Sprint(shown[name])
	}
	if diff := cmp.Diff(map[string]string{
		"element_name": "bot", "goal": goal, "max_autonomous_steps": "2",
		"parameters": `{"notes":["` + strings.Repeat("x", 600) + `","and the rest"]}`,
	}, all); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a.vote(item.ID, true)
	a.goesOn("the start", a.call("ann", gen.ExecuteAgent, string(params)))
}

// An agent runs from the approval of its start to its end, step by step (REQ-SL-03, REQ-SL-05, REQ-SL-07, REQ-SL-08).
func TestAgentsRun(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.fails("a report before the start", "CONFLICT_INVALID_STATE", a.report("ann", "bot", "read_file x"))
	id := a.start("ann", "bot")

	step := a.report("ann", "bot", "read_file x")
	a.goesOn("the first step", step)
	if step.Data.Step != 1 || *step.Data.StepsRemaining != 2 || step.Data.ExecutionID != id ||
		step.Data.ElementName != "bot" || step.Data.NextStepRisk != "advisory" {
		t.Errorf("the first step: %+v", step.Data)
	}
	a.fails("a report of another caller", "CONFLICT_INVALID_STATE", a.report("bob", "bot", "read_file x"))
	a.fails("a report of another agent", "NOT_FOUND_RESOURCE",
		a.report("ann", "cat", "read_file x", `,"execution_id":"`+id+`"`))
	a.fails("a report of an execution that never was", "NOT_FOUND_RESOURCE",
		a.report("ann", "bot", "read_file x", `,"execution_id":"exec_none"`))
	a.fails("a hint that nobody sees", "VALIDATION_PATTERN_MISMATCH", a.report("ann", "bot", "\u200b\u2060"))

	second := a.start("ann", "bot")
	a.fails("a report of one of two", "VALIDATION_MISSING_PARAM", a.report("ann", "bot", "read_file x"))
	a.goesOn("a report of the second", a.report("ann", "bot", "read_file x", `,"execution_id":"`+second+`"`))
	aborted := a.call("ann", gen.AbortExecution, `{"element_name":"bot","execution_id":"`+second+`","reason":"enough"}`)
	if aborted.Data.Status != "cancelled" {
		t.Errorf("aborted: %+v", aborted)
	}
	a.fails("a report of one that was aborted", "CONFLICT_INVALID_STATE",
		a.report("ann", "bot", "read_file x", `,"execution_id":"`+second+`"`))

	got := a.call("ann", gen.GetExecution, `{"execution_id":"`+id+`"}`)
	if got.Data.Status != "running" {
		t.Errorf("it is %+v", got)
	}
	done := a.call("ann", gen.CompleteExecution, `{"element_name":"bot","outcome":"success","summary":"Released"}`)
	if diff := cmp.Diff(map[string]any{
		"element_name": "bot", "steps": 1.0, "outcome": "success", "summary": "Released",
	}, done.Data.Result); diff != "" || done.Data.Status != "completed" {
		t.Errorf("%+v (-want +got)\n%s", done, diff)
	}
	a.fails("completing it twice", "CONFLICT_INVALID_STATE",
		a.call("ann", gen.CompleteExecution, `{"element_name":"bot","execution_id":"`+id+`"}`))

	third := a.start("ann", "bot")
	a.goesOn("a report of the third", a.report("ann", "bot", "read_file x"))
	a.now = a.now.Add(31 * time.Minute)
	a.fails("a report after silence", "CONFLICT_INVALID_STATE", a.report("ann", "bot", "read_file x"))
	if got := a.call("ann", gen.GetExecution, `{"execution_id":"`+third+`"}`); got.Data.Status != "failed" {
		t.Errorf("after silence it is %+v", got)
	}
	fourth := a.start("ann", "bot")
	if got := a.call("ann", gen.CancelExecution, `{"execution_id":"`+fourth+`"}`); got.Data.Status != "cancelled" {
		t.Errorf("cancelled: %+v", got)
	}
	a.fails("a report of one that was cancelled", "CONFLICT_INVALID_STATE", a.report("ann", "bot", "read_file x"))
	for _, want := range []string{"AGENT_STARTED bot", "STEP_EVALUATED bot", "AGENT_ENDED bot"} {
		if !slices.Contains(a.records.events(), want) {
			t.Errorf("%s is not on record: %v", want, a.records.events())
		}
	}
}

// What people approve of passes its stage, once (REQ-SL-09, REQ-NT-01, REQ-NT-02, REQ-NT-04, REQ-NT-07).
func TestPauses(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	paused := a.report("ann", "bot", "deploy it")
	item := a.pauses("a pattern", "requires approval", paused)
	if n := paused.Data.Notifications; len(n) != 1 || n[0].Type != "autonomy_pause" || n[0].Metadata["reason"] == "" {
		t.Errorf("its notifications are %+v", n)
	}
	a.pauses("another action meanwhile", "Waits for a person", a.report("ann", "bot", "read_file x"))
	a.vote(item, true)
	a.goesOn("another action then", a.report("ann", "bot", "read_file x"))
	a.goesOn("the action", a.report("ann", "bot", "deploy it"))
	item = a.pauses("the action once more", "requires approval", a.report("ann", "bot", "deploy it"))
	a.vote(item, false)
	refused := a.report("ann", "bot", "deploy it")
	a.pauses("a person refuses", "A person has refused, because: I looked", refused)
	a.pauses("and again", "A person has refused", a.report("ann", "bot", "deploy it"))

	a.goesOn("the third step", a.report("ann", "bot", "read_file x", `,"outcome":"success"`))
	item = a.pauses("the fourth step", "Step limit exceeded", a.report("ann", "bot", "read_file y"))
	a.pauses("its wait", "Waits for a person: Step limit exceeded", a.report("ann", "bot", "read_file z"))
	a.vote(item, true)
	fourth := a.report("ann", "bot", "read_file z")
	a.goesOn("the counter begins anew", fourth)
	if fourth.Data.Step != 4 || *fourth.Data.StepsRemaining != 2 {
		t.Errorf("the fourth step: %+v", fourth.Data)
	}
	const failed = `,"outcome":"failure"`
	item = a.pauses("a failure", "The step before has failed", a.report("ann", "bot", "read_file z", failed))
	a.vote(item, true)
	a.goesOn("after it", a.report("ann", "bot", "read_file z", `,"outcome":"failure"`))
	a.pauses("the next failure", "has failed", a.report("ann", "bot", "read_file z", `,"outcome":"failure"`))
	a.fails("approving of oneself", "PERMISSION_DENIED",
		a.call("ann", gen.ConfirmOperation, `{"operation":"record_execution_step","confirmation_token":"conf_x"}`))
}

// A report whose answer was lost counts once, and one with its id that says something else is another.
func TestRepeatedReports(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	report := func(id, hint string) agentAnswer {
		return a.send("ann", gen.RecordExecutionStep, `{"operation":"record_execution_step","_request_id":"`+id+
			`","params":{"element_name":"bot","next_action_hint":"`+hint+`"}}`)
	}
	first, again := report("r1", "read_file x"), report("r1", "read_file x")
	if diff := cmp.Diff(first.Data, again.Data); diff != "" || first.Data.Step != 1 {
		t.Errorf("the repetition (-first +again)\n%s", diff)
	}
	if other := report("r1", "read_file y"); other.Data.Step != 2 {
		t.Errorf("another action with the same id: %+v", other)
	}
	if next := report("r2", "rm -rf /"); !next.Data.Stopped {
		t.Errorf("a denied one: %+v", next)
	}
	a.fails("the repetition of a report before the block", "PERMISSION_DENIED", report("r1", "read_file y"))
}

// A block stops an agent until a person lifts it, whatever it calls itself, and whatever restarts (REQ-SL-09,
// REQ-AD-10, REQ-NT-06, T-97, T-98, T-99).
func TestBlocks(t *testing.T) {
	var codes []observe.VerificationResult
	a := newAgents(t, strict(), func(o *aql.Options) {
		o.Observe = &observe.Hooks{
			Verification: func(_ context.Context, v observe.Verification) { codes = append(codes, v.Result) },
		}
	})
	a.start("ann", "bot")
	a.start("ann", "other")
	a.start("bob", "bob_bot")
	blocked := a.report("ann", "bot", "now rm -rf /srv")
	d := blocked.Data
	if !d.Stopped || *d.Continue || d.NextStepRisk != "danger_zone" || len(d.Notifications) != 1 {
		t.Fatalf("%+v", d)
	}
	challenge := d.Notifications[0].Metadata["verificationId"]
	if d.Notifications[0].Type != "danger_zone" || len(challenge) != 36 {
		t.Errorf("%+v", d.Notifications)
	}
	for range 2 {
		for what, answer := range map[string]agentAnswer{
			"a report":            a.report("ann", "bot", "read_file x"),
			"a start":             a.call("ann", gen.ExecuteAgent, `{"element_name":"bot"}`),
			"a start by new name": a.call("ann", gen.ExecuteAgent, `{"element_name":"Bot"}`),
			"completing it":       a.call("ann", gen.CompleteExecution, `{"element_name":"bot"}`),
		} {
			a.fails(what, "PERMISSION_DENIED", answer)
			directive, _ := answer.Error.Details["directive"].(map[string]any)
			if directive["continue"] != false || directive["stopped"] != true || directive["factors"] == nil ||
				answer.Error.Details["challenge_id"] != challenge {
				t.Errorf("%s: %+v", what, answer.Error.Details)
			}
		}
		a.restart()
	}
	if waiting, err := a.inbox.List(t.Context()); err != nil || !slices.ContainsFunc(waiting, func(i approve.Item) bool {
		return i.Kind == approve.Block && i.Agent == "bot" && i.Challenge == challenge
	}) {
		t.Errorf("%+v, %v", waiting, err)
	}
	if b, err := a.adapter.Backlog(t.Context()); err != nil || b.Blocked != 1 || b.Approvals <= b.Blocked {
		t.Errorf("what waits is %+v, %v, and not a block among others", b, err)
	}
	for caller, agent := range map[string]string{"ann": "other", "bob": "bob_bot"} {
		told := a.report(caller, agent, "read_file x")
		a.goesOn(agent, told)
		if n := told.Data.Notifications; len(n) != 1 || n[0].Type != "danger_zone" ||
			n[0].Metadata["verificationId"] != challenge {
			t.Errorf("%s is told %+v", agent, n)
		}
	}
	if n := a.report("bob", "bob_bot", "read_file x").Data.Notifications; len(n) != 0 {
		t.Errorf("it is told again: %+v", n)
	}
	a.fails("a wrong code", "PERMISSION_DENIED",
		a.call("ann", gen.VerifyChallenge, `{"challenge_id":"`+challenge+`","code":"0000"}`))
	a.fails("of another caller", "PERMISSION_DENIED",
		a.call("bob", gen.VerifyChallenge, `{"challenge_id":"`+challenge+`","code":"0000"}`))
	replaced := a.report("ann", "bot", "read_file x").Error.Details["challenge_id"].(string)
	if replaced == challenge {
		t.Error("a challenge that was tried is open still")
	}
	if aborted := a.call("ann", gen.AbortExecution, `{"element_name":"bot"}`); aborted.Data.Status != "cancelled" {
		t.Errorf("aborting it: %+v", aborted)
	}
	shown, err := a.box().Show(t.Context(), aql.Caller{Subject: "olga", Issuer: "ops"}, replaced)
	if err != nil {
		t.Fatal(err)
	}
	verified := a.call("ann", gen.VerifyChallenge,
		`{"challenge_id":"`+replaced+`","code":"`+strings.ToLower(shown.Code.Text())+`"}`)
	if !verified.Data.Verified || !verified.Data.Unblocked || verified.Data.ElementName != "bot" {
		t.Fatalf("%+v", verified)
	}
	if want := []observe.VerificationResult{observe.Wrong, observe.Wrong, observe.Verified}; !slices.Equal(codes, want) {
		t.Errorf("hooks are told of the codes %q, want %q", codes, want)
	}
	a.start("ann", "bot")
	a.goesOn("after the block", a.report("ann", "bot", "read_file x"))
	for _, want := range []string{"AGENT_BLOCKED bot", "AGENT_UNBLOCKED bot"} {
		if !slices.Contains(a.records.events(), want) {
			t.Errorf("%s is not on record: %v", want, a.records.events())
		}
	}
}

// The approval of an operator lifts a block, too, and withdraws what was not told yet.
func TestOperatorsLiftBlocks(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	a.start("bob", "bob_bot")
	a.report("ann", "bot", "rm -rf /")
	items, err := a.inbox.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if item.Kind == approve.Block {
			a.vote(item.ID, true)
		}
	}
	a.goesOn("the next action", a.report("ann", "bot", "read_file x"))
	if n := a.report("bob", "bob_bot", "read_file x").Data.Notifications; len(n) != 0 {
		t.Errorf("another agent is told of a block that is over: %+v", n)
	}
	if next := a.report("ann", "bot", "rm -rf /"); !next.Data.Stopped {
		t.Errorf("what is denied stays so: %+v", next)
	}
}

// Agents are told of operations that wait for a person, until they do not (REQ-NT-03).
func TestPendingPermissions(t *testing.T) {
	a := newAgents(t, strict(), func(o *aql.Options) { o.Confirmation.HumanOnly = true })
	a.start("ann", "bot")
	asked := a.call("ann", "forget", `{"id":"x"}`)
	a.fails("what needs a person", "CONFIRMATION_REQUIRED", asked)
	a.call("ann", "forget", `{"id":"x"}`)
	told := a.report("ann", "bot", "read_file x").Data.Notifications
	if len(told) != 1 || told[0].Type != "permission_pending" || told[0].Metadata["operation"] != "forget" ||
		told[0].Metadata["level"] != "destructive" {
		t.Errorf("%+v", told)
	}
	second := a.call("ann", "forget", `{"id":"y"}`).Error.Details["approval_id"].(string)
	a.vote(second, true)
	if ran := a.call("ann", "forget", `{"id":"y"}`); !ran.Success {
		t.Errorf("%+v", ran)
	}
	if told := a.report("ann", "bot", "read_file x").Data.Notifications; len(told) != 0 {
		t.Errorf("what runs is told of: %+v", told)
	}
}

// What agents of a caller are told is forgotten with time, as a caller may be one connection. What comes later is told.
func TestNotificationsAreForgotten(t *testing.T) {
	p := strict()
	p.Loop.Silence, p.Loop.MaxSteps = 24*time.Hour, 9
	a := newAgents(t, p, func(o *aql.Options) { o.Confirmation.HumanOnly = true })
	told := func() int { return len(a.report("ann", "bot", "read_file x").Data.Notifications) }
	kept := func() int {
		t.Helper()
		list, err := a.state.List(t.Context(), "loop/shop/m/", "", 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	a.start("ann", "bot")
	a.call("ann", "forget", `{"id":"x"}`)
	if n := told(); n != 1 || kept() != 1 {
		t.Errorf("told %d, and %d entries are kept", n, kept())
	}
	for range 3 {
		a.now = a.now.Add(23 * time.Hour)
		if n := told(); n != 0 {
			t.Errorf("told again of %d", n)
		}
	}
	if n := kept(); n != 0 {
		t.Errorf("%d entries are kept for two days", n)
	}
	a.call("ann", "forget", `{"id":"y"}`)
	if n := told(); n != 1 {
		t.Errorf("told of %d new ones", n)
	}
}

// With a list of agents, a block stops the one that it is about (T-97).
func TestListedAgents(t *testing.T) {
	p := strict()
	p.Loop.Block, p.Loop.Agents = policy.BlockAgent, []policy.LoopAgent{{Name: "bot"}, {Name: "other"}}
	a := newAgents(t, p, nil)
	a.fails("one that is not listed", "PERMISSION_DENIED", a.call("ann", gen.ExecuteAgent, `{"element_name":"x"}`))
	a.start("ann", "bot")
	a.report("ann", "bot", "rm -rf /")
	a.fails("the one that is blocked", "PERMISSION_DENIED", a.call("ann", gen.ExecuteAgent, `{"element_name":"bot"}`))
	a.start("ann", "other")
}

// An action of the tier verify waits for its challenge, which does not block the agent (REQ-NT-05, REQ-OV-09).
func TestVerifiedActions(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	const action = "sudo apt upgrade"
	held := a.report("ann", "bot", action)
	a.pauses("a risky action", "requires verification", held)
	if n := held.Data.Notifications; len(n) != 1 || n[0].Type != "autonomy_pause" {
		t.Fatalf("%+v", n)
	}
	challenge := held.Data.Notifications[0].Metadata["verificationId"]
	a.pauses("another action meanwhile", challenge, a.report("ann", "bot", "read_file x"))
	a.start("ann", "other")
	shown, err := a.box().Show(t.Context(), aql.Caller{Subject: "olga", Issuer: "ops"}, challenge)
	if err != nil {
		t.Fatal(err)
	}
	verified := a.call("ann", gen.VerifyChallenge, `{"challenge_id":"`+challenge+`","code":"`+shown.Code.Text()+`"}`)
	if !verified.Data.Verified || verified.Data.Unblocked {
		t.Fatalf("%+v", verified)
	}
	a.goesOn("another action then", a.report("ann", "bot", "read_file x"))
	a.goesOn("the action", a.report("ann", "bot", action))
	again := a.report("ann", "bot", action)
	a.pauses("the action once more", "requires verification", again)
	a.now = a.now.Add(6 * time.Minute)
	a.goesOn("another action when the challenge has expired", a.report("ann", "bot", "read_file x"))
}

// In the other modes nothing pauses, and only monitoring asks for the start (REQ-SL-01, REQ-SL-10, T-107).
func TestModes(t *testing.T) {
	for _, mode := range []policy.LoopMode{policy.Monitoring, policy.Logging, policy.Disabled} {
		t.Run(string(mode), func(t *testing.T) {
			p := strict()
			p.Loop.Mode = mode
			a := newAgents(t, p, func(o *aql.Options) { o.Loop = &aql.Loop{} })
			if mode == policy.Monitoring {
				a.start("ann", "bot")
			} else if started := a.call("ann", gen.ExecuteAgent, `{"element_name":"bot"}`); !started.Success {
				t.Fatalf("%+v", started)
			}
			for _, hint := range []string{"rm -rf /", "deploy it", "sudo reboot", "read_file x", "rm -rf /"} {
				answer := a.report("ann", "bot", hint, `,"outcome":"failure"`)
				a.goesOn(hint, answer)
				evaluated := strings.Contains(strings.Join(answer.Data.Factors, "\n"), "Step ")
				if evaluated != (mode == policy.Monitoring) {
					t.Errorf("%s: %q", hint, answer.Data.Factors)
				}
			}
			if !slices.Contains(a.records.events(), "STEP_EVALUATED bot") {
				t.Errorf("nothing is on record: %v", a.records.events())
			}
		})
	}
}

// A policy is followed from the next report on, and one that nobody could carry out is refused.
func TestReloadedLoop(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	a.goesOn("an action", a.report("ann", "bot", "thinking"))
	p := strict()
	p.Loop.Deny = append(p.Loop.Deny, "think*")
	if err := a.adapter.SetPolicy(p); err != nil {
		t.Fatal(err)
	}
	bad := strict()
	bad.Loop.Channel = policy.OtherDevice
	if err := a.adapter.SetPolicy(bad); err == nil || !strings.Contains(err.Error(), "other_device") {
		t.Errorf("a channel that there is not: %v", err)
	}
	if answer := a.report("ann", "bot", "thinking"); !answer.Data.Stopped {
		t.Errorf("%+v", answer)
	}
}

// What an adapter lacks for the loop is a fault when it is made.
func TestLoopFaults(t *testing.T) {
	own := gen.Handler{Name: gen.VerifyChallenge, Category: gen.Create, Danger: gen.Safe, Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) { return nil, nil }}
	channels := []verify.Channel{verify.Terminal(verify.OtherUser)}
	inbox := aql.Confirmation{Inbox: approve.New}
	confirms := func(operations ...string) aql.Options {
		return aql.Options{Loop: &aql.Loop{Channels: channels}, Confirmation: inbox, State: new(store.Memory),
			Policy: &policy.Policy{Rules: []policy.Rule{{
				Name: "two", Effect: policy.Confirm, Operations: operations, Approvers: &policy.Approvers{Count: 2},
			}}}}
	}
	console := &policy.Policy{Loop: &policy.Loop{Console: policy.OtherUser}}
	for name, tt := range map[string]struct {
		handlers []gen.Handler
		options  aql.Options
		want     string
	}{
		"no inbox": {nil, aql.Options{Loop: &aql.Loop{Channels: channels}}, "nowhere to ask"},
		"no channel": {
			nil, aql.Options{Loop: &aql.Loop{Channels: []verify.Channel{}}, Confirmation: inbox}, "no channel shows the codes",
		},
		"a terminal": {nil, aql.Options{Loop: &aql.Loop{}, Confirmation: inbox}, "only at same_user"},
		"a console": {nil, aql.Options{
			Loop: &aql.Loop{Console: true}, Confirmation: inbox, State: new(store.Memory), Policy: console,
		}, ""},
		"a console that nobody serves": {nil, aql.Options{
			Loop: &aql.Loop{}, Confirmation: inbox, State: new(store.Memory), Policy: console,
		}, "only at same_user"},
		"a console of which nothing is said": {
			nil, aql.Options{Loop: &aql.Loop{Console: true}, Confirmation: inbox}, "only at same_user",
		},
		"a mode": {nil, aql.Options{Loop: &aql.Loop{Mode: "on"}, Confirmation: inbox}, "there is no mode \"on\""},
		"a weak one": {
			nil, aql.Options{
				Loop: &aql.Loop{Channels: []verify.Channel{verify.Terminal(verify.SameUser)}}, Confirmation: inbox,
			}, "other_user",
		},
		"no loop": {nil, aql.Options{Policy: strict()}, "it has a loop, and this adapter has no safety loop"},
		"its operation": {
			[]gen.Handler{own}, aql.Options{Loop: &aql.Loop{Channels: channels}, Confirmation: inbox}, gen.VerifyChallenge,
		},
		"a mistake": {nil, aql.Options{
			Loop: &aql.Loop{Channels: channels}, Confirmation: inbox,
			Policy: &policy.Policy{Loop: &policy.Loop{Mode: "enforce"}},
		}, "loop.mode: mode is \"enforce\""},
		"who approves of reports":  {nil, confirms("record_execution_step"), "nobody confirms calls of record_execution"},
		"of some of them":          {nil, confirms("execute_agent", "record_*"), "operations[1]: nobody confirms"},
		"who approves of an agent": {nil, confirms("execute_agent"), ""},
		"who approves of all":      {nil, confirms("*"), ""},
		"of reports and others":    {nil, confirms("*_execution"), ""},
	} {
		tt.options.Name = "shop"
		_, err := aql.New(gen.NewRegistry(tt.handlers, nil), tt.options)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Introspection tells how the loop is set, without its patterns, and what its operations take and return; the
// instructions ask for reports (REQ-SL-02, REQ-SL-04, REQ-SL-06, REQ-SL-11, REQ-AD-09, REQ-PM-06, REQ-PM-10).
func TestLoopIsDescribed(t *testing.T) {
	p := strict()
	p.Loop.Deny = append(p.Loop.Deny, "unmentionable*")
	a := newAgents(t, p, func(o *aql.Options) {
		o.Loop = &aql.Loop{Channels: []verify.Channel{verify.Terminal(verify.OtherDevice)}}
	})
	schema := schematest.Load(t, "introspection-response", "")
	introspect := func(params string) map[string]any {
		t.Helper()
		reply := a.session.Call(t.Context(), a.adapter.Tool("introspect"),
			[]byte(`{"operation":"introspect","params":`+params+`}`))
		schema.Check(t, reply.JSON)
		if strings.Contains(string(reply.JSON), "unmentionable") {
			t.Errorf("it shows a pattern: %s", reply.JSON)
		}
		var answer struct{ Data map[string]any }
		if err := json.Unmarshal(reply.JSON, &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Data
	}
	protocol := introspect(`{"query":"operations"}`)["_protocol"].(map[string]any)
	if mode := protocol["capabilities"].(map[string]any)["execution_safety_loop"]; mode != "enforcing" {
		t.Errorf("the mode is %v", mode)
	}
	if diff := cmp.Diff(map[string]any{
		"max_autonomous_steps": 3.0, "risk_tolerance": "moderate", "block": "caller", "channel": "other_device",
		"challenge_seconds": 300.0,
		"configurable": []any{
			"maxAutonomousSteps", "riskTolerance", "deny", "requiresApproval", "autoApprove",
		},
	}, protocol["safety_loop"]); diff != "" {
		t.Errorf("safety_loop (-want +got)\n%s", diff)
	}
	for _, o := range gen.LoopOperations() {
		details := introspect(`{"query":"operations","name":"` + o.Name + `"}`)["operation"].(map[string]any)
		if details["semantic_category"] != string(o.Category) {
			t.Errorf("%s is %v", o.Name, details["semantic_category"])
		}
		if len(o.Examples) == 0 {
			t.Errorf("%s has no example", o.Name)
		}
		for _, example := range o.Examples {
			request := `{"operation":"` + o.Name + `","params":` + example.Params + `}`
			answer := a.session.Call(t.Context(), a.adapter.Tool(o.Name), []byte(request))
			if strings.Contains(string(answer.JSON), "VALIDATION_") {
				t.Errorf("the example %s is answered by %s", request, answer.JSON)
			}
		}
	}
	for _, o := range gen.LoopTypes() {
		introspect(`{"query":"types","name":"` + o.Name + `"}`)
	}
	if !strings.Contains(a.adapter.Instructions(), "record_execution_step") {
		t.Errorf("instructions: %s", a.adapter.Instructions())
	}
	definitions := gen.Definitions{Operations: []gen.Operation{a.forget()}}
	gen.AddLoop(&definitions)
	if want := fingerprint.Of(&definitions); a.adapter.Fingerprint() != want {
		t.Errorf("an export is of other definitions: %s, want %s", a.adapter.Fingerprint(), want)
	}

	p.Loop.Mode = policy.Disabled
	if err := a.adapter.SetPolicy(p); err != nil {
		t.Fatal(err)
	}
	protocol = introspect(`{"query":"operations"}`)["_protocol"].(map[string]any)
	if mode := protocol["capabilities"].(map[string]any)["execution_safety_loop"]; mode != "disabled" ||
		protocol["safety_loop"] != nil || strings.Contains(a.adapter.Instructions(), "record_execution_step") {
		t.Errorf("switched off it is %v, %v", mode, protocol["safety_loop"])
	}
}

// forget is the operation of the adapter, as it is defined.
func (a *agents) forget() gen.Operation {
	definitions := gen.NewRegistry([]gen.Handler{forgetting()}, nil).Definitions()
	return definitions.Operations[0]
}

// forgetting is an operation that needs a confirmation.
func forgetting() gen.Handler {
	return gen.Handler{
		Name: "forget", Category: gen.Delete, Danger: gen.Destructive, DangerSource: gen.DangerFromTag,
		Params:  []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}},
		Request: (*struct{ ID string })(nil), Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}
}
