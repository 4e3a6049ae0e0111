package serve

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// F61: the subcommand reads the counts of an adapter by the flags with which that serves, with its keys, and writes
// nothing into its records.
func TestOperatorSeesQuotas(t *testing.T) {
	dir := t.TempDir()
	key, records := filepath.Join(dir, "key"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
		Description: "Builds something.", Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, nil)
	options := Options{Name: "notes", Operator: operator.Command{}, Adapter: aql.Options{
		State: new(store.Memory), Quota: quota.Options{
			Quotas: []quota.Quota{{Metric: quota.CostPerMonth, HardStop: 5}}, Prices: []quota.Price{{PerCall: 0.25}},
		},
	}}
	flags := []string{"-state-key", key, "-audit", records, "-audit-key", key}
	in, out := io.Pipe()
	env := environment{stdin: in, stdout: io.Discard, stderr: new(safeBuffer), lookup: lookup(nil)}
	code := make(chan int, 1)
	go func() { code <- env.run(t.Context(), registry, options, flags) }()
	request := strings.SplitAfter(listTools, "\n")[0] +
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mcp_aql_execute","arguments":` +
		`{"operation":"build","params":{}}}}` + "\n"
	if _, err := io.WriteString(out, request); err != nil {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	if code := <-code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	before, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	ended, printed := operate(t, options, append([]string{"quotas"}, flags...)...)
	line := identity.Owner().Subject + " (stdio)  cost per month  ok  0.25 used  stops "
	if ended != exitOK || !strings.HasPrefix(printed, line) ||
		!strings.Contains(printed, "whom inbox, executions and records name") {
		t.Errorf("code %d, %s", ended, printed)
	}
	if after, err := os.ReadFile(records); err != nil || string(after) != string(before) {
		t.Errorf("the records have changed: %s, %v", after, err)
	}
	options.Adapter.Quota = quota.Options{}
	ended, printed = operate(t, options, append([]string{"quotas"}, flags...)...)
	if ended != exitUsage || !strings.Contains(printed, "no quotas and no limits") {
		t.Errorf("without quotas: code %d, %s", ended, printed)
	}
	ended, printed = operate(t, options, "quotas", "-audit", records, "-audit-key", key+".none")
	if ended != exitUsage || !strings.Contains(printed, "-audit-key") {
		t.Errorf("a key that there is not: code %d, %s", ended, printed)
	}
}
