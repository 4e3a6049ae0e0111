package serve_test

import (
	"flag"
	"os"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/notes"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/serve"
)

// A main function. The program speaks MCP on standard input and output, or with -transport http on a port.
func ExampleMain() {
	serve.Main(notes.NewRegistry(notes.New()), serve.Options{Name: "notes", Version: "1.0.0"})
}

// A service with a flag of its own.
func ExampleFlags() {
	verbose := flag.Bool("verbose", false, "log every note")
	serve.Flags(flag.CommandLine)
	flag.Parse()
	if *verbose {
		os.Stderr.WriteString("logging every note\n")
	}
	serve.Main(notes.NewRegistry(notes.New()), serve.Options{Name: "notes"})
}

// What the author of a service decides in Go. Flags and environment variables override Mode, and nothing else here.
func ExampleOptions() {
	serve.Main(notes.NewRegistry(notes.New()), serve.Options{
		Name: "notes",
		Adapter: aql.Options{
			Mode:    aql.ModeSingle,
			Timeout: 30 * time.Second,
			Quota:   quota.Options{Limits: []quota.Limit{{Limit: 1000, Window: quota.Hour}}},
			Policy: &policy.Policy{Rules: []policy.Rule{
				{
					Name: "anonymous callers only read", Effect: policy.Deny, Anonymous: new(true),
					Not: policy.Exception{Operations: []string{"get_*"}},
				},
			}},
		},
		MCP: mcpserver.Options{Elicit: true, Instructions: "Notes of one person."},
	})
}
