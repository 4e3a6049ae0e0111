package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// human is the user of a client: the answers, and the questions so far.
type human struct {
	answer func(*mcp.ElicitParams) *mcp.ElicitResult
	asked  atomic.Int32
	last   atomic.Value
}

func (h *human) connect(t *testing.T, transport mcp.Transport, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			h.asked.Add(1)
			h.last.Store(request.Params.Message)
			return h.answer(request.Params), nil
		},
	})
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func approves(*mcp.ElicitParams) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}
}

// eras opens a connection for each protocol era and transport.
func eras(t *testing.T, server *Server, h *human) map[string]func() *mcp.ClientSession {
	web := httpServer(t, server)
	overHTTP := func(version string) func() *mcp.ClientSession {
		return func() *mcp.ClientSession {
			return h.connect(t, &mcp.StreamableClientTransport{Endpoint: web.URL}, version)
		}
	}
	inMemory := func(version string) func() *mcp.ClientSession {
		return func() *mcp.ClientSession {
			serverSide, clientSide := mcp.NewInMemoryTransports()
			go server.Run(t.Context(), serverSide)
			return h.connect(t, clientSide, version)
		}
	}
	overStdio := func(version string) func() *mcp.ClientSession {
		return func() *mcp.ClientSession {
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			go server.RunStdio(t.Context(), in, out)
			return h.connect(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, version)
		}
	}
	return map[string]func() *mcp.ClientSession{
		"stdio, sessionless protocol": overStdio(""), "stdio, 2025-11-25": overStdio("2025-11-25"),
		"in memory, sessionless protocol": inMemory(""), "in memory, 2025-11-25": inMemory("2025-11-25"),
		"in memory, 2025-06-18":      inMemory("2025-06-18"),
		"HTTP, sessionless protocol": overHTTP(""), "HTTP, 2025-11-25": overHTTP("2025-11-25"),
	}
}

const deleteX = `{"operation":"delete_thing","params":{"id":"x"}}`

// The client asks its user in the same call, with every protocol version, and the answer counts.
func TestElicitation(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(*mcp.ElicitParams) *mcp.ElicitResult
		want   string
	}{
		"approves": {approves, `"data":"deleted x"`},
		"does not": {func(*mcp.ElicitParams) *mcp.ElicitResult {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": false}}
		}, "the user was asked and did not approve"},
		"declines": {
			func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "decline"} },
			"the user was asked and did not approve",
		},
		"leaves": {
			func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "cancel"} },
			"the user was asked and did not approve",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &human{answer: tt.answer}
			for era, open := range eras(t, newServer(t, Options{Elicit: true}, nil), h) {
				before := h.asked.Load()
				text, _ := call(t, open(), "mcp_aql_delete", deleteX)
				if !strings.Contains(text, tt.want) || h.asked.Load() != before+1 || strings.Contains(text, "conf_") {
					t.Errorf("%s: asked %d times, got %s", era, h.asked.Load()-before, text)
				}
				want := "The agent wants to run operation 'delete_thing' (danger: destructive).\nParameters: {\"id\":\"x\"}"
				if got := h.last.Load(); got != want {
					t.Errorf("%s: asked %q, want %q", era, got, want)
				}
			}
		})
	}
}

// A client that cannot ask gets a token, or none if HumanOnly is set. A safe operation needs no confirmation.
func TestElicitationWithoutAHuman(t *testing.T) {
	server := newServer(t, Options{Elicit: true}, nil)
	if text, _ := call(
		t, inMemory(t, server, ""), "mcp_aql_delete", deleteX,
	); !strings.Contains(text, `"confirmation_token":"conf_`) {
		t.Errorf("a client that cannot ask: %s", text)
	}
	h := &human{answer: approves}
	for era, open := range eras(t, server, h) {
		if text, _ := call(t, open(), "mcp_aql_read", `{"operation":"get_thing"}`); !strings.Contains(text, "got") ||
			h.asked.Load() > 0 {
			t.Errorf("%s: %s", era, text)
		}
	}
	strict := newServerOf(t, aql.Options{Confirmation: aql.Confirmation{HumanOnly: true}}, Options{Elicit: true}, nil)
	for _, request := range []string{
		deleteX, `{"operations":[` + deleteX + `]}`,
		`{"operation":"delete_thing","_confirmation":"conf_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`,
	} {
		text, _ := call(t, inMemory(t, strict, ""), "mcp_aql_delete", request)
		if strings.Contains(text, `"confirmation_token"`) || strings.Contains(text, "deleted") {
			t.Errorf("where only humans count: %s", text)
		}
	}
	for era, open := range eras(t, strict, h) {
		if text, _ := call(t, open(), "mcp_aql_delete", deleteX); !strings.Contains(text, "deleted x") {
			t.Errorf("%s: %s", era, text)
		}
	}
}

