package state

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// deadly is a store that kills its process after one of its calls.
type deadly struct {
	store.Store
	left atomic.Int64 // calls until then; zero: it does not
}

func (d *deadly) count() {
	if d.left.Add(-1) == 0 {
		killMyself()
	}
}

func killMyself() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until it comes
}

func (d *deadly) Get(ctx context.Context, key string) (store.Entry, error) {
	defer d.count()
	return d.Store.Get(ctx, key)
}

func (d *deadly) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	defer d.count()
	return d.Store.Put(ctx, key, value, old, ttl)
}

func (d *deadly) Delete(ctx context.Context, key string, old store.Version) error {
	defer d.count()
	return d.Store.Delete(ctx, key, old)
}

func (d *deadly) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	defer d.count()
	return d.Store.List(ctx, prefix, after, limit)
}

func (d *deadly) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	defer d.count()
	return d.Store.Take(ctx, claims)
}

// loopRequest is a line of the input of a process with a safety loop.
type loopRequest struct {
	Caller, Operation string
	Params            map[string]any
	// Dies kills the process after that many calls of the store; -1: before it tells its answer; 0: not at all.
	Dies int64
}

// loopAnswer is what agents are told.
type loopAnswer struct {
	Success bool
	Data    struct {
		Continue, Stopped, Verified, Unblocked bool
		Notifications                          []struct{ Type string }
	}
	Error struct {
		Code    string
		Details struct {
			Approval  string `json:"approval_id"`
			Challenge string `json:"challenge_id"`
			Directive struct {
				Continue *bool
				Stopped  bool
			}
		}
	}
}

// loopOf is the name of the adapters with a safety loop.
const loopOf = "guarded"

// guard is a process with a safety loop that makes the requests of its input.
func guard(location string) error {
	ctx := context.Background()
	opened, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	state := &deadly{Store: opened}
	adapter, err := aql.New(gen.NewRegistry(nil, nil), aql.Options{
		Name: loopOf, State: state, StateTimeout: patience, Confirmation: aql.Confirmation{Inbox: approve.New},
		Loop: &aql.Loop{Channels: []verify.Channel{verify.Terminal(verify.OtherUser)}},
		Policy: &policy.Policy{Loop: &policy.Loop{
			LoopLimits: policy.LoopLimits{MaxSteps: 500, Deny: []string{"rm -rf*"}, AutoApprove: []string{"read_*"}},
		}},
	})
	if err != nil {
		return err
	}
	session := adapter.NewSession()
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r loopRequest
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return err
		}
		request, err := json.Marshal(map[string]any{"operation": r.Operation, "params": r.Params})
		if err != nil {
			return err
		}
		state.left.Store(max(r.Dies, 0))
		caller := aql.WithCaller(ctx, aql.Caller{Subject: r.Caller, Issuer: "test"})
		reply := session.Call(caller, adapter.Tool(r.Operation), request)
		if r.Dies < 0 {
			killMyself()
		}
		state.left.Store(0)
		fmt.Printf("%s\n", reply.JSON)
	}
	return in.Err()
}

func startGuard(t *testing.T, location string) *process {
	t.Helper()
	p := start(t, "guard", location)
	if got := p.line(t); got != "ready" {
		t.Fatal(got)
	}
	return p
}

// request has a process make a request, and returns the answer; false: the process was killed.
func (p *process) request(t *testing.T, r loopRequest) (a loopAnswer, answered bool) {
	t.Helper()
	line, err := json.Marshal(r)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		t.Fatal(err)
	}
	if !p.out.Scan() {
		return a, false
	}
	if err := json.Unmarshal(p.out.Bytes(), &a); err != nil {
		t.Fatalf("%s: %v", p.out.Text(), err)
	}
	return a, true
}

// guarded are processes with a safety loop on one state, and the people who decide.
type guarded struct {
	*testing.T
	location  string
	inbox     approve.Inbox
	box       *verify.Box
	processes []*process
}

func (g *guarded) ask(p *process, caller, operation string, params map[string]any) loopAnswer {
	g.Helper()
	a, answered := p.request(g.T, loopRequest{Caller: caller, Operation: operation, Params: params})
	if !answered {
		g.Fatalf("%s: a process has ended: %v", operation, p.Wait())
	}
	return a
}

func named(agent string) map[string]any { return map[string]any{"element_name": agent} }

func report(hint string) map[string]any {
	return map[string]any{"element_name": "bot", "nextActionHint": hint}
}

