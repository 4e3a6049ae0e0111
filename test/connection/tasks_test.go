package connection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The schema in testdata is schema/draft/schema.json of github.com/modelcontextprotocol/ext-tasks at e434597.
const (
	tasksSchema    = "testdata/tasks.schema.json"
	tasksExtension = "io.modelcontextprotocol/tasks"
)

// building is a service with an operation that outlives its call, and one that does not.
type building struct {
	adapter *aql.Adapter
	state   store.Memory
	// elicitation is what clients can ask their users; nil: the SDK says that it is forms.
	elicitation *mcp.ElicitationCapabilities
	gates       gates
}

func newBuilding(t *testing.T) *building {
	t.Helper()
	b := new(building)
	fields := []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}}
	raze := gen.Handler{
		Name: "raze", Category: gen.Execute, Danger: gen.Destructive, DangerSource: gen.DangerFromTag,
		Description: "Razes it.", Params: fields, Request: (*thing)(nil), Reasons: []string{"Nothing is left"},
		Execution: &gen.Execution{
			Lifecycle: gen.Lifecycle{Durable: true},
			Run:       aql.RunFunc(func(context.Context, []any, any, *aql.Run) (any, error) { return nil, nil }),
		},
	}
	paint := gen.Handler{
		Name: "paint", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
		Description: "Paints it.", Params: fields, Request: (*thing)(nil), Result: (**thing)(nil), Returns: "Thing",
		Execution: &gen.Execution{
			Lifecycle: gen.Lifecycle{Durable: true, Asks: true},
			Run: aql.RunFunc(func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
				color, err := aql.Wait[string](ctx, run, "color")
				if err != nil {
					return nil, err
				}
				return &thing{ID: color}, nil
			}),
		},
	}
	release := paint
	release.Name, release.Description = "release", "Releases it."
	release.Execution = &gen.Execution{
		Lifecycle: gen.Lifecycle{Durable: true, Asks: true},
		Run: aql.RunFunc(func(ctx context.Context, _ []any, request any, run *aql.Run) (any, error) {
			decision, err := run.Ask(ctx, aql.Approval{Message: "Release '" + request.(*thing).ID + "'?"})
			if err != nil {
				return nil, err
			}
			return &thing{ID: "by " + decision.By}, nil
		}),
	}
	registry := gen.NewRegistry([]gen.Handler{
		raze, paint, release,
		{
			Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
			Description: "Builds it.", Params: fields, Request: (*thing)(nil), Result: (**thing)(nil), Returns: "Thing",
			Execution: &gen.Execution{
				Lifecycle: gen.Lifecycle{Durable: true},
				Run: aql.RunFunc(func(ctx context.Context, _ []any, request any, run *aql.Run) (any, error) {
					id := request.(*thing).ID
					run.Progress(3, 8, "Building "+id)
					select {
					case <-b.gates.gate(id):
					case <-ctx.Done():
						return nil, context.Cause(ctx)
					}
					if strings.HasPrefix(id, "broken") {
						return nil, aql.NotFound("part", id)
					}
					return &thing{ID: id}, nil
				}),
			},
		},
		{
			Name: "look", Category: gen.Read, Danger: gen.Safe, Description: "Looks at it.", Params: fields,
			Request: (*thing)(nil), Result: (**thing)(nil), Returns: "Thing",
			Call: func(_ context.Context, _ []any, request any) (any, error) { return request.(*thing), nil },
		},
	}, []gen.WireType{{
		Name: "Thing", Kind: gen.KindObject, Fields: []gen.Field{{Name: "id", Go: "ID", Type: "string"}},
	}})
	var err error
	b.adapter, err = aql.New(registry, aql.Options{
		Name: "builder", Version: "1.0.0", Mode: aql.ModeSingle, State: &b.state,
		Confirmation: aql.Confirmation{Inbox: approve.New},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.adapter.Work(ctx) }()
	t.Cleanup(func() {
		b.gates.releaseAll()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return b
}

// recording keeps what a server has sent.
type recording struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// results returns the results and errors of the responses, in their order.
func (r *recording) results(t *testing.T) (results []map[string]any, failures []string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(r.text.String()) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data:"))
		var message struct {
			Result map[string]any
			Error  json.RawMessage
		}
		if !strings.HasPrefix(line, "{") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if message.Result != nil {
			results = append(results, message.Result)
		}
		if message.Error != nil {
			failures = append(failures, string(message.Error))
		}
	}
	return results, failures
}

// recorder records the bodies of responses over HTTP, and sends a bearer token. It adds the header that the extension
// has clients set.
type recorder struct {
	recording *recording
	bearer    string
}

func (r recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	if r.bearer != "" {
		request.Header.Set("Authorization", "Bearer "+r.bearer)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		body := response.Body
		_, _ = r.recording.Write([]byte("\n")) // bodies need not end with one
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(body, r.recording), body}
	}
	return response, err
}

