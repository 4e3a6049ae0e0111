// Command todo serves todos in SQLite to agents, over MCP.
//
//	todo -db todo.db                     on standard input and output
//	todo -db todo.db -transport http     at http://127.0.0.1:8080/mcp
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/serve"
)

func main() {
	db := flag.String("db", "todo.db", "database `file`, or :memory:")
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
	})
}
