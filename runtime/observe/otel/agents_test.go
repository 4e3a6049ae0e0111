package otel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// The spans and metrics of agents in the safety loop, of what people approve, and of executions that fail are those of
// the golden files. What agents, people and handlers say is not among them, but for the name of an agent.
func TestGoldenOfAgents(t *testing.T) {
	w := newWatched(t)
	state := new(store.Memory)
	adapter, err := aql.New(agentService(), aql.Options{
		Name: "parts", Observe: w.hooks, State: state, Loop: &aql.Loop{Channels: []verify.Channel{
			verify.Terminal(verify.OtherUser),
		}},
		Policy: &policy.Policy{Loop: &policy.Loop{LoopLimits: policy.LoopLimits{
			Deny: []string{"rm -rf*"}, AutoApprove: []string{"read_*"},
		}}},
		Confirmation: aql.Confirmation{Inbox: approve.New, HumanOnly: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	go func() { worked <- adapter.Work(ctx) }()
	c := conversation{t: t, session: adapter.NewSession(), people: approve.New(state)}
	box, err := verify.New(verify.Options{Store: state, Adapter: "parts"})
	if err != nil {
		t.Fatal(err)
	}
	c.people = box.Inbox(c.people)

	c.approved("mcp_aql_delete", `{"operation":"drop_part","params":{"id":"`+mark+`"}}`)
	agent := `{"operation":"execute_agent","params":{"element_name":"bot","goal":"` + mark + `"}}`
	c.approved("mcp_aql_execute", agent)
	for _, hint := range []string{"read_file " + mark, "rm -rf /" + mark, "read_file " + mark} {
		c.send(adapter.Tool(gen.RecordExecutionStep), `{"operation":"record_execution_step","params":{"element_name":"bot",`+
			`"nextActionHint":"`+hint+`"}}`)
	}
	c.send(adapter.Tool(gen.VerifyChallenge), `{"operation":"verify_challenge","params":{"challenge_id":"`+
		"00000000-0000-4000-8000-000000000000"+`","code":"`+mark+`"}}`)
	answer := c.send("mcp_aql_execute", `{"operation":"spoil","params":{"id":"`+mark+`","_wait":10}}`)
	if !strings.Contains(answer, `"failed"`) {
		t.Errorf("the execution does not fail: %s", answer)
	}
	stop()
	if err := <-worked; err != nil {
		t.Fatal(err)
	}
	w.golden("agents", c.session.ID(), c.secrets...)
}

// agentService has an operation that people approve, and one that runs in the background and fails.
func agentService() *aql.Registry {
	id := []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}}
	return gen.NewRegistry([]gen.Handler{
		{
			Name: "drop_part", Category: gen.Delete, Danger: gen.Destructive, Params: id, Request: (*request)(nil),
			Result: (*string)(nil), Returns: "Text",
			Call: func(context.Context, []any, any) (any, error) { return mark, nil },
		},
		{
			Name: "spoil", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag, Params: id,
			Request: (*request)(nil), Execution: &gen.Execution{Run: aql.RunFunc(
				func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
					return aql.Step(ctx, run, mark, func(context.Context) (string, error) {
						return "", &aql.Error{Code: "CONFLICT_DUPLICATE", Message: mark + " is there"}
					})
				})},
		},
	}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
}

// conversation is what a caller sends, and people approve.
type conversation struct {
	t       *testing.T
	session *aql.Session
	people  approve.Inbox
	secrets []string // ids of what was approved: whoever has one knows what waits
}

// send sends a request, and returns the answer.
func (c *conversation) send(tool, request string) string {
	ctx := aql.WithCaller(c.t.Context(), aql.Caller{Subject: mark, Issuer: mark})
	ctx = aql.WithTransport(ctx, observe.Transport{Network: "pipe", Protocol: "2025-11-25", RequestID: "7"})
	return string(c.session.Call(ctx, tool, []byte(request)).JSON)
}

// approved sends a request, has it approved, and sends it again.
func (c *conversation) approved(tool, request string) {
	c.t.Helper()
	var held struct {
		Error struct {
			Details struct {
				Approval string `json:"approval_id"`
			}
		}
	}
	answer := c.send(tool, request)
	if err := json.Unmarshal([]byte(answer), &held); err != nil || held.Error.Details.Approval == "" {
		c.t.Fatalf("%s: %v %s", request, err, answer)
	}
	id := held.Error.Details.Approval
	c.secrets = append(c.secrets, id)
	if _, err := c.people.Vote(c.t.Context(), id, approve.Vote{
		By: aql.Caller{Subject: mark, Issuer: "ops"}, Channel: "test", Approve: true, Reason: mark, At: time.Now(),
	}); err != nil {
		c.t.Fatal(err)
	}
	if answer := c.send(tool, request); !strings.Contains(answer, `"success":true`) {
		c.t.Fatal(fmt.Sprint(request, answer))
	}
}
