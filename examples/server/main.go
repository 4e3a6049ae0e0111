// Command server serves the todos of the example to agents that sign in with bearer tokens, on one server or by many
// processes that share a PostgreSQL database.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/execution/river"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/observe/otel/telemetry"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
)

// version is that of the build: go build -ldflags "-X main.version=1.2.3".
var version = "1.0.0"

func main() {
	db := flag.String("db", "todo.db", "database `file` of the todos")
	tokens := flag.String("tokens", "", "`file` with the SHA-256 of bearer tokens, and whose they are; "+
		"without it callers over HTTP are anonymous, and on this machine")
	hosts := flag.String("host", "", "`names` by which clients know this server, with commas between them")
	serve.Flags(flag.CommandLine)
	flag.Parse()

	options := serve.Options{
		Name:    "todo",
		Version: version,
		Adapter: aql.Options{SupportsETag: true, Timeout: 30 * time.Second},
		Stores:  append(sqlite.Drivers(), river.Drivers()...),
		// People decide with "todo-server operator", and with -console in a browser, about what -human-only holds up.
		Operator:  operator.Command{},
		Console:   console.Serve,
		Telemetry: telemetry.Open,
	}
	if *hosts != "" {
		options.MCP.AllowedHosts = strings.Split(*hosts, ",")
	}
	if *tokens != "" {
		known, err := readTokens(*tokens)
		if err != nil {
			fail("-tokens: %v", err)
		}
		options.MCP.Bearer = &mcpserver.Bearer{Verify: known.verify}
	}
	service, err := todo.Open(*db)
	if err != nil {
		fail("-db: %v", err)
	}
	options.Close = service.Close
	serve.Main(todo.NewRegistry(service), options)
}

// fail ends the program before it serves, with the exit code of a wrong command line.
func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "todo: "+format+"\n", values...)
	os.Exit(3)
}
