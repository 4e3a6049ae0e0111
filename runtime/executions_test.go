package aql_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/describe/fingerprint"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/schematest"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// buildRequest says what to build.
type buildRequest struct {
	Target string
	Key    string
	Secret string
}

// built is what a build has come to.
type built struct {
	Parts []string
}

// longOperation is an operation that builds something in the background.
func longOperation(name string, l gen.Lifecycle, run aql.RunFunc) gen.Handler {
	return gen.Handler{
		Name: name, Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
		Description: "Builds something.",
		Params: []gen.Field{
			{Name: "target", Go: "Target", Type: "string", Required: true},
			{Name: "key", Go: "Key", Type: "string"},
		},
		Returns: "Built", Request: (*buildRequest)(nil), Result: (**built)(nil),
		Execution: &gen.Execution{Lifecycle: l, Run: run},
	}
}

var buildTypes = []gen.WireType{{
	Name: "Built", Kind: gen.KindObject,
	Fields: []gen.Field{{Name: "parts", Go: "Parts", Type: "array", Items: &gen.Field{Type: "string"}, Required: true}},
}}

// executionOf is an answer that has an execution.
type executionOf struct {
	Success bool
	Data    struct {
		ExecutionID string `json:"execution_id"`
		Operation   string
		Status      string
		StartedAt   *time.Time `json:"started_at"`
		FinishedAt  *time.Time `json:"finished_at"`
		Progress    map[string]any
		Result      *built
		Error       *struct {
			Code, Message string
			Details       map[string]any
		}
		Version  string
		Items    []map[string]any
		PageInfo map[string]any
		WaitsFor map[string]any `json:"waits_for"`
	}
	Error struct {
		Code, Message string
		Details       map[string]any
	}
}

// shop is an adapter that builds.
type shop struct {
	t       *testing.T
	adapter *aql.Adapter
	session *aql.Session
	stop    func()
}

func newShop(t *testing.T, options aql.Options, handlers ...gen.Handler) *shop {
	t.Helper()
	adapter, err := aql.New(gen.NewRegistry(handlers, buildTypes), options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := adapter.Work(ctx); err != nil {
			t.Error(err)
		}
	}()
	s := &shop{t: t, adapter: adapter, session: adapter.NewSession()}
	s.stop = func() { cancel(); <-ended }
	synctest.Wait()
	return s
}

func (s *shop) call(caller, operation, params string) executionOf {
	s.t.Helper()
	ctx := aql.WithCaller(s.t.Context(), aql.Caller{Subject: caller, Issuer: "test"})
	reply := s.session.Call(ctx, s.adapter.Tool(operation), []byte(`{"operation":"`+operation+`","params":`+params+`}`))
	var answer executionOf
	if err := json.Unmarshal(reply.JSON, &answer); err != nil {
		s.t.Fatalf("%v: %s", err, reply.JSON)
	}
	return answer
}

// end waits for the end of an execution.
func (s *shop) end(caller, id string) executionOf {
	s.t.Helper()
	for {
		a := s.call(caller, "get_execution", `{"execution_id":"`+id+`","wait_ms":30000}`)
		if !a.Success || a.Data.FinishedAt != nil {
			return a
		}
	}
}

func build(ctx context.Context, _ []any, request any, run *aql.Run) (any, error) {
	q := request.(*buildRequest)
	var parts []string
	for i, name := range []string{"a", "b"} {
		run.Progress(i, 2, "Building "+name)
		part, err := aql.Step(ctx, run, name, func(context.Context) (string, error) { return q.Target + "/" + name, nil })
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return &built{parts}, nil
}

// REQ-EL-01, REQ-EL-03, REQ-EL-04, REQ-EL-11: a call starts an execution, which get_execution follows to its end.
func TestExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true}, build))
		defer s.stop()
		started := s.call("ann", "build", `{"target":"x"}`)
		if !started.Success || started.Data.Status != "pending" || started.Data.ExecutionID == "" {
			t.Fatalf("%+v", started)
		}
		ended := s.end("ann", started.Data.ExecutionID)
		d := ended.Data
		if d.Status != "completed" || d.StartedAt == nil || d.Result == nil ||
			strings.Join(d.Result.Parts, " ") != "x/a x/b" || d.Progress["current"] != 1.0 ||
			d.Progress["total"] != 2.0 || d.Progress["message"] != "Building b" {
			t.Errorf("%+v", ended)
		}
		if again := s.call("ann", "build", `{"target":"x"}`); again.Data.ExecutionID == started.Data.ExecutionID {
			t.Error("the same call has the same execution")
		}
		// Somebody else's execution is like none.
		for _, operation := range []string{"get_execution", "cancel_execution"} {
			foreign := s.call("bob", operation, `{"execution_id":"`+started.Data.ExecutionID+`"}`)
			if foreign.Error.Code != "NOT_FOUND_RESOURCE" ||
				foreign.Error.Message != "Resource 'execution' not found: '"+started.Data.ExecutionID+"'" {
				t.Errorf("%s: %+v", operation, foreign)
			}
		}
		if list := s.call("bob", "list_executions", `{}`); len(list.Data.Items) != 0 {
			t.Errorf("%+v", list)
		}
		if list := s.call("ann", "list_executions", `{"status":"completed"}`); len(list.Data.Items) == 0 {
			t.Errorf("%+v", list)
		}
	})
}

