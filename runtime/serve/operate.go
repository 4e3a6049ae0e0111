package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
)

// Operator is the subcommand with which people decide what waits in the state: operator.Command.
type Operator interface {
	// Check returns what is wrong with the words behind the subcommand of a program; nil: Run knows them.
	Check(program string, words []string) error
	// Inbox returns the inbox in a store, for the adapter.
	Inbox(state store.Store) approve.Inbox
	// Run runs the subcommand with the words behind it, and returns the exit code.
	Run(ctx context.Context, d operator.Desk, f operator.Flags, words []string) int
}

// subcommand is the first word of the subcommand of Options.Operator.
const subcommand = "operator"

// operates reports whether the arguments behind the flags ask for the subcommand.
func (o *Options) operates(args []string) bool {
	return o.Operator != nil && len(args) > 0 && args[0] == subcommand
}

// operate runs the subcommand. Flags may stand behind it, and override those before it.
func (e environment) operate(ctx context.Context, options Options, set *flag.FlagSet) (code int) {
	fail := func(err error) int {
		fmt.Fprintf(e.stderr, "%s: %v\n", options.Name, err)
		return exitUsage
	}
	var flags operator.Flags
	words, err := behind(set, flags.Add)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(e.stdout, "Usage of %s, with the flags -state, -state-key and -audit of the program that serves:\n\n%s",
			options.Name, operator.Usage)
		return exitOK
	case err != nil:
		return fail(err)
	}
	if err := options.Operator.Check(options.Name, words); err != nil {
		fmt.Fprintln(e.stderr, err)
		return exitUsage
	}
	settings, warnings, err := e.settings(set)
	if err != nil {
		return fail(err)
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: settings.level}))
	for _, warning := range warnings {
		log.Warn(warning)
	}
	if words[0] == "audit" { // the file is only read, and no state is needed
		return e.records(ctx, options, settings, flags, words)
	}
	if err := settings.isThere(words); err != nil {
		return fail(err)
	}
	settings.policy = "" // it decides nothing here
	desk := operator.Desk{
		Program: options.Name, Quota: options.Adapter.Quota, Stdout: e.stdout, Stderr: e.stderr, Terminal: e.terminal,
	}
	if words[0] == "quotas" && settings.audit != "" { // the records are only read, for the callers in them
		desk.AuditFile, settings.audit = settings.audit, ""
		if desk.AuditKey, err = settings.keyOfAudit(&options); err != nil {
			return fail(err)
		}
		settings.auditKey = ""
	}
	_, opened, err := settings.prepare(ctx, &options, log)
	defer func() {
		if options.Close != nil {
			opened = append(resources{closing(options.Close)}, opened...)
		}
		if err := opened.closeWithin(options.shutdownTimeout()); err != nil {
			log.Error("closing failed", slog.Any("error", err))
			code = max(code, exitError)
		}
	}()
	if err == nil && options.Adapter.State == nil {
		err = errors.New("-state names where the adapter that serves keeps its state, and memory is of one process alone: " +
			"give both the same, such as -state state.db")
	}
	if err != nil {
		return fail(err)
	}
	state, err := unsealed(&options.Adapter)
	if err != nil {
		return fail(err)
	}
	desk.Inbox, desk.State, desk.Audit = options.Operator.Inbox(state), state, options.Adapter.Audit
	desk.Kept, desk.Keys = options.Adapter.State, stateKeys(&options.Adapter)
	return options.Operator.Run(ctx, desk, flags, words)
}

// records runs the subcommand for the records of -audit.
func (e environment) records(
	ctx context.Context, options Options, s settings, flags operator.Flags, words []string,
) int {
	desk := operator.Desk{
		Program: options.Name, AuditFile: s.audit, AuditKey: options.AuditKey, Stdout: e.stdout, Stderr: e.stderr,
	}
	if s.auditKey != "" {
		key, err := readKey("audit-key", s.auditKey)
		if err != nil {
			fmt.Fprintf(e.stderr, "%s: %v\n", options.Name, err)
			return exitUsage
		}
		desk.AuditKey = key
	}
	return options.Operator.Run(ctx, desk, flags, words)
}

// stateKeys returns the keys of the state of an adapter, the one that seals first.
func stateKeys(o *aql.Options) [][]byte {
	if o.StateKey == nil {
		return nil
	}
	return append([][]byte{o.StateKey}, o.OldStateKeys...)
}

// unsealed returns the state of an adapter, which opens what that has sealed.
func unsealed(o *aql.Options) (store.Store, error) {
	if o.StateKey == nil {
		return o.State, nil
	}
	return gate.SealedStore(o.State, stateKeys(o)...)
}

// isThere fails where the state is a file that does not exist: it would be made, and nothing would wait in it. The
// passphrase of a person, and the role, may be there before the adapter has served.
func (s settings) isThere(words []string) error {
	if !s.inFile() || words[0] == "passphrase" || words[0] == "enrol" {
		return nil
	}
	if _, err := os.Stat(s.state); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("-state: there is no file %s: name the one that the adapter serves with", s.state)
	}
	return nil
}

// behind parses the words and flags behind a subcommand, whose own flags add adds. Those of the adapter are set in set.
func behind(set *flag.FlagSet, add func(*flag.FlagSet)) (words []string, err error) {
	rest := flag.NewFlagSet(set.Name(), flag.ContinueOnError)
	rest.SetOutput(io.Discard)
	Flags(rest)
	add(rest)
	for args := set.Args()[1:]; len(args) > 0; {
		if err := rest.Parse(args); err != nil {
			return nil, err
		}
		if args = rest.Args(); len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	rest.Visit(func(f *flag.Flag) {
		if set.Lookup(f.Name) != nil && err == nil {
			err = set.Set(f.Name, f.Value.String())
		}
	})
	return words, err
}
