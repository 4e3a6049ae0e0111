package serve

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
)

// F61: the subcommand finds the executions and the records of an adapter by the flags with which that serves, with its
// keys, and the records without its state.
func TestOperatorSeesExecutionsAndRecords(t *testing.T) {
	dir := t.TempDir()
	key, records := filepath.Join(dir, "key"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
		Description: "Builds something.", Request: (*struct{})(nil),
		Execution: &gen.Execution{
			Lifecycle: gen.Lifecycle{Durable: true},
			Run: aql.RunFunc(func(ctx context.Context, _ []any, _ any, _ *aql.Run) (any, error) {
				close(began)
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}),
		},
	}}, nil)
	options := Options{Name: "notes", Operator: operator.Command{}, Adapter: aql.Options{
		State: new(store.Memory), Executions: aql.Executions{Drain: time.Millisecond},
	}}
	audited := []string{"-audit", records, "-audit-key", key}
	in, out := io.Pipe()
	env := environment{stdin: in, stdout: io.Discard, stderr: new(safeBuffer), lookup: lookup(nil)}
	code := make(chan int, 1)
	go func() {
		code <- env.run(t.Context(), registry, options, append([]string{"-state-key", key}, audited...))
	}()
	request := strings.SplitAfter(listTools, "\n")[0] +
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mcp_aql_execute","arguments":` +
		`{"operation":"build","params":{}}}}` + "\n"
	go func() { _, _ = io.WriteString(out, request) }()
	<-began
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	if code := <-code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	_, printed := operate(t, options, "executions", "-state-key", key)
	id := regexp.MustCompile(`^exec_[a-z2-7]+`).FindString(printed)
	if id == "" || !strings.Contains(printed, "  build  by ") {
		t.Fatalf("executions prints %s", printed)
	}
	ended, printed := operate(t, options, "cancel", id) // without the key
	if ended != exitError || !strings.Contains(printed, "give the -state-key") {
		t.Errorf("code %d, %s", ended, printed)
	}
	options.Adapter.State = nil
	ended, printed = operate(t, options, append([]string{"audit", "tail"}, audited...)...)
	if ended != exitOK || !strings.Contains(printed, "  build  allowed  by ") ||
		!strings.Contains(printed, "The chain verifies") {
		t.Errorf("code %d, %s", ended, printed)
	}
	ended, printed = operate(t, options, "audit", "tail", "-audit", records)
	if ended != exitError || !strings.Contains(printed, "NOT VERIFIED") || !strings.Contains(printed, "-audit-key") {
		t.Errorf("without the key: code %d, %s", ended, printed)
	}
	ended, printed = operate(t, options, "audit", "tail", "-audit", records, "-audit-key", records+".none")
	if ended != exitUsage || !strings.Contains(printed, "-audit-key") {
		t.Errorf("a key that there is not: code %d, %s", ended, printed)
	}
}