// taskParams and taskAnswer are the parameters and results of the methods, as a client has them.
type taskParams struct {
	mcp.ParamsBase
	TaskID         string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

type taskAnswer struct {
	mcp.ResultBase
	TaskID        string              `json:"taskId"`
	Status        string              `json:"status"`
	StatusMessage string              `json:"statusMessage"`
	TTL           *int64              `json:"ttlMs"`
	Poll          int                 `json:"pollIntervalMs"`
	Result        *mcp.CallToolResult `json:"result"`
	ResultType    string              `json:"resultType"`
	Requests      map[string]any      `json:"inputRequests"`
	Error         *jsonrpc.Error      `json:"error"`
}

// taskClient is a client of the official SDK.
type taskClient struct {
	*testing.T
	session   *mcp.ClientSession
	recording *recording
}

func (b *building) connect(
	t *testing.T, transport mcp.Transport, r *recording, version string, declares bool,
) *taskClient {
	t.Helper()
	capabilities := &mcp.ClientCapabilities{Elicitation: b.elicitation}
	if declares {
		capabilities.AddExtension(tasksExtension, nil)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		Capabilities: capabilities,
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		},
	})
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if err := mcp.AddSendingCustomMethod[*taskParams, *taskAnswer](client, method); err != nil {
			t.Fatal(err)
		}
	}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return &taskClient{t, session, r}
}

func (c *taskClient) do(method, id string) (*taskAnswer, error) {
	return mcp.CallCustomMethod[*taskParams, *taskAnswer](c.Context(), c.session, method, &taskParams{
		TaskID: id, InputResponses: map[string]json.RawMessage{"x": []byte(`{"action":"decline"}`)},
	})
}

// start starts a build and returns the last result that was recorded.
func (c *taskClient) start(id string) map[string]any { return c.startOf("build", id) }

func (c *taskClient) startOf(operation, id string) map[string]any {
	c.Helper()
	_, _ = c.session.CallTool(c.Context(), &mcp.CallToolParams{ // the SDK knows no tasks
		Name: "mcp_aql", Arguments: json.RawMessage(`{"operation":"` + operation + `","params":{"id":"` + id + `"}}`),
	})
	results, _ := c.recording.results(c.T)
	if len(results) == 0 {
		c.Fatal("nothing was recorded")
	}
	return results[len(results)-1]
}

// until polls a task until it has a status.
func (c *taskClient) until(id, status string) *taskAnswer {
	c.Helper()
	for c.Context().Err() == nil {
		task, err := c.do("tasks/get", id)
		if err != nil {
			c.Fatal(err)
		}
		if task.Status == status {
			return task
		}
		if task.Status != "working" && (task.Status != "input_required" || status == "working") {
			c.Fatalf("the task is %s, want %s", task.Status, status)
		}
	}
	return nil
}

// eras connects clients over each transport and in each era of the protocol.
func (b *building) eras(t *testing.T) map[string]func(t *testing.T, declares bool, bearer string) *taskClient {
	clients := b.served(t, nil)
	for era, open := range b.served(t, func(server *mcp.Server) {
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler { return next })
	}) {
		clients[era+", beside middleware"] = open
	}
	return clients
}