// invented is a code that nobody was shown.
const invented = "00000-00000-00000-00000-00000-0"

func coded(challenge, code string) map[string]any {
	return map[string]any{"challenge_id": challenge, "code": code}
}

// begin starts the agent of a caller, of which a person approves.
func (g *guarded) begin(caller string) {
	g.Helper()
	asked := g.ask(g.processes[0], caller, gen.ExecuteAgent, named("bot"))
	if _, err := g.inbox.Vote(g.Context(), asked.Error.Details.Approval, voteOf("olga")); err != nil {
		g.Fatal(err)
	}
	if started := g.ask(g.processes[1], caller, gen.ExecuteAgent, named("bot")); !started.Data.Continue {
		g.Fatalf("the agent is not started: %+v", started)
	}
}

// blocked reports whether a process knows that the agent of a caller is blocked.
func (g *guarded) blocked(p *process, caller string) bool {
	g.Helper()
	switch a := g.ask(p, caller, gen.RecordExecutionStep, report("read_file x")); {
	case a.Error.Code == "PERMISSION_DENIED":
		return true
	case !a.Data.Continue:
		g.Errorf("%s: a harmless report is answered with %+v", caller, a)
	}
	return false
}

// refuses fails if a process lets an agent that is blocked do anything by which it could go on.
func (g *guarded) refuses(p *process, caller string) {
	g.Helper()
	first := g.ask(p, caller, gen.ExecuteAgent, named("bot")).Error.Details.Challenge
	if first == "" {
		g.Errorf("%s: a refusal names no challenge", caller)
	}
	for what, r := range map[string]loopRequest{
		"a report":              {Operation: gen.RecordExecutionStep, Params: report("read_file x")},
		"a start":               {Operation: gen.ExecuteAgent, Params: named("bot")},
		"a start by a new name": {Operation: gen.ExecuteAgent, Params: named("another")},
		"completing it":         {Operation: gen.CompleteExecution, Params: named("bot")},
	} {
		a := g.ask(p, caller, r.Operation, r.Params)
		d := a.Error.Details
		if a.Success || a.Error.Code != "PERMISSION_DENIED" || d.Challenge != first || !d.Directive.Stopped ||
			d.Directive.Continue == nil || *d.Directive.Continue {
			g.Errorf("%s: %s of one that is blocked: %+v", caller, what, a)
		}
	}
	for what, r := range map[string]loopRequest{
		"confirming it itself": {Operation: gen.ConfirmOperation, Params: map[string]any{
			"operation": gen.RecordExecutionStep, "confirmation_token": "conf_x",
		}},
		"a code that it invents": {Operation: gen.VerifyChallenge, Params: coded(first, invented)},
	} {
		if a := g.ask(p, caller, r.Operation, r.Params); a.Error.Code != "PERMISSION_DENIED" {
			g.Errorf("%s: %s of one that is blocked: %+v", caller, what, a)
		}
	}
}

// told returns of how many blocks the agent of a caller is told that it has not heard of.
func (g *guarded) told(caller string) (blocks int) {
	g.Helper()
	a := g.ask(g.processes[1], caller, gen.RecordExecutionStep, report("read_file x"))
	if !a.Data.Continue {
		g.Errorf("%s does not go on: %+v", caller, a)
	}
	for _, n := range a.Data.Notifications {
		if n.Type == "danger_zone" {
			blocks++
		}
	}
	return blocks
}