// REQ-EL-02, REQ-EL-07: an execution that has not ended can be cancelled, and one that has cannot.
func TestCancelExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true},
			func(ctx context.Context, _ []any, _ any, _ *aql.Run) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		cancelled := s.call("ann", "cancel_execution", `{"execution_id":"`+id+`","reason":"no need"}`)
		if cancelled.Data.Status != "cancelled" {
			t.Errorf("%+v", cancelled)
		}
		again := s.call("ann", "cancel_execution", `{"execution_id":"`+id+`"}`)
		if again.Error.Code != "CONFLICT_INVALID_STATE" ||
			again.Error.Message != "Execution '"+id+"' is 'cancelled' and cannot be cancelled" {
			t.Errorf("%+v", again)
		}
	})
}

// REQ-EL-08, T-96: an execution that is not durable is cancelled with its session, and a durable one is not.
func TestExecutionsOfSession(t *testing.T) {
	for _, durable := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: durable},
				func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
					if err := run.Sleep(ctx, "nap", time.Hour); err != nil {
						return nil, err
					}
					return &built{}, nil
				}))
			defer s.stop()
			id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
			synctest.Wait()
			s.session.Close()
			s.session = s.adapter.NewSession()
			want := map[bool]string{false: "cancelled", true: "completed"}[durable]
			if ended := s.end("ann", id); ended.Data.Status != want {
				t.Errorf("%+v", ended)
			}
		})
	}
}

// A failure that another attempt may mend is repeated, with pauses, and a failed execution can be started again.
func TestRetryExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts, steps := 0, 0
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true, Retry: 2},
			func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
				attempts++
				_, err := aql.Step(ctx, run, "only", func(context.Context) (int, error) { steps++; return steps, nil })
				if attempts <= 3 || err != nil {
					return nil, errors.Join(err, errors.New("the disk is full"))
				}
				return &built{}, nil
			}))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		failed := s.end("ann", id)
		if failed.Data.Status != "failed" || failed.Data.Error.Code != "INTERNAL_ERROR" || attempts != 3 ||
			strings.Contains(failed.Data.Error.Message, "disk") {
			t.Fatalf("after %d attempts: %+v", attempts, failed)
		}
		if again := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`); again.Data.Status != "retrying" {
			t.Fatalf("%+v", again)
		}
		if ended := s.end("ann", id); ended.Data.Status != "completed" || attempts != 4 || steps != 1 {
			t.Errorf("after %d attempts and %d steps: %+v", attempts, steps, ended)
		}
		again := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`)
		if again.Error.Code != "CONFLICT_INVALID_STATE" {
			t.Errorf("%+v", again)
		}
	})
}

// A failure that says what is wrong with the request is not repeated.
func TestFinalFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true, Retry: 2},
			func(context.Context, []any, any, *aql.Run) (any, error) {
				attempts++
				return nil, aql.NotFound("target", "x")
			}))
		defer s.stop()
		ended := s.end("ann", s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID)
		if ended.Data.Status != "failed" || ended.Data.Error.Code != "NOT_FOUND_RESOURCE" || attempts != 1 ||
			ended.Data.Error.Details["resource_id"] != "x" {
			t.Errorf("after %d attempts: %+v", attempts, ended.Data.Error)
		}
	})
}

