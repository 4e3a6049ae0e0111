// Package toolhook asks the safety loop of an adapter before each tool use of an MCP client that has pre-tool-use
// hooks, whichever tool of whichever server it is. A service has it with
//
//	serve.Main(registry, serve.Options{
//		Name: "notes", Stores: sqlite.Drivers(), Operator: operator.Command{}, Hook: toolhook.Command{},
//		Adapter: aql.Options{Loop: &aql.Loop{}},
//	})
//
// and the client runs the program once more before each tool use, with the state and the policy of the one that serves:
//
//	notes hook -agent claude -state state.db -policy policy.yaml
//
// The command reads the tool use from its standard input, reports it as the next step of the agent, and refuses it with
// exit code 2 and a reason on standard error unless the loop lets the agent go on. It never waits for a person, and
// refuses what it cannot judge. See docs/safety.md.
package toolhook

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Command is the subcommand hook of an adapter's program.
type Command struct{}

// Desk is where tool uses are judged.
type Desk struct {
	Program        string // its name, for messages
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Open opens what an adapter with a safety loop is made of. close is called when the tool use is judged.
	Open func(ctx context.Context, log *slog.Logger) (
		registry *aql.Registry, options aql.Options, close func(), err error)
}

// The exit codes of Run. With any other one, clients let the tool use pass.
const (
	Passed  = 0 // the rules of the client itself decide
	Refused = 2
)

// defaultTimeout is how long a tool use is judged. Clients wait for a minute or longer, and let it pass after that.
const defaultTimeout = 10 * time.Second

// Usage is the help of the command, behind the name of the program.
const Usage = `hook -agent NAME     judge the tool use on standard input, as a step of an agent
  -hook-log FILE     append to a file what goes wrong; agents are not told details
  -hook-timeout 10s  refuse what is not judged by then
  -server NAME       let the operations of the safety loop pass in the MCP server that the client knows by this name
`

// Flags are the flags of the command.
type Flags struct {
	Agent   string        // its name in the loop
	Server  string        // the name of the client for the MCP server of this adapter; empty: it has none
	Log     string        // a file; empty: nothing is logged
	Timeout time.Duration // zero: the default
}

// Add adds the flags to a set.
func (f *Flags) Add(set *flag.FlagSet) {
	set.StringVar(&f.Agent, "agent", "", "hook: `name` of the agent whose steps the tool uses are")
	set.StringVar(&f.Server, "server", "",
		"hook: `name` of the MCP server of this program in the client: its operations of the safety loop pass")
	set.StringVar(&f.Log, "hook-log", "", "hook: `file` to which is appended what goes wrong")
	set.DurationVar(&f.Timeout, "hook-timeout", defaultTimeout, "hook: what is not judged after this `time` is refused")
}

// Run judges one tool use and returns Passed or Refused. It returns soon after ctx has ended, also where reading, the
// state or the file of the log do not.
func (Command) Run(ctx context.Context, d Desk, f Flags) int {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(f.Timeout, defaultTimeout))
	defer cancel()
	answers, closed := make(chan answer, 1), make(chan struct{})
	go func() {
		defer close(closed)
		d.answer(ctx, f, answers)
	}()
	a := refusal("it was not judged in time, or the judgement was interrupted")
	select {
	case a = <-answers:
		select {
		case <-closed:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return d.say(a)
}

// answer is what the client is told.
type answer struct {
	passes bool
	reason string // why it does not pass
}

func refusal(format string, args ...any) answer { return answer{reason: fmt.Sprintf(format, args...)} }

// say tells the client. Where nothing is printed, the exit code counts all the same.
func (d *Desk) say(a answer) int {
	if !a.passes {
		fmt.Fprintf(d.Stderr, "The safety loop refuses this tool use: %s.\n", a.reason)
		return Refused
	}
	if _, err := io.WriteString(d.Stdout, "{}\n"); err != nil {
		return Refused
	}
	return Passed
}

// answer judges the tool use on the standard input, and closes what it has opened.
func (d *Desk) answer(ctx context.Context, f Flags, answers chan<- answer) {
	log := slog.New(slog.DiscardHandler)
	defer func() {
		if v := recover(); v != nil {
			log.Error("judging a tool use panicked", slog.Any("panic", v))
			select {
			case answers <- refusal("it could not be judged"):
			default: // it was judged
			}
		}
	}()
	text, err := read(d.Stdin)
	if f.Log != "" {
		file, err := os.OpenFile(f.Log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			answers <- refusal("the file of -hook-log cannot be opened; tell the user")
			return
		}
		defer file.Close()
		log = slog.New(slog.NewTextHandler(file, nil))
	}
	var u *use
	if err == nil {
		u, err = parse(text)
	}
	if err != nil {
		log.Error("a tool use cannot be read", slog.Any("error", err))
		answers <- refusal("the client does not say what it is: %v", err)
		return
	}
	registry, options, end, err := d.Open(ctx, log)
	if end != nil {
		defer end()
	}
	if err != nil {
		log.Error("the safety loop cannot be opened", slog.Any("error", err))
		answers <- d.unavailable()
		return
	}
	answers <- d.judge(ctx, f, u, registry, options, log)
}

// unavailable is the answer where the loop cannot be asked. The agent is not told why.
func (d *Desk) unavailable() answer {
	return refusal("the loop itself cannot be asked. Nothing may be done until it can; tell the user to look into "+
		"-hook-log, or to run '%s' in a terminal with the -state, -state-key, -policy and -audit of the hook", d.Program)
}
