package serve

import (
	"context"
	"io"
	"strings"
	"testing"
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
