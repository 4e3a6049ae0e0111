// Package operator is the command with which people decide about what waits in the inbox of an adapter (see package
// approve). A service has it with
//
//	serve.Main(registry, serve.Options{Name: "todo", Stores: sqlite.Drivers(), Operator: operator.Command{}})
//
// and its users run the program once more, with the state of the one that serves:
//
//	todo operator list -state state.db
//	todo operator approve ask_… -state state.db
//
// An approval is typed at a terminal: a program that has none, such as the shell of an agent, cannot give one. Whoever
// can write the state can still forge one. With -state-key that takes the key as well, so keep both from the user that
// agents run as.
package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/user"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/account"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Command is the subcommand operator of an adapter's program.
type Command struct{}

// Desk is where a person works who decides.
type Desk struct {
	Program string // its name, for messages
	Inbox   approve.Inbox
	// State has what holds agents, and the passphrases of people; nil: there is nothing of that.
	State          store.Store
	Audit          *audit.Log // of votes; nil: there is none
	Stdout, Stderr io.Writer
	// Who decides, and the groups of that person.
	Who    identity.Caller
	Groups []string
	// Terminal opens the terminal of the person. It fails if there is none.
	Terminal func() (io.ReadWriteCloser, error)
	// Now is the clock; nil: time.Now.
	Now func() time.Time

	challenges *verify.Box // nil: there are none
	rounds     int         // of the passphrases that are chosen; zero: those of the constant
}

// The exit codes of Run.
const (
	exitOK      = 0
	exitError   = 1 // the state or the terminal fails, or the inbox has entries that cannot be read
	exitRefused = 2 // there is no such item, or the vote does not count
	exitUsage   = 3
)

// Usage is the help of the command, behind the name of the program.
const Usage = `operator list            what waits for a decision; with -all also what was decided
operator show ID         everything about one item; with -full also all of long parameters
operator approve ID      approve it, once, after a question on the terminal
operator deny ID...      deny it; with -reason the agent is told why; several at once after a question on the terminal
operator show-code ID    show the code that lets an agent go on which is held, on the terminal
operator unblock ID      let it go on without the code, with a reason, after a question on the terminal
operator passphrase      choose the passphrase that these ask for
operator watch           print what comes and what becomes of it, until interrupted

-reason TEXT             approve, deny, unblock: is kept, and told to the agent on denial; some items need one
-type VALUE              approve: what the item has people type; without it, it is asked for
-all, -json              list: also what was decided; items as JSON, one on a line
-agent, -operation NAME  list, deny: only what this agent or caller asks, or is about this operation
`

// Flags are the flags of the command.
type Flags struct {
	All, JSON bool
	Full      bool // show all of the parameters
	// Agent and Operation select items, to list or deny them; empty: whatever they are. An agent is the caller that asks,
	// or that the item is about.
	Agent, Operation string
	Reason           string
	Type             string // what the person types to approve an item that asks for it
}

// Add adds the flags to a set.
func (f *Flags) Add(set *flag.FlagSet) {
	set.BoolVar(&f.All, "all", false, "operator list: also what was decided or has expired")
	set.BoolVar(&f.JSON, "json", false, "operator: print items as JSON, one on a line")
	set.StringVar(&f.Agent, "agent", "", "operator list, deny: only what this caller or agent `name` asks")
	set.StringVar(&f.Operation, "operation", "", "operator list, deny: only what is about the operation of this `name`")
	set.BoolVar(&f.Full, "full", false, "operator show: all of the parameters, also of long ones")
	set.StringVar(&f.Reason, "reason", "",
		"operator approve, deny, unblock: a `text` that is kept, and that the agent is told on denial")
	set.StringVar(&f.Type, "type", "",
		"operator approve: the `value` that the item has people type; without it, it is asked for")
}

// Inbox returns the inbox in a store.
func (Command) Inbox(s store.Store) approve.Inbox { return approve.New(s) }

