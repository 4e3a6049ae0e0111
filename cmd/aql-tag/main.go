// Command aql-tag reads Go packages whose request structs carry aql tags and writes the code that makes them an MCP-AQL
// adapter. See "aql-tag help".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// The exit codes of the command (design §4; protocol generator §7.4).
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
		{"check", "check [flags] [packages]", "write nothing; show a diff and exit 6 where a file is missing or stale", runCheck},
		{"lint", "lint [flags] [packages]", "say what is wrong and what could serve agents better; exit 2 if anything is", runLint},
		{"init", "init [flags] [packages]", "list the functions that could be operations; -w writes their directives", runInit},
		{"policy", "policy check|explain [flags]", "hold a policy file against packages, or say what it decides about a call", runPolicy},
		{"audit", "audit verify [flags] FILE...", "check that nobody changed an audit file; exit 6 if somebody did", runAudit},
		{"export", "export -format F [flags] [packages]", "write what an adapter offers in other formats; see -h", runExport},
		{"conform", "conform [flags] -- COMMAND", "probe a live MCP-AQL server, or one at -url; see aql-tag conform -h", runConform},
		{"version", "version", "print the version", runVersion},
		{"help", "help", "print this text", runHelp},
	}
}

// environment is what a subcommand sees of the process.
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

func main() { os.Exit(Main()) }

// Main runs the command with the process's arguments and returns its exit code. It is exported for the command's own
// tests, which run it as a program.
func Main() int {
	if isVettool(os.Args[1:]) {
		runVettool()
	}
	if os.Getenv("GOGC") == "" {
		// A run lives for a fraction of a second beside editors and compilers: memory is dearer than time here.
		debug.SetGCPercent(60)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "aql-tag: finding the working directory: %v\n", err)
		return exitIO
	}
	return run(ctx, &environment{dir: dir, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, color: wantsColor(os.Stderr)}, os.Args[1:])
}

func run(ctx context.Context, env *environment, args []string) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(env.stderr, "aql-tag: internal error: %v\nThis is a bug in aql-tag; nothing was written.\n", v)
			code = exitInternal
		}
	}()
	name := "gen"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		for _, c := range commands() {
			if c.name == args[0] {
				name, args = c.name, args[1:]
				break
			}
		}
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, env, args)
		}
	}
	return exitInternal
}

func runHelp(_ context.Context, env *environment, _ []string) int {
	printUsage(env.stdout)
	return exitOK
}

func printUsage(w io.Writer) {
	fmt.Fprint(w, "aql-tag turns Go functions with tagged request structs into an MCP-AQL adapter.\n\nUsage:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  aql-tag %-28s %s\n", c.usage, c.short)
	}
	fmt.Fprint(w, `
Flags of gen, check and lint:

  -tags list   build tags, comma-separated
  -json        diagnostics as JSON, one array on standard output
  -v           say what is done
  -q           print errors only

Flags of check: these, and

  -against path
               compare what agents see with an old version, exported with
               -format snapshot or introspection; exit 6 where a change
               breaks agents. -v prints the other changes too; -json prints
               one object with diagnostics, stale and changes

Flags of init: these (-json prints the proposals, -v unexported functions too), and

  -w           write the directives above the functions, touching nothing else
  -only regexp operations or functions (Type.Method) to propose

Flags of policy check [packages], and of policy explain OPERATION [packages]:
those of gen (-json prints mistakes, or the explanation), and

  -policy file the policy, in YAML
  -caller name explain: who calls; without it the caller is anonymous
  -issuer name explain: who vouches for the caller
  -scope scope explain: what the caller may do; once for each
  -params json explain: the parameters of the call; default {}

Flags of audit verify, conform and export: see aql-tag audit -h, and so on

As a tool of go vet, with suggested fixes:

  go vet -vettool=$(go tool -n aql-tag) ./...

Exit codes: 0 ok, 1 internal error, 2 the source or the policy has errors,
3 bad flags, 4 I/O, 5 emission failed, 6 out of date (check, export -check),
breaking (check -against) or broken (audit verify). Those of conform are its
own.
`)
}

// flags are the flags that the subcommands share.
type flags struct {
	tags           string
	json           bool
	verbose, quiet bool
	packages       []string
}

// parseFlags reads the flags of a subcommand; more declares those that it has beside the shared ones. Flags may stand before,
// between and after the package patterns.
func parseFlags(env *environment, name string, args []string, more ...func(*flag.FlagSet)) (flags, int) {
	var f flags
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.tags, "tags", "", "")
	set.BoolVar(&f.json, "json", false, "")
	set.BoolVar(&f.verbose, "v", false, "")
	set.BoolVar(&f.quiet, "q", false, "")
	for _, declare := range more {
		declare(set)
	}
	for {
		if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
			printUsage(env.stdout)
			return f, exitOK
		} else if err != nil {
			fmt.Fprintf(env.stderr, "aql-tag %s: %v\nRun 'aql-tag help' for usage.\n", name, err)
			return f, exitUsage
		}
		if set.NArg() == 0 {
			break
		}
		f.packages = append(f.packages, set.Arg(0))
		args = set.Args()[1:]
	}
	if f.verbose && f.quiet {
		fmt.Fprintf(env.stderr, "aql-tag %s: -v and -q contradict each other\n", name)
		return f, exitUsage
	}
	if len(f.packages) == 0 {
		f.packages = []string{"."}
	}
	return f, -1
}
