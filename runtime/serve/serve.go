// Package serve is the main function of an adapter: flags, environment variables, transports and signals.
//
//	func main() {
//		service, err := todo.Open("todo.db")
//		if err != nil {
//			log.Fatal(err)
//		}
//		serve.Main(todo.NewRegistry(service), serve.Options{Name: "todo", Close: service.Close})
//	}
//
// The process then speaks MCP on standard input and output, or with -transport http on a port. Run it with -help for
// all flags.
package serve

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/toolhook"
)

// Options describes the adapter to serve. Only Name is required.
type Options struct {
	// Name and Version identify the service to clients. Without a Version it is taken from the build.
	Name, Version string
	// Description says what the service is, in a few sentences, for models. Default: the first sentence of the comment of
	// each package in the registry.
	Description string
	// Adapter and MCP are settings in Go. Flags and environment variables override them.
	Adapter aql.Options
	MCP     mcpserver.Options
	// Stores are the stores that -state can name, besides memory, such as sqlite.Drivers() of runtime/store/sqlite.
	Stores []store.Driver
	// Operator adds the subcommand operator, with which people decide what waits in the state: operator.Command{}.
	// With it, the adapter has an inbox (see aql.Confirmation.Inbox) wherever its state is not in memory, and the flag
	// -human-only.
	Operator Operator
	// Console is what -console serves, in which people decide in a browser: console.Serve. They log in with the
	// passphrases that they choose with Operator, which it needs. On stdio, where the user of the client is at the same
	// machine, clients are referred to it, unless MCP.ApprovalURL refers them elsewhere.
	Console Console
	// Hook adds the subcommand hook, with which an MCP client asks the safety loop of Adapter.Loop before each tool use:
	// toolhook.Command{}.
	Hook Hook
	// Telemetry adds the flags -otel and -metrics, with which traces and metrics leave the process: telemetry.Open of the
	// module runtime/observe/otel. Its hooks are called around those of Adapter.Observe, if there are some.
	Telemetry Telemetry
	// Notify has the channels that -notify can name, on which people are told that something waits for them:
	// notify.Teller. They need a state that is not in memory, and Operator or another inbox.
	Notify Notify
	// AuditKey is the key of the file of -audit, of 32 bytes or more; -audit-key overrides it. AuditSize is the size in
	// bytes at which the file is closed and the next one begins; default 64 MiB, negative: never. AuditKeep is how many
	// closed files are kept; zero: all. See audit.FileOptions.
	AuditKey  []byte
	AuditSize int64
	AuditKeep int
	// AllowRemote allows HTTP on addresses that other machines can reach without MCP.Bearer, so that callers are
	// anonymous. Set it if a proxy authenticates them.
	AllowRemote bool
	// MaxConnections bounds the HTTP connections that are open at the same time; default 1024. One more closes another: of
	// the address (for IPv6, the network of 64 bits) with most connections, the one that waits longest for its client.
	MaxConnections int
	// Close, unless nil, is called when serving has ended, before Main exits, also where calls still run.
	Close func() error
	// Drain is for how long HTTP is served as before when the process is to end, while /readyz answers 503: a load
	// balancer that asks it sends no more calls by the time that the port closes. Default: zero; -drain overrides it. A
	// second signal ends the process at once.
	Drain time.Duration
	// ShutdownTimeout bounds how long running calls may take at shutdown, and as long again how long closing may take:
	// that of Close, and of the state and the audit log. Default: 10 seconds, and for calls on stdio 5. What does not end
	// within it is in the log, and Main exits with code 1.
	ShutdownTimeout time.Duration
}

// The exit codes of Main.
const (
	exitOK    = 0
	exitError = 1 // while running
	exitUsage = 3 // flags, environment or configuration
)

// Main serves a registry according to the flags of the process, until the client disconnects or the process gets an
// interrupt or a termination signal, and exits.
//
// A service with flags of its own defines them with package flag, and calls flag.Parse after Flags has added the
// adapter's:
//
//	db := flag.String("db", "todo.db", "database file")
//	serve.Flags(flag.CommandLine)
//	flag.Parse()
//	…
//	serve.Main(registry, serve.Options{Name: "todo"})
//
// If flag.Parse was not called, Main parses the adapter's flags itself.
func Main(registry *aql.Registry, options Options) {
	os.Exit(main(registry, options))
}