// served connects clients to one server. With middleware of the service's own, the SDK answers all calls.
func (b *building) served(
	t *testing.T, setup func(*mcp.Server),
) map[string]func(t *testing.T, declares bool, bearer string) *taskClient {
	page := func(id string) string { return "https://console.example/" + id }
	bearer := &mcpserver.Bearer{
		Verify: func(_ context.Context, token string) (aql.Caller, time.Time, error) {
			return aql.Caller{Subject: token, Issuer: "test"}, time.Now().Add(time.Hour), nil
		},
	}
	server := mcpserver.New(b.adapter, mcpserver.Options{Elicit: true, ApprovalURL: page, Setup: setup, Bearer: bearer})
	t.Cleanup(server.Close)
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	overHTTP := func(version string) func(*testing.T, bool, string) *taskClient {
		return func(t *testing.T, declares bool, bearer string) *taskClient {
			r := new(recording)
			return b.connect(t, &mcp.StreamableClientTransport{
				Endpoint: web.URL, HTTPClient: &http.Client{Transport: recorder{r, bearer}}, DisableStandaloneSSE: true,
			}, r, version, declares)
		}
	}
	overStdio := func(version string) func(*testing.T, bool, string) *taskClient {
		return func(t *testing.T, declares bool, _ string) *taskClient {
			r := new(recording)
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			go server.RunStdio(t.Context(), in, io.MultiWriter(r, out))
			return b.connect(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, r, version, declares)
		}
	}
	return map[string]func(*testing.T, bool, string) *taskClient{
		"stdio, sessionless protocol": overStdio(""), "stdio, 2025-11-25": overStdio("2025-11-25"),
		"HTTP, sessionless protocol": overHTTP(""), "HTTP, 2025-11-25": overHTTP("2025-11-25"),
	}
}

// T-104, T-105: a client that declares the extension gets tasks for what outlives its call, and follows them. All that
// is sent has the form of the extension's schema.
func TestTasks(t *testing.T) {
	b := newBuilding(t)
	for era, open := range b.eras(t) {
		t.Run(era, func(t *testing.T) {
			c := open(t, true, "ann")
			name := func(start string) string { return start + strings.NewReplacer(" ", "", ",", "").Replace(era) }
			created := c.start(name("good"))
			id, _ := created["taskId"].(string)
			if created["resultType"] != "task" || !strings.HasPrefix(id, "exec_") || created["status"] != "working" ||
				created["content"] != nil {
				t.Fatalf("a call that starts an execution is answered with %v", created)
			}
			if _, announced := c.session.InitializeResult().Capabilities.Extensions[tasksExtension]; !announced {
				t.Error("the server does not announce the extension")
			}
			if task := c.until(id, "working"); task.TTL != nil || task.Poll != 1000 || task.Result != nil {
				t.Errorf("a task under way: %+v", task)
			}
			if _, err := c.do("tasks/update", id); err != nil {
				t.Errorf("an answer to what was not asked: %v", err)
			}
			b.gates.release(name("good"))
			done := c.until(id, "completed")
			text := done.Result.Content[0].(*mcp.TextContent).Text
			if !strings.HasPrefix(text, `{"success":true`) || !strings.Contains(text, `"status":"completed"`) ||
				!strings.Contains(text, `"result":{"id":"`+name("good")+`"}`) || done.TTL == nil || *done.TTL < 1000 ||
				done.ResultType != "complete" {
				t.Errorf("a completed task: %+v, %s", done, text)
			}

			broken, _ := c.start(name("broken"))["taskId"].(string)
			b.gates.release(name("broken"))
			failed := c.until(broken, "completed")
			text = failed.Result.Content[0].(*mcp.TextContent).Text
			if !strings.HasPrefix(text, `{"success":false,"error":{"code":"NOT_FOUND_RESOURCE"`) {
				t.Errorf("the result of a failed execution: %s", text)
			}

			razed := c.startOf("raze", name("razed")) // after the question to the user
			if razed["resultType"] != "task" {
				t.Errorf("a call that was confirmed is answered with %v", razed)
			}

			stopped, _ := c.start(name("stopped"))["taskId"].(string)
			for range 2 { // once more is acknowledged as well
				if _, err := c.do("tasks/cancel", stopped); err != nil {
					t.Error(err)
				}
			}
			c.until(stopped, "cancelled")

			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				for _, unknown := range []string{"exec_nowhere", `"`, ""} {
					var failed *jsonrpc.Error
					if _, err := c.do(method, unknown); !errors.As(err, &failed) || failed.Code != jsonrpc.CodeInvalidParams {
						t.Errorf("%s of task %q: %v", method, unknown, err)
					}
				}
			}
			c.holdToSchema("CreateTaskResult", "GetTaskResult", "UpdateTaskResult")
		})
	}
}

