package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// An adapter with operations that outlive their calls runs their executions while it serves, and hands the durable ones
// back when it ends: the next process goes on at once.
func TestExecutionsAreServed(t *testing.T) {
	attempts := make(chan int)
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
		Description: "Builds something.", Request: (*struct{})(nil),
		Execution: &gen.Execution{
			Lifecycle: gen.Lifecycle{Durable: true},
			Run: aql.RunFunc(func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
				attempts <- run.Attempt()
				if run.Attempt() == 1 {
					<-ctx.Done()
					return nil, context.Cause(ctx)
				}
				return nil, nil
			}),
		},
	}}, nil)
	state := new(store.Memory)
	options := Options{Name: "builder", Adapter: aql.Options{
		State: state, Executions: aql.Executions{Drain: time.Millisecond, Lease: time.Hour, Poll: time.Millisecond},
	}}
	for attempt := 1; attempt <= 2; attempt++ {
		in, out := io.Pipe()
		env := environment{stdin: in, stdout: io.Discard, stderr: new(safeBuffer), lookup: lookup(nil)}
		code := make(chan int, 1)
		go func() { code <- env.run(t.Context(), registry, options, nil) }()
		if attempt == 1 {
			request := strings.SplitAfter(listTools, "\n")[0] +
				`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mcp_aql_execute","arguments":` +
				`{"operation":"build","params":{}}}}` + "\n"
			go func() { _, _ = io.WriteString(out, request) }()
		}
		if got := <-attempts; got != attempt {
			t.Errorf("attempt %d, want %d", got, attempt)
		}
		if err := out.Close(); err != nil {
			t.Error(err)
		}
		if code := <-code; code != exitOK {
			t.Errorf("exit code %d", code)
		}
	}
}

// failingOnce is a store that does not take what it is given first.
type failingOnce struct {
	store.Store
	puts atomic.Int64
}

func (s *failingOnce) Put(
	ctx context.Context, key string, value []byte, expected store.Version, ttl time.Duration,
) (store.Version, error) {
	if s.puts.Add(1) == 1 {
		return 0, errors.New("the state is not there yet")
	}
	return s.Store.Put(ctx, key, value, expected, ttl)
}

// Executions run as soon as the state can be reached, also where it could not at the beginning.
func TestExecutionsBeginLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		adapter, err := aql.New(gen.NewRegistry([]gen.Handler{{
			Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
			Description: "Builds something.", Request: (*struct{})(nil),
			Execution: &gen.Execution{
				Lifecycle: gen.Lifecycle{Durable: true},
				Run: aql.RunFunc(func(context.Context, []any, any, *aql.Run) (any, error) {
					attempts++
					return nil, nil
				}),
			},
		}}, nil), aql.Options{Name: "builder", State: &failingOnce{Store: new(store.Memory)}})
		if err != nil {
			t.Fatal(err)
		}
		end := work(t.Context(), adapter, slog.New(slog.DiscardHandler))
		defer end()
		synctest.Wait()
		reply := adapter.NewSession().Call(t.Context(), adapter.Tool("build"), []byte(`{"operation":"build"}`))
		if !strings.Contains(string(reply.JSON), `"status":"pending"`) {
			t.Fatalf("%s", reply.JSON)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if attempts != 1 {
			t.Errorf("%d attempts", attempts)
		}
	})
}

// slowToBegin is a store that takes its time for the first heartbeat of a worker.
type slowToBegin struct {
	store.Store
	begins chan struct{}
}

func (s *slowToBegin) Put(
	ctx context.Context, key string, value []byte, expected store.Version, ttl time.Duration,
) (store.Version, error) {
	if strings.Contains(key, "/a/") {
		<-s.begins
	}
	return s.Store.Put(ctx, key, value, expected, ttl)
}

// A call that comes as soon as an adapter serves starts its attached execution, although the worker is not there yet.
func TestCallsBeforeTheWorkerAreNotRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begins := make(chan struct{})
		adapter, err := aql.New(gen.NewRegistry([]gen.Handler{{
			Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
			Description: "Builds something.", Request: (*struct{})(nil),
			Execution: &gen.Execution{
				Run: aql.RunFunc(func(context.Context, []any, any, *aql.Run) (any, error) { return nil, nil }),
			},
		}}, nil), aql.Options{
			Name: "builder", State: &slowToBegin{new(store.Memory), begins}, StateTimeout: time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		end := work(t.Context(), adapter, slog.New(slog.DiscardHandler))
		defer end()
		time.AfterFunc(500*time.Millisecond, func() { close(begins) })
		reply := adapter.NewSession().Call(t.Context(), adapter.Tool("build"), []byte(`{"operation":"build"}`))
		if !strings.Contains(string(reply.JSON), `"success":true`) {
			t.Errorf("%s", reply.JSON)
		}
		time.Sleep(time.Second)
	})
}