func main(registry *aql.Registry, options Options) int {
	ctx, stop := untilSignal()
	defer stop()
	if options.hooks(os.Args[1:]) {
		ignoreClosedPipes()
	}
	if flag.Parsed() && flag.Lookup("transport") == nil {
		fmt.Fprintln(os.Stderr, "flag.Parse was called before serve.Flags(flag.CommandLine) added the adapter's flags")
		return exitUsage
	}
	env := environment{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, lookup: os.LookupEnv, environ: os.Environ(),
	}
	if flag.Parsed() {
		return env.serve(ctx, registry, options, flag.CommandLine)
	}
	return env.run(ctx, registry, options, os.Args[1:])
}

// untilSignal returns a context that ends with an interrupt or a termination signal. The next one ends the process.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// environment is the environment of a process: that of this process, or of a test.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	terminal       func() (io.ReadWriteCloser, error) // nil: that of the process
	lookup         func(name string) (string, bool)
	environ        []string // in which misspelt names are searched
}

// run parses args, serves until ctx ends, and returns the exit code.
func (e environment) run(ctx context.Context, registry *aql.Registry, options Options, args []string) int {
	set := flag.NewFlagSet(options.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	Flags(set)
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		set.SetOutput(e.stdout)
		set.Usage()
		if options.Operator != nil {
			fmt.Fprintf(e.stdout, "\nWhat waits for a person: %s operator -h\n", options.Name)
		}
		if options.Hook != nil {
			fmt.Fprintf(e.stdout, "\nBefore each tool use of a client: %s hook -h\n", options.Name)
		}
		if options.hooks(args) {
			return toolhook.Refused
		}
		return exitOK
	case err == nil && (options.operates(set.Args()) || options.hooks(set.Args())):
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if err != nil {
		fmt.Fprintf(e.stderr, "%s: %v\nRun it with -help for usage.\n", options.Name, err)
		if options.Hook != nil { // its word may be misspelt
			return toolhook.Refused
		}
		return exitUsage
	}
	return e.serve(ctx, registry, options, set)
}

// serve serves the adapter with parsed flags.
func (e environment) serve(ctx context.Context, registry *aql.Registry, options Options, set *flag.FlagSet) (code int) {
	if options.Version == "" {
		options.Version = buildVersion()
	}
	if set.Lookup("version").Value.String() == "true" && !options.hooks(set.Args()) {
		fmt.Fprintf(e.stdout, "%s %s\n", options.Name, options.Version)
		return exitOK
	}
	if options.operates(set.Args()) {
		return e.operate(ctx, options, set)
	}
	if options.hooks(set.Args()) {
		return e.hook(ctx, registry, options, set)
	}
	if options.Hook != nil && set.NArg() > 0 { // of flags that the service has parsed
		fmt.Fprintf(e.stderr, "%s: unexpected argument %q\n", options.Name, set.Arg(0))
		return toolhook.Refused
	}
	settings, warnings, err := e.settings(set)
	if err != nil {
		fmt.Fprintf(e.stderr, "%s: %v\n", options.Name, err)
		return exitUsage
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: settings.level}))
	for _, warning := range warnings {
		log.Warn(warning)
	}
	leaves := ctx.Done()
	ctx, stop := later(ctx, settings.draining(&options))
	defer stop()
	exports, log, err := settings.telemetry(ctx, &options, log)
	var source *policyfile.File
	var opened resources
	if err == nil {
		source, opened, err = settings.prepare(ctx, &options, log)
	}
	defer func() {
		if exports != nil {
			opened = append(resources{exports.sending(options.shutdownTimeout())}, opened...)
		}
		if options.Close != nil {
			opened = append(resources{closing(options.Close)}, opened...)
		}
		if err := opened.closeWithin(options.shutdownTimeout()); err != nil {
			log.Error("closing the service failed", slog.Any("error", err))
			code = exitError
		}
	}()
	if err == nil {
		err = e.loopMode(&options.Adapter, log)
	}
	var adapter *aql.Adapter
	var seen *sight
	endConsole, endTelling := func() {}, func() {}
	defer func() {
		if !within(options.shutdownTimeout(), endConsole) {
			log.Warn("The console did not end in time")
		}
	}()
	if err == nil {
		seen = settings.sight(&options)
		applied := settings.apply(options, log)
		if adapter, err = aql.New(registry, applied); err == nil {
			warnOfNobody(registry, adapter, applied.Confirmation, options, log)
			endConsole, err = settings.openConsole(ctx, adapter, &options, seen.of(adapter), log)
		}
		if err == nil {
			endTelling, err = settings.tell(ctx, options.Notify, applied, log)
		}
	}
	if err == nil {
		err = exports.watch(adapter)
	}
	if err != nil {
		fmt.Fprintf(e.stderr, "%s: %v\n", options.Name, err)
		return exitUsage
	}
	also := beside{health: adapter.Health, leaves: leaves}
	if source != nil {
		followed := &followedPolicy{File: source, reloads: settings.reloads}
		tell := func() { settings.warnOfOnePerson(followed.Policy(), log) }
		tell()
		go followed.follow(ctx, adapter, log, tell)
		also.health = followed.health(also.health)
		seen.judge(also.health)
	}
	defer within(options.shutdownTimeout(), endTelling)
	switch {
	case exports == nil || exports.Metrics == nil:
	case settings.metrics == sameAddress:
		also.metrics = exports.Metrics
	default:
		end, err := serveMetrics(ctx, settings.metrics, exports.Metrics, log)
		if err != nil {
			fmt.Fprintf(e.stderr, "%s: %v\n", options.Name, err)
			return exitUsage
		}
		defer end()
	}
	if adapter.Executes() {
		working := work(ctx, adapter, log)
		defer func() {
			if !within(options.shutdownTimeout(), working) {
				log.Warn("Executions did not end in time; those that are durable go on elsewhere when their lease is over")
			}
		}()
	}
	return e.serveAdapter(ctx, adapter, also, settings, options, log)
}

