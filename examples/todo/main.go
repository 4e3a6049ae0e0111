// Command todo serves todos, kept in SQLite, to agents over MCP.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
)

func main() {
	db := flag.String("db", "todo.db", "database `file`; "+todo.Memory+" keeps the todos until the process ends")
	serve.Flags(flag.CommandLine)
	flag.Parse()

	service, err := todo.Open(*db)
	if err != nil {
		fmt.Fprintln(os.Stderr, "todo:", err)
		os.Exit(1)
	}
	serve.Main(todo.NewRegistry(service), serve.Options{
		Name:    "todo",
		Version: "1.0.0",
		Adapter: aql.Options{SupportsETag: true},
		Stores:  sqlite.Drivers(),
		// People approve with "todo operator" what -human-only holds up.
		Operator: operator.Command{},
		// And so they do in a browser, where -console says.
		Console: console.Serve,
		Close:   service.Close,
	})
}
