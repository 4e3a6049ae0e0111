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
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/account"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Command is the subcommand operator of an adapter's program.
type Command struct{}

// Desk is where a person works who decides.
type Desk struct {
	Program string // its name, which is also that of the adapter
	Inbox   approve.Inbox
	// State has what holds agents, and the passphrases of people; nil: there is nothing of that.
	State store.Store
	// Kept is State as the adapter keeps it: what it has sealed stays so. Keys open what executions have sealed. nil:
	// there are no executions here.
	Kept store.Store
	Keys [][]byte
	// Quota are the limits and quotas of the adapter, whose counts are in State.
	Quota quota.Options
	// AuditFile is the file of the adapter's records; empty: there is none. AuditKey is the key of its chain, if it has
	// one.
	AuditFile      string
	AuditKey       []byte
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
	person     desk.Person // who decides, with its role
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
operator enrol [NAME]    have a person decide with the role of -role, and choose a passphrase; without NAME: yourself
operator logout NAME     end all sessions of this person in the console; with -issuer those of who logs in elsewhere
operator people          who decides here, and in which role
operator link            show a link that logs you into the console, once; with -at where people reach it
operator executions [ID] what runs in the background, the newest first; with -status only that; with an ID: one of them
operator cancel ID       end an execution, with a reason, after a question on the terminal
operator audit tail      the last records of -audit, and whether their chain verifies; with -follow also what is added
operator quotas          how much callers have used of quotas, who is paused, and when each count begins anew
operator health          whether the state and the inbox can be read, and the audit log keeps; 1 is the exit code if not
operator watch           print what comes and what becomes of it, until interrupted

-reason TEXT             approve, deny, unblock, cancel: is kept, and told to the agent on denial; some items need one
-type VALUE              approve: what the item has people type; without it, it is asked for
-all, -json              list: also what was decided; what is printed as JSON, each item, record or answer on a line
-all                     quotas: also callers who have used nothing
-audit FILE              quotas: also callers whom its records name
-at URL                  link: where people reach the console; without it, where it is served now
-role ROLE               enrol: viewer, approver or admin
-agent, -operation NAME  list, deny: only what this agent or caller asks, or is about this operation
-operation NAME          executions, audit tail: only those of this operation
-status STATUS           executions: only these, such as running or failed
-first N, -after PLACE   executions: how many, 50 by default; those behind this place, which the page before ends with
-last N                  audit tail: how many, 20 by default
-event, -caller NAME     audit tail: only records of this event, or of what this caller did
-caller, -issuer NAME    quotas: only callers of this name, for whom this issuer vouches, such as stdio
-issuer URL              logout: who vouches for the person, such as the address of an OpenID provider
-follow                  audit tail: also what is added, until interrupted
`

// Flags are the flags of the command.
type Flags struct {
	// All has what was decided in lists of items, and callers who have used nothing in those of quotas.
	All, JSON bool
	Full      bool // show all of the parameters
	// Agent and Operation select items, to list or deny them; empty: whatever they are. An agent is the caller that asks,
	// or that the item is about.
	Agent, Operation string
	Reason           string
	Type             string // what the person types to approve an item that asks for it
	Role             string // of the person who is enrolled
	At               string // where people reach the console
	// Status, First and After say which executions are listed: in which state, how many, and behind which place. First
	// and Last that are zero are the defaults.
	Status string
	First  int
	After  string
	// Event, Caller, Last and Follow say which records are printed. Caller and Issuer select the callers whose quotas are.
	Event, Caller string
	Issuer        string
	Last          int
	Follow        bool
}

// Add adds the flags to a set.
func (f *Flags) Add(set *flag.FlagSet) {
	set.BoolVar(&f.All, "all", false, "operator list: also what was decided or has expired; "+
		"operator quotas: also callers who have used nothing")
	set.BoolVar(&f.JSON, "json", false, "operator: print JSON, each item, record or answer on a line")
	set.StringVar(&f.Agent, "agent", "", "operator list, deny: only what this caller or agent `name` asks")
	set.StringVar(&f.Operation, "operation", "",
		"operator list, deny, executions, audit tail: only what is about the operation of this `name`")
	set.StringVar(&f.Status, "status", "", "operator executions: only those with this `status`, such as running or failed")
	set.IntVar(&f.First, "first", standardListed, "operator executions: how many, a number `n` up to 1000")
	set.StringVar(&f.After, "after", "", "operator executions: those behind this `place`, with which the page before ends")
	set.StringVar(&f.Event, "event", "", "operator audit tail: only records of this `event`, such as OPERATION_DENIED")
	set.StringVar(&f.Caller, "caller", "",
		"operator audit tail, quotas: only records of what the caller of this `name` did, or what it has used")
	set.StringVar(&f.Issuer, "issuer", "",
		"operator quotas, logout: only callers, or the person, for whom the issuer of this `name` vouches, such as stdio")
	set.IntVar(&f.Last, "last", standardLast, "operator audit tail: how many, a number `n` up to 1000")
	set.BoolVar(&f.Follow, "follow", false, "operator audit tail: also what is added, until interrupted")
	set.BoolVar(&f.Full, "full", false, "operator show: all of the parameters, also of long ones")
	set.StringVar(&f.Reason, "reason", "",
		"operator approve, deny, unblock, cancel: a `text` that is kept, and that the agent is told on denial")
	set.StringVar(&f.At, "at", "", "operator link: the `url` at which people reach the console")
	set.StringVar(&f.Role, "role", "", "operator enrol: the `role` of the person: viewer, approver or admin")
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
	if err == nil && decides(words[0]) {
		err = d.enter(ctx)
	}
	switch {
	case err != nil:
	case len(words) == 1 && words[0] == "list":
		err = d.list(ctx, f)
	case len(words) == 1 && words[0] == "watch":
		err = d.watch(ctx, f)
	case len(words) == 1 && words[0] == "health":
		err = d.health(ctx, f)
	case len(words) == 1 && words[0] == "quotas":
		err = d.quotas(ctx, f)
	case len(words) == 2 && words[0] == "show":
		err = d.show(ctx, f, words[1])
	case len(words) == 2 && words[0] == "approve":
		err = d.approve(ctx, f, words[1])
	case words[0] == "deny":
		err = d.deny(ctx, f, words[1:])
	case words[0] == "executions":
		err = d.executions(ctx, f, words[1:])
	case len(words) == 2 && words[0] == "cancel":
		err = d.cancel(ctx, f, words[1])
	case words[0] == "audit":
		err = d.tail(ctx, f)
	case len(words) == 2 && words[0] == "show-code" && d.State != nil:
		err = d.showCode(ctx, words[1])
	case len(words) == 2 && words[0] == "unblock" && d.State != nil:
		err = d.unblock(ctx, f, words[1])
	case len(words) == 1 && words[0] == "passphrase" && d.State != nil:
		err = d.choose(ctx)
	case len(words) == 1 && words[0] == "people" && d.State != nil:
		err = d.people(ctx, f)
	case len(words) == 1 && words[0] == "link" && d.State != nil:
		err = d.link(ctx, f)
	case len(words) == 2 && words[0] == "logout" && d.State != nil:
		err = d.logOut(ctx, f, words[1])
	case words[0] == "enrol" && d.State != nil:
		err = d.enrol(ctx, f, words[1:])
	default:
		err = errNoState
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(d.Stderr, "%s operator: %v\n", d.Program, err)
	switch {
	case errors.Is(err, errMisplaced), errors.Is(err, errStatus), errors.Is(err, errMany), errors.Is(err, errNoRecords),
		errors.Is(err, errNothingNamed), errors.Is(err, errNamedTwice), errors.Is(err, errNoRole),
		errors.Is(err, errNoAddress), errors.Is(err, errNoQuotas):
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
		approve.ErrNotAnew, approve.ErrHeld, approve.ErrNotKept, errNotTyped, errNothingToType, errHeld, errNotHeld,
		errNoPassphrase, passphrase.ErrWrong, passphrase.ErrTries, passphrase.ErrLastAdmin, desk.ErrLooksOnly,
		desk.ErrNotAdmin, errNotGiven, errTypedTwice, errShort, errNothingWaits, errNotAllDenied, errNoCommon,
		errNoExecution, errEnded, errNoWhy, errNoCaller, errNotEnded, errNotKnown,
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
		case word == "audit" && len(words) == 2 && words[1] == known[2]:
			return ""
		case word == "audit":
			return "audit takes the word " + known[2]
		case word == "executions" && len(words) <= 2:
			return ""
		case word == "executions":
			return "executions takes one ID"
		case word == "logout" && len(words) == 2:
			return ""
		case word == "logout":
			return "logout takes the name of one person"
		case known[2] == "ID..." || known[2] == "[NAME]" && len(words) <= 2 || known[2] == "ID" && len(words) == 2 ||
			known[2] != "ID" && len(words) == 1:
			return ""
		case known[2] == "[NAME]":
			return word + " takes one name"
		case known[2] != "ID":
			return word + " takes no other words"
		case len(words) == 1 && word == "cancel":
			return "cancel needs the ID of an execution, as executions prints it"
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
	owner, err := account.Current()
	if err != nil {
		return nil
	}
	names, err := account.Groups(owner)
	if err != nil {
		return nil
	}
	return names
}
