package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/user"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/account"
)

// Console serves a console at an address until end is called or ctx ends: console.Serve. url returns where it is;
// empty: nowhere yet.
type Console func(ctx context.Context, address string, o setup.Options) (url func() string, end func(), err error)

// openConsole serves the console at the address of the settings, if they have one, until the function that it returns
// is called. People who are told that something waits are then referred to it, unless -notify-link refers them
// elsewhere. Where the console of another process is, this one does not know.
func (s *settings) openConsole(
	ctx context.Context, adapter *aql.Adapter, options *Options, seen *sight, log *slog.Logger,
) (end func(), err error) {
	if given := s.consoleCert != "" || s.consoleKey != ""; given && s.console == "" {
		return func() {}, errors.New("-console-cert and -console-key are for -console, which is not given")
	} else if given && s.console == setup.Elsewhere {
		return func() {}, errors.New("-console-cert and -console-key are of the process that serves the console, and with " +
			"-console elsewhere that is another one")
	}
	if s.console == "" {
		return func() {}, nil
	}
	url, end, err := s.serveConsole(ctx, adapter, options, seen, log)
	if err != nil {
		return func() {}, fmt.Errorf("-console: %w", err)
	}
	if s.notify != "" && s.notifyLink == "" && s.console != setup.Elsewhere {
		// If it is of no process yet, it will be at this address.
		s.notifyLink = cmp.Or(url(), s.consoleScheme()+s.console+"/")
	}
	return end, nil
}

// consoleScheme begins the address of the console.
func (s *settings) consoleScheme() string {
	if s.consoleCert != "" {
		return "https://"
	}
	return "http://"
}

// serveConsole serves the console at the address of the settings until end is called. url returns where it is; empty:
// nowhere yet.
func (s *settings) serveConsole(
	ctx context.Context, adapter *aql.Adapter, options *Options, seen *sight, log *slog.Logger,
) (url func() string, end func(), err error) {
	switch {
	case options.Console == nil:
		return nil, nil, errors.New("this service has no console. Its author adds it with serve.Options.Console")
	case options.Operator == nil:
		return nil, nil, errors.New("people log in with passphrases, which they choose with the subcommand operator, and " +
			"this service has none. Its author adds it with serve.Options.Operator")
	case options.Adapter.State == nil:
		return nil, nil, errors.New("people log in with passphrases, which are in the state, and memory is of one process " +
			"alone: give a place for it, such as -state state.db")
	}
	state, err := unsealed(&options.Adapter)
	if err != nil {
		return nil, nil, err
	}
	o := setup.Options{
		Name: options.Name, Store: state, Audit: options.Adapter.Audit, Groups: groupsOf, Logger: log,
		Certificate: s.consoleCert, Key: s.consoleKey,
	}
	if err := s.show(&o, adapter, options); err != nil {
		return nil, nil, err
	}
	seen.show(&o)
	url, end, err = options.Console(ctx, s.console, o)
	if err != nil {
		return nil, nil, err
	}
	if options.MCP.ApprovalURL == nil && s.transport == "stdio" && s.console != setup.Elsewhere {
		options.MCP.ApprovalURL = func(approvalID string) string {
			at := url()
			if at == "" {
				return ""
			}
			return setup.ItemAddress(at, approvalID)
		}
	}
	return url, end, nil
}

// groupsOf returns the groups of a person, as the operating system knows them. Whom it does not know is in none.
func groupsOf(_ context.Context, who identity.Caller) ([]string, error) {
	person, err := account.Lookup(who.Subject)
	if _, unknown := errors.AsType[user.UnknownUserError](err); unknown {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return account.Groups(person)
}
