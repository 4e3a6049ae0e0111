// Command aql-dongle is a safety dongle: an MCP server with the operations of the execution safety loop of MCP-AQL, and
// no others (MCP-AQL execution safety loop §2). It looks after agents whose tools are those of other servers.
//
//	go install github.com/aqltag/aqltag/cmd/aql-dongle@latest
//	aql-dongle -state dongle.db -policy loop.yaml
//
// serves introspect, execute_agent, record_execution_step, complete_execution, abort_execution, confirm_operation and
// verify_challenge on standard input and output. People decide with
//
//	aql-dongle operator list -state dongle.db
//
// or in a browser, with -console, and are told that something waits for them with -notify, on the desktop, by a push
// message or by a webhook.
//
// An MCP client that runs a command before each tool use has the loop judge it, whether the agent reports it or not:
//
//	aql-dongle hook -agent claude -state dongle.db -policy loop.yaml
//
// docs/safety.md has the set-up, and what it enforces.
package main

import (
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/desktop"
	"github.com/aqltag/aqltag/runtime/notify/ntfy"
	"github.com/aqltag/aqltag/runtime/notify/webhook"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
	"github.com/aqltag/aqltag/runtime/toolhook"
)

func main() {
	var operations []string
	for _, operation := range gen.LoopOperations() {
		operations = append(operations, operation.Name)
	}
	serve.Main(gen.NewRegistry(nil, nil), serve.Options{
		Name:        "aql-dongle",
		Description: "The execution safety loop for agents whose tools are those of other servers.",
		Stores:      sqlite.Drivers(),
		Operator:    operator.Command{},
		Console:     console.Serve,
		Notify:      notify.Teller{Drivers: []notify.Driver{desktop.Driver(), ntfy.Driver(), webhook.Driver()}},
		Hook:        toolhook.Command{},
		Adapter:     aql.Options{Loop: &aql.Loop{}, Available: aql.Available{Operations: operations}},
	})
}