// Sensitive parameters of a durable operation are in no state that can be read.
func TestSealedParameters(t *testing.T) {
	handler := longOperation("build", gen.Lifecycle{Durable: true},
		func(_ context.Context, _ []any, request any, _ *aql.Run) (any, error) {
			return &built{[]string{request.(*buildRequest).Secret}}, nil
		})
	handler.Params = append(handler.Params, gen.Field{Name: "secret", Go: "Secret", Type: "string", Sensitive: true})
	registry := func() *aql.Registry { return gen.NewRegistry([]gen.Handler{handler}, buildTypes) }
	state := new(store.Memory)
	_, err := aql.New(registry(), aql.Options{Name: "shop", State: state})
	if err == nil || !strings.Contains(err.Error(), "operation build is durable, so that the state would have its "+
		"sensitive parameter secret: give the adapter a StateKey (-state-key)") {
		t.Error(err)
	}
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		s := newShop(t, aql.Options{Name: "shop", State: state, StateKey: []byte(strings.Repeat("k", 32))}, handler)
		defer s.stop()
		id := s.call("ann", "build", `{"target":"x","secret":"hunter2"}`).Data.ExecutionID
		if ended := s.end("ann", id); ended.Data.Status != "completed" || ended.Data.Result.Parts[0] != "hunter2" {
			t.Errorf("%+v", ended)
		}
		entries, err := state.List(t.Context(), "", "", 1000)
		if err != nil || len(entries) == 0 {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if strings.Contains(string(entry.Value), "hunter2") || strings.Contains(string(entry.Value), "aHVudGVyM") {
				t.Errorf("%s = %s", entry.Key, entry.Value)
			}
		}
	})
}

// A service cannot have an operation of a name that those for executions have.
func TestReservedNames(t *testing.T) {
	taken := longOperation("get_execution", gen.Lifecycle{}, build)
	_, err := aql.New(gen.NewRegistry([]gen.Handler{longOperation("build", gen.Lifecycle{}, build), taken}, buildTypes),
		aql.Options{})
	if err == nil || !strings.Contains(err.Error(), `operation "get_execution" is defined twice`) {
		t.Error(err)
	}
}