// holdToSchema holds all results of tasks that were recorded against the schema of the extension.
func (c *taskClient) holdToSchema(names ...string) {
	t := c.T
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(tasksSchema))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("tasks.json", document); err != nil {
		t.Fatal(err)
	}
	schemas := make(map[string]*jsonschema.Schema)
	for _, name := range names {
		if schemas[name], err = compiler.Compile("tasks.json#/$defs/" + name); err != nil {
			t.Fatal(err)
		}
	}
	results, _ := c.recording.results(t)
	held := make(map[string]int)
	for _, result := range results {
		name := "UpdateTaskResult" // and that of tasks/cancel, which has the same form
		switch {
		case result["resultType"] == "task":
			name = "CreateTaskResult"
		case result["taskId"] != nil:
			name = "GetTaskResult"
		case result["resultType"] != "complete" || len(result) > 2:
			continue // not a result of the extension
		}
		held[name]++
		if err := schemas[name].Validate(result); err != nil {
			t.Errorf("%v is no %s: %v", result, name, err)
		}
	}
	for _, name := range names {
		if held[name] == 0 {
			t.Errorf("no %s was recorded: %v", name, held)
		}
	}
}

// T-105: a paused execution is a task that requires input. The client is asked what its caller is, and only an answer
// that is accepted counts.
func TestTasksThatAsk(t *testing.T) {
	b := newBuilding(t)
	for era, open := range b.eras(t) {
		t.Run(era, func(t *testing.T) {
			c := open(t, true, "ann")
			id, _ := c.startOf("paint", era)["taskId"].(string)
			asked := c.until(id, "input_required")
			question, _ := json.Marshal(asked.Requests)
			const want = `{"color":{"method":"elicitation/create","params":{"message":"The operation that runs in the ` +
				`background waits for color.","mode":"form","requestedSchema":{"properties":{"value":{"title":"color",` +
				`"type":"string"}},"required":["value"],"type":"object"}}}}`
			if string(question) != want || asked.StatusMessage == "" {
				t.Errorf("the client is asked %s, want %s", question, want)
			}
			answer := func(name, response string) error {
				_, err := mcp.CallCustomMethod[*taskParams, *taskAnswer](t.Context(), c.session, "tasks/update", &taskParams{
					TaskID: id, InputResponses: map[string]json.RawMessage{name: json.RawMessage(response)},
				})
				return err
			}
			for _, ignored := range [][2]string{
				{"color", `{"action":"decline"}`}, {"color", `{"action":"cancel","content":{"value":"red"}}`},
				{"color", `{"action":"accept"}`}, {"colour", `{"action":"accept","content":{"value":"red"}}`},
				{"color", `[]`},
			} {
				if err := answer(ignored[0], ignored[1]); err != nil {
					t.Errorf("%s %s: %v", ignored[0], ignored[1], err)
				}
				if task := c.until(id, "input_required"); task == nil {
					t.Fatalf("%s %s lets it go on", ignored[0], ignored[1])
				}
			}
			var refused *jsonrpc.Error
			if err := answer("color", `{"action":"accept","content":{"value":7}}`); !errors.As(err, &refused) ||
				refused.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("an answer of another type: %v", err)
			}
			for range 2 { // the second one is too late, and ignored
				if err := answer("color", `{"action":"accept","content":{"value":"red"}}`); err != nil {
					t.Fatal(err)
				}
			}
			done := c.until(id, "completed")
			if text := done.Result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, `"result":{"id":"red"}`) {
				t.Errorf("at the end: %s", text)
			}
			c.holdToSchema("CreateTaskResult", "GetTaskResult", "UpdateTaskResult")
		})
	}
}