// Run runs the command with its words, such as approve and an ID, and returns the exit code.
func (Command) Run(ctx context.Context, d Desk, f Flags, words []string) int {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Terminal == nil {
		d.Terminal = openTerminal
	}
	if d.Who.Anonymous() {
		d.Who, d.Groups = identity.Owner(), groups()
	}
	if err := (Command{}).Check(d.Program, words); err != nil {
		fmt.Fprintln(d.Stderr, err)
		return exitUsage
	}
	err := f.check(words)
	if err == nil {
		err = d.open()
	}
	switch {
	case err != nil:
	case len(words) == 1 && words[0] == "list":
		err = d.list(ctx, f)
	case len(words) == 1 && words[0] == "watch":
		err = d.watch(ctx, f)
	case len(words) == 2 && words[0] == "show":
		err = d.show(ctx, f, words[1])
	case len(words) == 2 && words[0] == "approve":
		err = d.approve(ctx, f, words[1])
	case words[0] == "deny":
		err = d.deny(ctx, f, words[1:])
	case len(words) == 2 && words[0] == "show-code" && d.State != nil:
		err = d.showCode(ctx, words[1])
	case len(words) == 2 && words[0] == "unblock" && d.State != nil:
		err = d.unblock(ctx, f, words[1])
	case len(words) == 1 && words[0] == "passphrase" && d.State != nil:
		err = d.choose(ctx)
	default:
		err = errNoState
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(d.Stderr, "%s operator: %v\n", d.Program, err)
	switch {
	case errors.Is(err, errNotSelected), errors.Is(err, errNothingNamed), errors.Is(err, errNamedTwice):
		return exitUsage
	case isRefused(err):
		return exitRefused
	}
	return exitError
}

// isRefused reports whether an error is about the item, or about who decides.
func isRefused(err error) bool {
	for _, refused := range []error{
		approve.ErrUnknown, approve.ErrDecided, approve.ErrExpired, approve.ErrTooEarly, approve.ErrRequester,
		approve.ErrNotApprover, approve.ErrVoted, approve.ErrNoReason, approve.ErrLongReason, approve.ErrMistyped,
		approve.ErrHeld, approve.ErrNotKept, errNotTyped, errNothingToType, errHeld, errNotHeld, errNoPassphrase,
		errPassphrase, errTries, errTypedTwice, errShort, errNothingWaits, errNotAllDenied, errNoCommon,
	} {
		if errors.Is(err, refused) {
			return true
		}
	}
	return false
}

// errNoState is the error of what needs Desk.State where there is none.
var errNoState = errors.New("there is no state here that holds agents and has passphrases")

// Check returns what is wrong with the words behind the subcommand of a program, with its usage; nil: Run knows them.
func (Command) Check(program string, words []string) error {
	what := misused(words)
	if what == "" {
		return nil
	}
	var usage strings.Builder
	for line := range strings.Lines(Usage) {
		if strings.HasPrefix(line, "operator ") {
			line = program + " " + line
		}
		usage.WriteString("\n  " + strings.TrimSuffix(line, "\n"))
	}
	return fmt.Errorf("%s operator: %s:\n%s", program, what, &usage)
}

// misused says what is wrong with words; empty: Run knows them.
func misused(words []string) string {
	if len(words) == 0 {
		return "say what to do"
	}
	word := words[0]
	for line := range strings.Lines(Usage) {
		known := strings.Fields(line)
		switch {
		case len(known) < 3 || known[0] != "operator" || known[1] != word:
		case known[2] == "ID..." || known[2] == "ID" && len(words) == 2 || known[2] != "ID" && len(words) == 1:
			return ""
		case known[2] != "ID":
			return word + " takes no other words"
		case len(words) == 1:
			return word + " needs the ID of an item, as list prints it"
		default:
			return word + " takes one ID"
		}
	}
	return fmt.Sprintf("%q is none of these", word)
}

// open adds what holds agents to the inbox.
func (d *Desk) open() error {
	if d.State == nil {
		return nil
	}
	box, err := verify.New(verify.Options{Store: d.State, Audit: d.Audit, Now: d.Now})
	if err != nil {
		return fmt.Errorf("opening what holds agents: %w", err)
	}
	d.challenges, d.Inbox = box, box.Inbox(d.Inbox)
	return nil
}

// groups returns the names of the groups of the process's owner, as the operating system knows them.
func groups() []string {
	var names []string
	owner, err := account.Current()
	if err != nil {
		return nil
	}
	ids, err := owner.GroupIds()
	if err != nil {
		return nil
	}
	for _, id := range ids {
		if group, err := user.LookupGroupId(id); err == nil {
			names = append(names, group.Name)
		}
	}
	return names
}