// noon is a clock that no quota of a day resets by: one that runs may pass midnight between two calls.
func noon() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) }

// The user is asked whether to continue after the pause of a quota, and then about the operation.
func TestElicitationBeyondAPause(t *testing.T) {
	for name := range eras(t, newServer(t, Options{}, nil), nil) {
		server := newServerOf(t, aql.Options{
			Now:          noon,
			Confirmation: aql.Confirmation{HumanOnly: true},
			Quota:        quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}}},
		}, Options{Elicit: true}, nil)
		h := &human{answer: approves}
		session := eras(t, server, h)[name]()
		call(t, session, "mcp_aql_read", `{"operation":"get_thing"}`)
		if text, _ := call(t, session, "mcp_aql_read", `{"operation":"get_thing"}`); !strings.Contains(text, "got") ||
			h.asked.Load() != 1 {
			t.Errorf("%s: asked %d times, got %s", name, h.asked.Load(), text)
		}
		if message := h.last.Load().(string); !strings.HasPrefix(
			message, "Quota requests_per_day of ",
		) || !strings.Contains(message, "A call of operation 'get_thing' met the pause") {
			t.Errorf("%s: asked %q", name, message)
		}
		if text, _ := call(t, session, "mcp_aql_delete", deleteX); !strings.Contains(text, "deleted") || h.asked.Load() != 2 {
			t.Errorf("%s: asked %d times, got %s", name, h.asked.Load(), text)
		}
		silent, _ := call(t, inMemory(t, newServerOf(t, aql.Options{
			Now:          noon,
			Confirmation: aql.Confirmation{HumanOnly: true},
			Quota:        quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1, Shared: true}}},
		}, Options{}, nil), ""), "mcp_aql_read", `{"operations":[{"operation":"get_thing"},{"operation":"get_thing"}]}`)
		if !strings.Contains(silent, "RATE_LIMIT_QUOTA_PAUSE") || strings.Contains(silent, "quota_continue_") {
			t.Errorf("without a human: %s", silent)
		}
	}
}

// Two questions in one call: the first protocols have one round alone, and say so.
func TestTwoQuestions(t *testing.T) {
	h := &human{answer: approves}
	options := aql.Options{
		Now: noon, Quota: quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}}},
	}
	for name := range eras(t, newServer(t, Options{}, nil), h) {
		session := eras(t, newServerOf(t, options, Options{Elicit: true}, nil), h)[name]()
		call(t, session, "mcp_aql_read", `{"operation":"get_thing"}`)
		before := h.asked.Load()
		text, _ := call(t, session, "mcp_aql_delete", deleteX)
		modern := strings.Contains(name, "sessionless")
		if modern && (!strings.Contains(text, "deleted") || h.asked.Load() != before+2) || !modern &&
			!strings.Contains(text, "CONFIRMATION_REQUIRED") {
			t.Errorf("%s: asked %d times, got %s", name, h.asked.Load()-before, text)
		}
	}
}

// An approval comes before its cooldown has passed: it counts when it has.
func TestElicitationWithCooldown(t *testing.T) {
	server := newServerOf(
		t,
		aql.Options{
			Confirmation: aql.Confirmation{Cooldown: map[gen.Danger]time.Duration{gen.Destructive: 300 * time.Millisecond}},
		},
		Options{Elicit: true}, nil,
	)
	h := &human{answer: approves}
	for era, open := range eras(t, server, h) {
		before := h.asked.Load()
		start := time.Now()
		text, _ := call(t, open(), "mcp_aql_delete", deleteX)
		if !strings.Contains(text, "deleted x") || h.asked.Load() != before+1 || time.Since(start) < 300*time.Millisecond {
			t.Errorf("%s: asked %d times, after %v: %s", era, h.asked.Load()-before, time.Since(start), text)
		}
	}
}