// What an operator decides is no question to the client, unless it can refer its user to the page for that.
func TestTasksThatAskAnOperator(t *testing.T) {
	for name, can := range map[string]*mcp.ElicitationCapabilities{
		"forms": nil, "pages": {URL: &mcp.URLElicitationCapabilities{}},
	} {
		b := newBuilding(t)
		b.elicitation = can
		for era, open := range b.eras(t) {
			t.Run(name+", "+era, func(t *testing.T) {
				c := open(t, true, "ann")
				id, _ := c.startOf("release", era)["taskId"].(string)
				asked := c.until(id, "input_required")
				if asked.StatusMessage != "An operator was asked: Release '"+era+"'?" {
					t.Errorf("the client is told %q", asked.StatusMessage)
				}
				inbox := approve.New(&b.state)
				items, err := inbox.List(t.Context())
				if err != nil || len(items) == 0 {
					t.Fatalf("%d items, %v", len(items), err)
				}
				item := items[len(items)-1].ID
				question, _ := json.Marshal(asked.Requests)
				want := `{}`
				if can != nil {
					want = `{"` + item + `":{"method":"elicitation/create","params":{"elicitationId":"` + item +
						`","message":"The operation that runs in the background asks an operator: Release '` + era +
						`'?","mode":"url","url":"https://console.example/` + item + `"}}}`
				}
				if string(question) != want {
					t.Errorf("the client is asked %s, want %s", question, want)
				}
				response := map[string]json.RawMessage{item: json.RawMessage(`{"action":"accept","content":{"value":true}}`)}
				if _, err := mcp.CallCustomMethod[*taskParams, *taskAnswer](t.Context(), c.session, "tasks/update",
					&taskParams{TaskID: id, InputResponses: response}); err != nil {
					t.Fatal(err)
				}
				c.until(id, "input_required") // the word of the client counts for nothing
				vote := approve.Vote{By: aql.Caller{Subject: "eve"}, Channel: "page", Approve: true, At: time.Now()}
				if _, err := inbox.Vote(t.Context(), item, vote); err != nil {
					t.Fatal(err)
				}
				done := c.until(id, "completed")
				if text := done.Result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, `"id":"by `) ||
					!strings.Contains(text, "eve") {
					t.Errorf("at the end: %s", text)
				}
				c.holdToSchema("CreateTaskResult", "GetTaskResult", "UpdateTaskResult")
			})
		}
	}
}

// Whoever does not declare the extension never sees a task, and the methods say what is missing.
func TestNoTasksForOthers(t *testing.T) {
	b := newBuilding(t)
	for era, open := range b.eras(t) {
		t.Run(era, func(t *testing.T) {
			c := open(t, false, "ann")
			result := c.start("x")
			if result["content"] == nil || result["taskId"] != nil || result["resultType"] == "task" {
				t.Errorf("a client that knows no tasks is answered with %v", result)
			}
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				var failed *jsonrpc.Error
				if _, err := c.do(method, "exec_x"); !errors.As(err, &failed) ||
					failed.Code != mcp.CodeMissingRequiredClientCapabilities ||
					!strings.Contains(string(failed.Data), `"requiredCapabilities":{"extensions":{"`+tasksExtension) {
					t.Errorf("%s: %v", method, err)
				}
			}
		})
	}
}

// What answers within its call is no task, and nobody has the task of another one.
func TestWhoseTasks(t *testing.T) {
	b := newBuilding(t)
	for era, open := range b.eras(t) {
		if !strings.HasPrefix(era, "HTTP") {
			continue // a process has one caller
		}
		t.Run(era, func(t *testing.T) {
			ann, bob := open(t, true, "ann"), open(t, true, "bob")
			for _, arguments := range []string{
				`{"operation":"look","params":{"id":"x"}}`, `{"operation":"list_executions"}`,
				`{"operations":[{"operation":"build","params":{"id":"` + era + `"}}]}`, `{"operation":"build"}`,
			} {
				result, err := ann.session.CallTool(t.Context(), &mcp.CallToolParams{
					Name: "mcp_aql", Arguments: json.RawMessage(arguments),
				})
				if err != nil || len(result.Content) != 1 {
					t.Errorf("%s: %+v, %v", arguments, result, err)
				}
			}
			id, _ := ann.start("of ann " + era)["taskId"].(string)
			if _, err := ann.do("tasks/get", id); err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				_, foreign := bob.do(method, id)
				_, unknown := bob.do(method, "exec_AAAAAAAAAAAAAAAAAAAAAAAAAA")
				if foreign == nil || unknown == nil || foreign.Error() != unknown.Error() {
					t.Errorf("%s of the task of another caller: %v; of none: %v", method, foreign, unknown)
				}
			}
			if task, err := ann.do("tasks/get", id); err != nil || task.Status != "working" {
				t.Errorf("after that: %+v, %v", task, err)
			}
		})
	}
}