// REQ-OV-07, REQ-SL-09, REQ-NT-06, T-97: an agent that reports what is denied is blocked, or was not answered and is
// blocked by its next such report, wherever its process is killed: after each call of the state, and between directive
// and answer.
// Two other processes know the same of it, tell other agents once, and refuse all six operations by which it could go
// on, also after they were killed themselves, until a person lets it go.
func TestBlocksOutliveKilledProcesses(t *testing.T) {
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			location := p.open(t)
			state, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer state.Close()
			box, err := verify.New(verify.Options{Store: state, Adapter: loopOf})
			if err != nil {
				t.Fatal(err)
			}
			survivors := []*process{startGuard(t, location), startGuard(t, location)}
			g := &guarded{t, location, approve.New(state), box, survivors}
			g.begin("bob")
			before := true // those who were killed were not yet blocked
			var last string
			var unblocked, kills int
			for dies := int64(-1); ; dies++ {
				if dies == 0 {
					continue
				}
				caller := fmt.Sprint("ann ", dies)
				g.begin(caller)
				victim := startGuard(t, location)
				answer, answered := victim.request(t, loopRequest{
					Caller: caller, Operation: gen.RecordExecutionStep, Params: report("now rm -rf /srv"), Dies: dies,
				})
				_ = victim.Process.Kill()
				if err := victim.Wait(); err == nil {
					t.Fatal("a process was not killed")
				}
				known := g.blocked(g.processes[0], caller)
				if other := g.blocked(g.processes[1], caller); other != known {
					t.Fatalf("killed at %d: one process knows that it is blocked, %t, and the other one, %t", dies, known, other)
				}
				switch {
				case answered && !answer.Data.Stopped:
					t.Fatalf("what is denied is answered with %+v", answer)
				case (answered || dies < 0) && !known:
					t.Fatalf("killed at %d: the directive is not kept", dies)
				case dies > 0 && !known && !before:
					t.Fatalf("killed at %d: it is blocked no more", dies)
				case !known:
					unblocked++
					if again := g.ask(g.processes[1], caller, gen.RecordExecutionStep, report("rm -rf /")); !again.Data.Stopped {
						t.Fatalf("killed at %d: the next report is answered with %+v", dies, again)
					}
				}
				before = before && (dies < 0 || !known)
				for _, survivor := range g.processes {
					g.refuses(survivor, caller)
				}
				if told := g.told("bob"); told != 1 {
					t.Errorf("killed at %d: another agent is told %d times", dies, told)
				}
				last = caller
				if answered {
					break
				}
				kills++
			}
			t.Logf("%d processes were killed, %d of them before the block", kills, unblocked)
			if unblocked == 0 || unblocked >= kills-1 {
				t.Errorf("of %d processes %d were killed before the block: both must happen", kills, unblocked)
			}
			g.restart()
			for _, survivor := range g.processes {
				g.refuses(survivor, last)
			}
			g.release(last)
			for _, p := range g.processes {
				p.in.Close()
				if err := p.Wait(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// restart kills all processes, and starts others.
func (g *guarded) restart() {
	g.Helper()
	for i, p := range g.processes {
		_ = p.Process.Kill()
		_ = p.Wait() // it was killed
		g.processes[i] = startGuard(g.T, g.location)
	}
}

// release lets the agent of a caller go with the code that a person is shown, and kills all processes between any two
// things that it takes.
func (g *guarded) release(caller string) {
	g.Helper()
	show := func() verify.Shown {
		g.Helper()
		g.restart()
		holds, err := g.box.Holds(g.Context(), aql.Caller{Subject: caller, Issuer: "test"})
		if err != nil || len(holds) != 1 {
			g.Fatalf("it is held by %+v, %v", holds, err)
		}
		olga := aql.Caller{Subject: "olga", Issuer: "ops"}
		shown, err := g.box.Show(g.Context(), olga, holds[0].Challenge.String())
		if err != nil {
			g.Fatal(err)
		}
		g.restart()
		return shown
	}
	passes := func(p *process, caller string, shown verify.Shown) loopAnswer {
		g.Helper()
		return g.ask(p, caller, gen.VerifyChallenge, coded(shown.Challenge.String(), shown.Code.Text()))
	}
	first := show()
	wrong := g.ask(g.processes[0], caller, gen.VerifyChallenge, coded(first.Challenge.String(), invented))
	if wrong.Error.Code != "PERMISSION_DENIED" {
		g.Errorf("a wrong code: %+v", wrong)
	}
	g.restart()
	if a := passes(g.processes[1], caller, first); a.Error.Code != "PERMISSION_DENIED" {
		g.Errorf("the right code after a wrong one: %+v", a)
	}
	second := show()
	if a := passes(g.processes[0], "somebody else", second); a.Error.Code != "PERMISSION_DENIED" {
		g.Errorf("another caller has the code: %+v", a)
	}
	g.restart()
	if a := passes(g.processes[1], caller, second); !a.Data.Verified || !a.Data.Unblocked {
		g.Errorf("the code ends with %+v", a)
	}
	g.restart()
	if a := passes(g.processes[0], caller, second); a.Error.Code != "PERMISSION_DENIED" {
		g.Errorf("the code once more: %+v", a)
	}
	for _, p := range g.processes {
		if g.blocked(p, caller) {
			g.Error("it is blocked still where it was not let go")
		}
	}
}