// round sends one request as a client does that carries out rounds by itself.
func round(
	t *testing.T, session *mcp.ClientSession, arguments, state string, answer map[string]any,
) *mcp.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), withAnswerOf(arguments, state, answer))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// withAnswerOf returns a call with the answer of a person, or with none.
func withAnswerOf(arguments, state string, answer map[string]any) *mcp.CallToolParams {
	params := &mcp.CallToolParams{Name: "mcp_aql_delete", Arguments: json.RawMessage(arguments), RequestState: state}
	if answer != nil {
		params.InputResponses = mcp.InputResponseMap{"approve": &mcp.ElicitResult{Action: "accept", Content: answer}}
	}
	return params
}

// REQ-CT-10, REQ-NT-07: an answer counts once, for the question, the request and the caller that it belongs to.
func TestForgedAnswers(t *testing.T) {
	server := newServer(t, Options{Elicit: true}, nil)
	web := httpServer(t, server)
	yes := map[string]any{"approve": true}
	// The test answers itself, so that it sees the rounds.
	states := make(chan string, 1)
	var client *mcp.ClientSession
	h := &human{answer: func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "cancel"} }}
	client = h.connect(t, &mcp.StreamableClientTransport{Endpoint: web.URL}, "")
	server.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, request)
			if r, ok := result.(*mcp.CallToolResult); ok && err == nil && r.RequestState != "" {
				select {
				case states <- r.RequestState:
				default:
				}
			}
			return result, err
		}
	})
	text := func(r *mcp.CallToolResult) string {
		if len(r.Content) == 0 {
			return "asks again"
		}
		return r.Content[0].(*mcp.TextContent).Text
	}
	ask := func(arguments string) string {
		t.Helper()
		round(t, client, arguments, "", nil) // ends with the client's own refusal
		return <-states
	}
	// D5: they are errors of MCP, as its conformance suite has it.
	for name, state := range map[string]string{
		"made up": "forged", "empty seal": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"a token": "conf_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	} {
		result, err := client.CallTool(t.Context(), withAnswerOf(deleteX, state, yes))
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) || refused.Code != jsonrpc.CodeInvalidParams || refused.Message != forgedState {
			t.Errorf("%s: %v, %v", name, result, err)
		}
	}
	if got := text(round(t, client, deleteX, "", yes)); strings.Contains(got, "deleted") {
		t.Errorf("an answer without a question: %s", got)
	}
	declined := ask(deleteX)
	if got := text(round(t, client, deleteX, declined, yes)); !strings.Contains(got, "TOKEN_INVALID") {
		t.Errorf("what was declined: %s", got)
	}
	if got := text(round(
		t, client, strings.Replace(deleteX, "params", `_confirmation":"`+declined+`","params`, 1), "", nil,
	)); strings.Contains(got, "deleted") {
		t.Errorf("a state as a token: %s", got)
	}

	// A state that is still good, which the middleware below takes before the client answers.
	server.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, request)
			if r, ok := result.(*mcp.CallToolResult); ok && err == nil && r.RequestState != "" {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.RequestState}}}, nil
			}
			return result, err
		}
	})
	open := func() string { return text(round(t, client, deleteX, "", nil)) }
	state := open()
	if got := text(round(t, client, strings.Replace(deleteX, `"x"`, `"y"`, 1), state, yes)); !strings.Contains(
		got, "TOKEN_SCOPE_MISMATCH",
	) {
		t.Errorf("for other parameters: %s", got)
	}
	for _, answer := range []map[string]any{nil, {}, {"approve": "yes"}, {"approve": 1.0}, {"Approve": true}} {
		if got := text(round(t, client, deleteX, open(), answer)); !strings.Contains(got, "did not approve") {
			t.Errorf("answer %v: %s", answer, got)
		}
	}
	if got := text(round(t, client, deleteX, state, yes)); !strings.Contains(got, "deleted x") {
		t.Errorf("the honest answer: %s", got)
	}
	if got := text(round(t, client, deleteX, state, yes)); !strings.Contains(got, "TOKEN_ALREADY_USED") {
		t.Errorf("once more: %s", got)
	}
}

