package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// outliving are two operations whose executions run until they are ended: one that is attached, and one that is
// durable. They tell when they begin.
func outliving(begun chan<- string) *aql.Registry {
	operation := func(name string, durable bool) gen.Handler {
		return gen.Handler{
			Name: name, Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
			Description: "Waits for its end.", Request: (*struct{})(nil),
			Execution: &gen.Execution{
				Lifecycle: gen.Lifecycle{Durable: durable},
				Run: aql.RunFunc(func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
					begun <- run.ID()
					<-ctx.Done()
					return nil, errors.New("it was ended")
				}),
			},
		}
	}
	return gen.NewRegistry([]gen.Handler{operation("attached", false), operation("durable", true)}, nil)
}

// statusOf returns the status of an execution, as another process reads it, as soon as it is the one that is wanted, or
// a last one.
func statusOf(t *testing.T, state store.Store, caller aql.Caller, id, want string) string {
	t.Helper()
	adapter, err := aql.New(outliving(nil), aql.Options{Name: "notes", State: state})
	if err != nil {
		t.Fatal(err)
	}
	ctx := aql.WithCaller(t.Context(), caller)
	session := adapter.NewSession()
	for {
		reply := session.Call(ctx, "mcp_aql_read", []byte(
			`{"operation":"get_execution","params":{"execution_id":"`+id+`","wait_ms":100}}`))
		var a struct {
			Data struct {
				Status   string
				Finished *time.Time `json:"finished_at"`
			}
		}
		if err := json.Unmarshal(reply.JSON, &a); err != nil || a.Data.Status == "" {
			t.Fatalf("%v: %s", err, reply.JSON)
		}
		if a.Data.Status == want || a.Data.Finished != nil {
			return a.Data.Status
		}
	}
}

// begins starts an execution in a session, and returns its id when it runs. A server that has just started may not
// execute anything yet.
func begins(t *testing.T, session *mcp.ClientSession, operation string, begun <-chan string) string {
	t.Helper()
	for {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "mcp_aql_execute", Arguments: json.RawMessage(`{"operation":"` + operation + `"}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		if !result.IsError {
			return <-begun
		}
	}
}

// attachedOptions are those of a server that ends soon.
func attachedOptions(state store.Store) Options {
	return Options{Name: "notes", Adapter: aql.Options{
		State: state, Executions: aql.Executions{Drain: time.Millisecond, Poll: time.Millisecond},
	}}
}

// REQ-EL-08, T-96: on stdio an attached execution ends cancelled with the input of its server, and with the server.
func TestAttachedOverStdio(t *testing.T) {
	for _, how := range []string{"the input ends", "the server is stopped"} {
		t.Run(how, func(t *testing.T) {
			state, begun := new(store.Memory), make(chan string)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			env := environment{stdin: in, stdout: out, stderr: new(safeBuffer), lookup: lookup(nil)}
			code := make(chan int, 1)
			go func() { code <- env.run(ctx, outliving(begun), attachedOptions(state), nil) }()
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(
				t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer},
				&mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"},
			)
			if err != nil {
				t.Fatal(err)
			}
			id := begins(t, session, "attached", begun)
			if how == "the input ends" {
				toServer.Close()
			} else {
				stop()
			}
			if code := <-code; code != exitOK {
				t.Errorf("exit code %d", code)
			}
			if got := statusOf(t, state, identity.Owner(), id, "cancelled"); got != "cancelled" {
				t.Errorf("when the server has ended it is %s", got)
			}
		})
	}
}

// REQ-EL-08, T-96: over HTTP an attached execution ends cancelled with its session, and with the server, and a durable
// one does not. In the protocol without sessions it ends with the server.
func TestAttachedOverHTTP(t *testing.T) {
	for _, tt := range []struct{ name, version, ends, attached, durable string }{
		{"a session is deleted", "2025-06-18", "session", "cancelled", "running"},
		{"a server with a session is stopped", "2025-06-18", "server", "cancelled", "running"},
		{"a client without a session goes away", "2026-07-28", "session", "running", "running"},
		{"a server without a session is stopped", "2026-07-28", "server", "cancelled", "running"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			state, begun := new(store.Memory), make(chan string)
			r := start(t, outliving(begun), attachedOptions(state))
			session := r.connect(t, tt.version)
			durable := begins(t, session, "durable", begun)
			attached := begins(t, session, "attached", begun)
			if tt.ends == "server" {
				r.stop()
			} else if err := session.Close(); err != nil {
				t.Error(err)
			}
			if got := statusOf(t, state, aql.Caller{}, attached, tt.attached); got != tt.attached {
				t.Errorf("the attached one is %s, want %s", got, tt.attached)
			}
			if got := statusOf(t, state, aql.Caller{}, durable, tt.durable); got != tt.durable {
				t.Errorf("the durable one is %s, want %s", got, tt.durable)
			}
			r.stop()
			if code := <-r.code; code != exitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