// REQ-IN-25, REQ-EL-05, REQ-EL-06, REQ-EL-09: introspection says in which states executions can be, what they come
// to, and which operations follow them.
func TestExecutionsAreDescribed(t *testing.T) {
	schema := schematest.Load(t, "introspection-response", "")
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{
		longOperation("build", gen.Lifecycle{Durable: true, Retry: 2}, build),
		longOperation("watch_build", gen.Lifecycle{}, build),
		longOperation("ask_build", gen.Lifecycle{Asks: true}, build),
	}, buildTypes), aql.Options{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	introspect := func(params string) map[string]any {
		t.Helper()
		reply := adapter.NewSession().Call(t.Context(), adapter.Tool("introspect"),
			[]byte(`{"operation":"introspect","params":`+params+`}`))
		if schema != nil {
			schema.Check(t, reply.JSON)
		}
		var answer struct{ Data map[string]any }
		if err := json.Unmarshal(reply.JSON, &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Data
	}
	introspect(`{"query":"operations"}`)
	introspect(`{"query":"types"}`)
	type facts struct {
		Category, Returns string
		Lifecycle         any
	}
	core := []any{"pending", "running", "completed", "failed", "cancelled"}
	all := []any{"pending", "running", "retrying", "completed", "failed", "cancelled"}
	for name, want := range map[string]facts{
		"build": {"EXECUTE", "BuildExecution", map[string]any{
			"states": all, "supports_cancel": true, "supports_retry": true, "progress_reporting": true,
		}},
		"watch_build": {"EXECUTE", "WatchBuildExecution", map[string]any{
			"states": core, "supports_cancel": true, "supports_retry": false, "progress_reporting": true,
		}},
		"ask_build": {"EXECUTE", "AskBuildExecution", map[string]any{
			"states":          []any{"pending", "running", "paused", "completed", "failed", "cancelled"},
			"supports_cancel": true, "supports_retry": false, "progress_reporting": true,
		}},
		"answer_execution": {"EXECUTE", "Execution", nil},
		"get_execution":    {"READ", "Execution", nil},
		"list_executions":  {"READ", "ExecutionList", nil},
		"cancel_execution": {"EXECUTE", "Execution", nil},
		"retry_execution":  {"EXECUTE", "Execution", nil},
	} {
		o := introspect(`{"query":"operations","name":"` + name + `"}`)["operation"].(map[string]any)
		got := facts{o["semantic_category"].(string), o["returns"].(map[string]any)["name"].(string), o["lifecycle"]}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		introspect(`{"query":"types","name":"` + want.Returns + `"}`)
		introspect(`{"query":"types","name":"ExecutionWait"}`)
	}
}

// The definitions of a package with executions are those of the adapter: they have the same fingerprint.
func TestFingerprintWithExecutions(t *testing.T) {
	registry := func() *aql.Registry {
		return gen.NewRegistry([]gen.Handler{longOperation("build", gen.Lifecycle{Durable: true, Once: "key"}, build)},
			buildTypes)
	}
	adapter, err := aql.New(registry(), aql.Options{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	definitions := registry().Definitions()
	gen.AddExecutions(&definitions)
	if want := fingerprint.Of(&definitions); adapter.Fingerprint() != want {
		t.Errorf("%s, want %s", adapter.Fingerprint(), want)
	}
}

// An adapter without executions has neither a goroutine nor an operation more, and nothing to work. A call of it
// allocates no more than the same call where there are executions.
func TestNoExecutions(t *testing.T) {
	look := gen.Handler{
		Name: "look", Category: gen.Read, Danger: gen.Safe, Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}
	with, err := aql.New(gen.NewRegistry([]gen.Handler{look, longOperation("build", gen.Lifecycle{}, build)}, buildTypes),
		aql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{look}, nil), aql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := adapter.Work(t.Context()); err != nil || adapter.Executes() || adapter.Tool("get_execution") != "" {
		t.Errorf("it executes: %v", err)
	}
	allocations := lookAllocations(adapter)
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines instead of %d", after, before)
	}
	if most := lookAllocations(with); allocations > most {
		t.Errorf("%v allocations for a call, and %v where there are executions", allocations, most)
	}
}

// lookAllocations returns how often a call of "look" allocates.
func lookAllocations(adapter *aql.Adapter) float64 {
	session := adapter.NewSession()
	defer session.Close()
	request := []byte(`{"operation":"look"}`)
	allocations := math.Inf(1)
	for range 100 { // the race detector loses what pools hold now and then
		allocations = min(allocations, testing.AllocsPerRun(1, func() {
			session.Call(context.Background(), "mcp_aql_read", request)
		}))
	}
	return allocations
}

// Whatever a request says, the answer is a failure that says what is wrong, and nothing is shown of the inside.
func TestHostileExecutionRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true, Retry: 1}, build))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		s.end("ann", id)
		for _, tt := range []struct{ operation, params, code string }{
			{"get_execution", `{}`, "VALIDATION_MISSING_PARAM"},
			{"get_execution", `{"execution_id":""}`, "NOT_FOUND_RESOURCE"},
			{"get_execution", `{"execution_id":"../r/` + id + `"}`, "NOT_FOUND_RESOURCE"},
			{"get_execution", `{"execution_id":"` + strings.Repeat("x", 101) + `"}`, "VALIDATION_OUT_OF_RANGE"},
			{"get_execution", `{"execution_id":"` + id + `","wait_ms":30001}`, "VALIDATION_OUT_OF_RANGE"},
			{"get_execution", `{"execution_id":"` + id + `","wait_ms":-1}`, "VALIDATION_OUT_OF_RANGE"},
			{"get_execution", `{"execution_id":"` + strings.ToUpper(id) + `"}`, "NOT_FOUND_RESOURCE"},
			{"list_executions", `{"status":"sleeping"}`, "VALIDATION_INVALID_ENUM"},
			{"list_executions", `{"operation":"` + strings.Repeat("x", 101) + `"}`, "VALIDATION_OUT_OF_RANGE"},
			{"list_executions", `{"first":0}`, "VALIDATION_OUT_OF_RANGE"},
			{"list_executions", `{"after":"\u0000"}`, "VALIDATION_INVALID_ENCODING"},
			{"list_executions", `{"after":"zzzz"}`, "VALIDATION_INVALID_TYPE"},
			{"list_executions", `{"after":"` + strings.Repeat("x", 401) + `"}`, "VALIDATION_OUT_OF_RANGE"},
			{"cancel_execution", `{"execution_id":"` + id + `"}`, "CONFLICT_INVALID_STATE"},
			{"retry_execution", `{"execution_id":"` + id + `"}`, "CONFLICT_INVALID_STATE"},
			{"retry_execution", `{"execution_id":"exec_x"}`, "NOT_FOUND_RESOURCE"},
			{"build", `{"target":"x","execution_id":"` + id + `"}`, "VALIDATION_UNKNOWN_PARAM"},
			{"build", `{}`, "VALIDATION_MISSING_PARAM"},
		} {
			if got := s.call("ann", tt.operation, tt.params); got.Error.Code != tt.code {
				t.Errorf("%s %s: %+v", tt.operation, tt.params, got.Error)
			}
		}
		if page := s.call("ann", "list_executions", `{"operation":"look"}`); !page.Success || len(page.Data.Items) != 0 {
			t.Errorf("%+v", page)
		}
	})
}
