package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os/signal"
	"slices"
	"syscall"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/toolhook"
)

// Hook is the subcommand that an MCP client runs before each tool use: toolhook.Command.
type Hook interface {
	// Run judges the tool use on standard input, and returns the exit code.
	Run(ctx context.Context, d toolhook.Desk, f toolhook.Flags) int
}

// hookCommand is the word of the subcommand of Options.Hook.
const hookCommand = "hook"

// hooks reports whether arguments ask for the subcommand. It need not be the first: what stands before it may be a flag
// that cannot be parsed.
func (o *Options) hooks(args []string) bool {
	return o.Hook != nil && slices.Contains(args, hookCommand)
}

// ignoreClosedPipes lets the process end with its exit code where nobody reads what it prints.
func ignoreClosedPipes() { signal.Ignore(syscall.SIGPIPE) }

// hook runs the subcommand. Whatever is wrong refuses the tool use: clients let it pass with any other exit code.
func (e environment) hook(ctx context.Context, registry *aql.Registry, options Options, set *flag.FlagSet) int {
	refuse := func(err error) int {
		fmt.Fprintf(e.stderr, "The safety loop refuses this tool use: the command of the hook is wrong: %v. Tell the user.\n",
			err)
		return toolhook.Refused
	}
	if set.Arg(0) != hookCommand {
		return refuse(fmt.Errorf("unexpected argument %q", set.Arg(0)))
	}
	var flags toolhook.Flags
	words, err := behind(set, flags.Add)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(e.stdout, "Usage of %s, with the flags -state, -state-key, -policy and -audit of the program that "+
			"serves:\n\n%s", options.Name, toolhook.Usage)
		return toolhook.Refused
	case err != nil:
		return refuse(err)
	case len(words) > 0:
		return refuse(fmt.Errorf("unexpected argument %q", words[0]))
	}
	return options.Hook.Run(ctx, toolhook.Desk{
		Program: options.Name, Stdin: e.stdin, Stdout: e.stdout, Stderr: e.stderr,
		Open: func(ctx context.Context, log *slog.Logger) (*aql.Registry, aql.Options, func(), error) {
			opened, err := e.openHook(ctx, set, &options, log)
			end := func() {
				if err := opened.closeWithin(options.shutdownTimeout()); err != nil {
					log.Error("closing failed", slog.Any("error", err))
				}
			}
			return registry, options.Adapter, end, err
		},
	}, flags)
}

// openHook opens what the settings name, and sets the options of the adapter. What was opened is to be closed, whether
// it fails or not.
func (e environment) openHook(
	ctx context.Context, set *flag.FlagSet, options *Options, log *slog.Logger,
) (resources, error) {
	var opened resources
	if options.Close != nil {
		opened = resources{closing(options.Close)}
	}
	settings, warnings, err := e.settings(set)
	if err != nil {
		return opened, err
	}
	for _, warning := range warnings {
		log.Warn(warning)
	}
	_, more, err := settings.prepare(ctx, options, log)
	opened = append(opened, more...)
	if err == nil && options.Adapter.State == nil {
		err = errors.New("-state names where the loop keeps its state, and memory is of one process alone: give each " +
			"process the same, such as -state state.db")
	}
	if err == nil {
		err = e.loopMode(&options.Adapter, log)
	}
	options.Adapter = settings.apply(*options, log)
	return opened, err
}