// C9, REQ-NT-07: the answer to a question counts on the connection that asked it. Over HTTP without sessions there is
// none, and it counts for the caller.
func TestAnswersOfAnotherConnection(t *testing.T) {
	server := newServerOf(t, aql.Options{Confirmation: aql.Confirmation{HumanOnly: true}}, Options{Elicit: true}, nil)
	server.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, request)
			if r, ok := result.(*mcp.CallToolResult); ok && err == nil && r.RequestState != "" { // who carries it shows it
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.RequestState}}}, nil
			}
			return result, err
		}
	})
	for era, open := range eras(t, server, &human{answer: approves}) {
		if !strings.HasSuffix(era, "sessionless protocol") {
			continue // the state does not leave the server
		}
		asking, other := open(), open()
		state := round(t, asking, deleteX, "", nil).Content[0].(*mcp.TextContent).Text
		result, err := other.CallTool(t.Context(), withAnswerOf(deleteX, state, map[string]any{"approve": true}))
		var refused *jsonrpc.Error
		if strings.HasPrefix(era, "HTTP") {
			if text := result.Content[0].(*mcp.TextContent).Text; err != nil || !strings.Contains(text, "deleted x") {
				t.Errorf("%s: %s, %v", era, text, err)
			}
			continue
		}
		if !errors.As(err, &refused) || refused.Message != forgedState {
			t.Errorf("%s: %+v, %v", era, result, err)
		}
		result = round(t, asking, deleteX, state, map[string]any{"approve": true})
		if text := result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, "deleted x") {
			t.Errorf("%s: on its own connection: %s", era, text)
		}
	}
}

// T-55: parameters can neither imitate the question nor hide other parameters.
func TestQuestionsCannotBeForged(t *testing.T) {
	q := &aql.Question{
		Operation: "delete_thing", DangerLevel: "destructive", Message: "Delete 'x'?",
		Params: `{"note":"` + strings.Repeat("harmless ", 1000) + `","path":"/","when":"\u202eabc` +
			"\u202e\u2028\u200b" + `"}`,
	}
	got := text(q)
	if !strings.Contains(got, `"path": "/"`) || len(got) > 4000 {
		t.Errorf("a parameter is hidden behind a long one: %s", got)
	}
	if strings.ContainsAny(got, "\u202e\u2028\u200b") {
		t.Errorf("marks that turn the text around: %q", got)
	}
}