// workPause is after how long executions are tried to run again where the state could not be reached.
const workPause = 5 * time.Second

// work runs the executions of an adapter until the function that it returns is called, which waits for their end.
func work(ctx context.Context, adapter *aql.Adapter, log *slog.Logger) (end func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // calls that still run may start some
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			err := adapter.Work(ctx)
			if err == nil {
				return
			}
			log.Error("executions do not run yet", slog.Any("error", err))
			select {
			case <-ctx.Done():
				return
			case <-time.After(workPause):
			}
		}
	}()
	return func() {
		stop()
		<-ended
	}
}

// serveAdapter serves the adapter on the transport of the settings.
func (e environment) serveAdapter(
	ctx context.Context, adapter *aql.Adapter, also beside, s settings, options Options, log *slog.Logger,
) int {
	options.MCP.DrainTimeout = cmp.Or(options.MCP.DrainTimeout, options.ShutdownTimeout)
	server := mcpserver.New(adapter, options.MCP)
	err := server.Err()
	if err != nil {
		err = usageError{fmt.Errorf("serve.Options.MCP.Setup: %w", err)}
	} else if s.transport == "stdio" {
		err = server.RunStdio(ctx, e.stdin, e.stdout)
		within(options.shutdownTimeout(), server.Close)
	} else { // it closes the server itself, and waits for running calls no longer than the deadline
		err = serveHTTP(ctx, server, also, s, options, log)
	}
	var misuse usageError
	switch {
	case errors.As(err, &misuse):
		fmt.Fprintf(e.stderr, "%s: %v\n", options.Name, err)
		return exitUsage
	case err != nil:
		log.Error("serving failed", slog.Any("error", err))
		return exitError
	}
	return exitOK
}

func (o *Options) shutdownTimeout() time.Duration { return cmp.Or(o.ShutdownTimeout, 10*time.Second) }

// usageError is a mistake in flags or configuration.
type usageError struct{ error }

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
