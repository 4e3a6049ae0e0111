// Command aql-tag writes the code that makes the functions of Go packages an MCP-AQL adapter: an MCP server that shows
// an agent a few tools instead of one for every operation, and tells it what it can do when it asks.
//
// Given this package
//
//	package notes
//
//	//go:generate go tool aql-tag
//
//	// AddRequest describes the note to add.
//	type AddRequest struct {
//		_    struct{} `aql:"category=CREATE"`
//		Text string   `json:"text" aql:"required,maxlen=2000"` // What the note says
//	}
//
//	// AddNote adds a note.
//	//
//	//aql:example {"text":"Buy milk"} The shortest request
//	func (s *Service) AddNote(ctx context.Context, req AddRequest) (*Note, error) { … }
//
// running
//
//	go get -tool github.com/aqltag/aqltag/cmd/aql-tag
//	go generate
//
// in its directory writes the file aql_gen.go with
//
//	func NewRegistry(service *Service) *gen.Registry
//
// which a main function serves over standard input and output:
//
//	serve.Main(notes.NewRegistry(&notes.Service{}), serve.Options{Name: "notes"})
//
// The blank field with an aql tag makes AddRequest a request, and the function that takes it an operation. Its name on
// the wire is add_note. Field tags say what a request must look like; the generated code checks it before AddNote is
// called. Comments become the descriptions that agents read. The package [github.com/aqltag/aqltag/tagparse] lists the
// keys of tags.
//
// A function whose types cannot be edited becomes an operation by a directive above it, such as //aql:op category=READ.
// For an existing package
//
//	aql-tag init
//
// lists the functions that could be operations, and aql-tag init -w writes their directives.
//
// Generated code holds compile-time guards: it no longer compiles when a request or result has other fields than the
// ones that it was generated for. Changes that the compiler does not see, such as those of tags and comments, are found
// by
//
//	aql-tag check ./...
//
// which belongs into CI: it writes nothing, prints a diff, and exits with 6 where a file is missing or out of date.
//
// A module with several packages of operations needs one go:generate comment, at its root, with ./... behind aql-tag.
//
// Usage:
//
//	aql-tag [gen] [flags] [packages]       write aql_gen.go for each package with operations
//	aql-tag check [flags] [packages]       show what is out of date, and with -against what breaks agents
//	aql-tag lint [flags] [packages]        print mistakes and what could serve agents better
//	aql-tag init [flags] [packages]        list the functions that could be operations
//	aql-tag policy check|explain [flags]   check a policy file, or explain what it decides about a call
//	aql-tag audit verify [flags] FILE...   check that nobody changed an audit file
//	aql-tag export -format F [flags]       write what an adapter offers in other formats
//	aql-tag conform [flags] -- COMMAND     probe a live MCP-AQL server
//	aql-tag call -- COMMAND OPERATION JSON call an operation of a live MCP-AQL server
//	aql-tag connect CLIENT -- COMMAND      print or write the configuration of an MCP client
//	aql-tag version                        print the version
//
// Each command describes its flags with -h.
//
// The exit code is 0 if all is well, 1 after an internal error, 2 if the source or a policy has errors, 3 for bad
// flags, 4 for an I/O error, 5 if code could not be emitted, and 6 if something is out of date, breaks agents or was
// tampered with. Those of conform, call and connect are their own.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
)

// The exit codes of the command.
const (
	exitOK       = 0
	exitInternal = 1
	exitSource   = 2 // the source has errors
	exitUsage    = 3 // bad flags or configuration
	exitIO       = 4
	exitEmit     = 5
	exitStale    = 6 // generated code or an export is out of date, a change breaks agents, or an audit file is broken
)

// command is one subcommand.
type command struct {
	name, usage, short string
	run                func(ctx context.Context, env *environment, args []string) int
}

func commands() []command {
	return []command{
		{"gen", "[gen] [flags] [packages]", "write aql_gen.go for each package with operations (default: .)", runGen},
		{"check", "check [flags] [packages]", "show what is missing or out of date, and exit 6 if anything is", runCheck},
		{"lint", "lint [flags] [packages]", "print what is wrong or could serve agents better", runLint},
		{"init", "init [flags] [packages]", "list the functions that could be operations", runInit},
		{"policy", "policy check|explain [flags]", "check a policy file, or explain what it decides about a call", runPolicy},
		{"audit", "audit verify [flags] FILE...", "check that nobody changed an audit file", runAudit},
		{"export", "export -format F [flags] [packages]", "write what an adapter offers in other formats", runExport},
		{"conform", "conform [flags] -- COMMAND", "probe a live MCP-AQL server, or one at -url", runConform},
		{"call", "call [flags] -- COMMAND OPERATION JSON", "call an operation of a live MCP-AQL server", runCall},
		{"connect", "connect [flags] CLIENT -- COMMAND", "print or write the configuration of an MCP client", runConnect},
		{"version", "version", "print the version", runVersion},
		{"help", "help", "print this text", runHelp},
	}
}

// environment is what a command sees of the process.
type environment struct {
	dir            string
	stdin          io.Reader
	stdout, stderr io.Writer
	color          bool
	cache          string // directory for what can be made again; empty: aql-tag in the user's cache directory
}

// path is where a file is that was named on the command line.
func (e *environment) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.dir, name)
}

func main() { os.Exit(start()) }

// start runs the command with the process's arguments and returns its exit code.
func start() int {
	if isVettool(os.Args[1:]) {
		runVettool()
	}
	if os.Getenv("GOGC") == "" {
		// A run lives for a fraction of a second beside editors and compilers: memory is dearer than time here.
		debug.SetGCPercent(35)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "aql-tag: finding the working directory: %v\n", err)
		return exitIO
	}
	env := &environment{dir: dir, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, color: wantsColor(os.Stderr)}
	return run(ctx, env, os.Args[1:])
}

func run(ctx context.Context, env *environment, args []string) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(env.stderr, "aql-tag: internal error: %v\nThis is a bug in aql-tag; nothing was written.\n", v)
			code = exitInternal
		}
	}()
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				return c.run(ctx, env, args[1:])
			}
		}
		if isHelp(args[0]) {
			return runHelp(ctx, env, nil)
		}
		if args[0] == "operator" { // aql-tag links no store, so it opens no state
			fmt.Fprintln(env.stderr, "aql-tag: operator is a subcommand of adapters, which open their state: run NAME "+
				"operator, where NAME is the program of yours, or aql-dongle operator")
			return exitUsage
		}
	}
	return runGen(ctx, env, args)
}

// isHelp reports whether an argument asks for help.
func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

func runHelp(_ context.Context, env *environment, _ []string) int {
	var b strings.Builder
	b.WriteString("aql-tag turns Go functions with tagged request structs into an MCP-AQL adapter.\n\nUsage:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  aql-tag %-38s %s\n", c.usage, c.short)
	}
	b.WriteString(`
aql-tag COMMAND -h describes a command and its flags.

As a tool of go vet, with suggested fixes:

  go vet -vettool=$(go tool -n aql-tag) ./...

Exit codes: 0 ok, 1 internal error, 2 the source or the policy has errors, 3 bad flags, 4 I/O, 5 emission failed,
6 out of date (check, export -check), breaking (check -against) or broken (audit verify). Those of conform, call
and connect are their own.
`)
	fmt.Fprint(env.stdout, b.String())
	return exitOK
}