// A person who is asked sees the end of a long parameter, where an agent may hide what counts, and how much is missing.
// What an agent writes into it does not pass for that.
func TestQuestionsShowBothEnds(t *testing.T) {
	filler := strings.Repeat("harmless ", 1000)
	got := text(&aql.Question{
		Operation: "run_script",
		Params:    `{"script":"set -e (parts of 9 bytes)` + filler + `rm -rf /","tags":["` + filler + `","x"]}`,
	})
	for _, want := range []string{
		"\n  \"script\": \"set -e (parts", ` bytes left out) …`, "rm -rf /\" (parts of 9033 bytes)\n",
		"\n  \"tags\": \"[\\\"harmless", `\"x\"]" (parts of 9008 bytes)`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
}

// T-112: a person who is asked sees the escapes of what misleads, in short and in long parameters.
func TestQuestionsShowWhatMisleads(t *testing.T) {
	for _, filler := range []string{"", strings.Repeat("harmless ", 1000)} {
		for character, escape := range map[string]string{
			"\u200b": `\u200b`, "\u202e": `\u202e`, "\u3164": `\u3164`, "\u2028": `\u2028`,
		} {
			got := text(
				&aql.Question{Operation: "delete_thing", Params: `{"path":"a` + character + `b","note":"` + filler + `"}`})
			if !strings.Contains(got, `"a`+escape+`b"`) || strings.Contains(got, character) {
				t.Errorf("%+q: %q", character, got)
			}
		}
	}
}

// Who is asked to lift the pause of a quota approves no single call, and sees none.
func TestContinuationsAreNoSingleCalls(t *testing.T) {
	q := &aql.Question{
		Continues: true, Operation: "get_thing", DangerLevel: "safe", Params: "{}",
		Message: "Quota requests_per_day of this caller pauses at 1, and 1 is used.\nLet all calls go on until midnight?",
	}
	want := q.Message + "\n\nA call of operation 'get_thing' met the pause; this is not about it alone."
	if diff := cmp.Diff(want, text(q)); diff != "" {
		t.Error(diff)
	}
	want = `{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve",` +
		`"description":"Let all calls of this caller go on until the quota resets"}},"required":["approve"]}`
	if diff := cmp.Diff(want, string(formOf(q))); diff != "" {
		t.Error(diff)
	}
}

// C12: nothing that stands beside the parameters hides anything either.
func TestQuestionsHideNothingBesideParameters(t *testing.T) {
	got := text(&aql.Question{
		Operation: "delete_thing", DangerLevel: "destructive", Message: "Delete \u202ex\x1b[2J?\nReally?",
		Reasons: []string{"It is\u200b gone", "for\r good"}, Params: `{"a\u3164b":"` + strings.Repeat("x", 3000) + `"}`,
	})
	want := "Delete \\u202ex\\u001b[2J?\nReally?\n\n" +
		"The agent wants to run operation 'delete_thing' (danger: destructive).\n" +
		"Why this is dangerous: It is\\u200b gone; for\\u000d good\n" +
		"Parameters: \n  \"a\\u3164b\": \"" + strings.Repeat("x", 120) + "… (2800 bytes left out) …" +
		strings.Repeat("x", 80) + "\" (parts of 3000 bytes)"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// book counts what is recorded.
type book struct {
	mu     sync.Mutex
	events map[audit.Event]int
}

func (b *book) Write(_ context.Context, records []audit.Record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range records {
		b.events[records[i].Event]++
	}
	return nil
}

func (b *book) Close() error { return nil }

// D1: a call after which a person is asked is made once, and then goes on in the SDK: it is recorded once, on every
// transport and in both eras.
func TestElicitationIsRecordedOnce(t *testing.T) {
	h := &human{answer: func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "decline"} }}
	for _, era := range slices.Sorted(maps.Keys(eras(t, newServer(t, Options{}, nil), h))) {
		b := &book{events: make(map[audit.Event]int)}
		log := audit.New(audit.Options{Sinks: []audit.Sink{b}})
		server := newServerOf(t, aql.Options{Audit: log}, Options{Elicit: true}, nil)
		call(t, eras(t, server, h)[era](), "mcp_aql_delete", deleteX)
		if err := log.Close(t.Context()); err != nil {
			t.Error(err)
		}
		want := map[audit.Event]int{
			audit.ConfirmationRequired: 1, audit.TokenIssued: 1, audit.TokenRevoked: 1,
			audit.OperationDenied: 1,
		}
		if diff := cmp.Diff(want, b.events); diff != "" {
			t.Errorf("%s: %s", era, diff)
		}
	}
}

// F61: where there is an inbox, the user of a client that can ask is asked as before, and the request of another client
// waits.
func TestElicitationBeforeTheInbox(t *testing.T) {
	state := new(store.Memory)
	server := newServerOf(t, aql.Options{
		State: state, Confirmation: aql.Confirmation{HumanOnly: true, Inbox: approve.New},
	}, Options{Elicit: true}, nil)
	h := &human{answer: approves}
	for era, open := range eras(t, server, h) {
		before := h.asked.Load()
		if text, _ := call(t, open(), "mcp_aql_delete", deleteX); !strings.Contains(text, "deleted x") ||
			h.asked.Load() != before+1 {
			t.Errorf("%s: %s", era, text)
		}
	}
	if items, err := approve.New(state).List(t.Context()); err != nil || len(items) > 0 {
		t.Errorf("%d items wait, %v", len(items), err)
	}
	text, _ := call(t, inMemory(t, server, ""), "mcp_aql_delete", deleteX)
	if !strings.Contains(text, `"approval_id":"ask_`) || strings.Contains(text, "confirmation_token") {
		t.Errorf("a client that cannot ask: %s", text)
	}
}
