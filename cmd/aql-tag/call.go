package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
	"github.com/aqltag/aqltag/internal/call"
)

const callHelp = `
Usage: aql-tag call [flags] -- COMMAND [OPERATION [PARAMETERS]]
       aql-tag call [flags] -- COMMAND ARGUMENT... -- [OPERATION [PARAMETERS]]
       aql-tag call [flags] -url URL [OPERATION [PARAMETERS]]

call calls one operation of an MCP-AQL server, and prints its result as JSON. The server is one that it starts as
COMMAND and talks to over standard input and output, or one that serves MCP over streamable HTTP at URL. COMMAND is one
word; a command with arguments ends with a second "--". Of several, the last one counts.

Without OPERATION, call lists what there is: each operation with its semantic category and danger level. "help
OPERATION" in place of a request shows the parameters of an operation.

PARAMETERS are one of
  '{"title":"Milk"}'          one JSON object
  @FILE, or - for standard input
  title=Milk tags='["shop"]'  pairs: text as it is, values of other types as JSON

Where an operation needs a confirmation, call shows what the server asks, and asks you on the terminal. If standard
input is no terminal, it ends with 5 and says how to confirm.

Flags:

Exit codes: 0 ok, 2 the server refused or the operation failed, 3 bad flags or parameters, or no such operation,
4 the server cannot be started or reached, or does not answer, or a file cannot be read, 5 not confirmed.
`

// The exit codes of "aql-tag call" that mean something of its own.
const (
	exitRefused     = 2 // the server answered with a failure
	exitUnconfirmed = 5 // the operation needs a confirmation, and got none
)

// callFlags are the flags of "aql-tag call".
type callFlags struct {
	url, bearerFile, prefix string
	json, verbose           bool
	yes, yesDangerous       bool
	timeout                 time.Duration
	request                 call.Request
	logged                  logged
}

// runCall calls an operation, or describes what there is.
func runCall(ctx context.Context, env *environment, args []string) int {
	var f callFlags
	if code := f.parse(env, args); code >= 0 {
		return code
	}
	fail := func(code int, err error) int {
		fmt.Fprintf(env.stderr, "aql-tag call: %s\n", conform.Printable(strings.TrimPrefix(err.Error(), "conform: ")))
		return code
	}
	params, ready, err := f.request.ReadParams(ctx, env.stdin, env.path)
	if err != nil {
		return fail(argumentCode(err), err)
	}
	options := mcpclient.Options{Name: "aql-tag call", Timeout: min(f.timeout, 10*time.Second), Stderr: &f.logged}
	if f.verbose {
		options.Stderr = printableLines{env.stderr}
	}
	caller := &call.Caller{Say: env.stderr, Ask: env.asker(), Yes: f.yes, YesDangerous: f.yesDangerous}
	if caller.CanApprove() {
		options.Approve, options.Type = caller.Approve, caller.Type
	}
	client, err := dial(ctx, env, f.request.Command, f.url, f.bearerFile, options)
	if err != nil {
		code := fail(exitIO, err)
		f.explain(env)
		return code
	}
	caller.Patient = &call.Patient{Server: client, Timeout: f.timeout}
	code, err := f.serve(ctx, env, client, caller, params, ready)
	if err != nil {
		code = fail(argumentCode(err), err)
	}
	client.Close() //nolint:errcheck // the answer is what counts
	if err != nil && code == exitIO {
		f.explain(env) // when the command has ended: all that it logged is there
	}
	return code
}

// argumentCode returns the exit code for an error that is not an answer.
func argumentCode(err error) int {
	var argument *call.ArgumentError
	if errors.As(err, &argument) {
		return exitUsage
	}
	return exitIO
}

// explain prints what the command logged.
func (f *callFlags) explain(env *environment) {
	f.logged.print(env.stderr)
	if len(f.request.Command) == 1 && f.request.Operation != "" {
		fmt.Fprintf(env.stderr, "The command was %s, without arguments; one with arguments ends with a second '--'.\n",
			call.Quote(f.request.Command))
	}
}

// parse reads the flags and the words behind them.
func (f *callFlags) parse(env *environment, args []string) int {
	set := newFlagSet(env, "call", callHelp)
	set.StringVar(&f.url, "url", "", "the MCP endpoint of a server: a `url`")
	set.StringVar(&f.bearerFile, "bearer-file", "", "the `file` with the bearer token for -url")
	set.StringVar(&f.prefix, "prefix", "",
		"the `prefix` of the adapter's tools, such as github_, where a server holds several")
	set.BoolVar(&f.json, "json", false, "print the whole answer as JSON on standard output, failures too")
	set.BoolVar(&f.yes, "yes", false, "confirm what is destructive or less, without asking")
	set.BoolVar(&f.yesDangerous, "yes-dangerous", false, "confirm everything, without asking")
	set.DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait for one answer: a `duration` (default 30s)")
	set.BoolVar(&f.verbose, "v", false, "show what COMMAND writes to standard error")
	if code := set.parseLeading(args); code >= 0 {
		return code
	}
	switch {
	case f.url == "" && f.bearerFile != "":
		return set.refuse(errors.New("-bearer-file goes with -url"))
	case f.timeout <= 0:
		return set.refuse(errors.New("-timeout must be more than nothing"))
	}
	exists := func(word string) bool {
		_, err := os.Stat(env.path(word))
		return err == nil
	}
	request, err := call.Split(set.Args(), f.url == "", exists)
	if err != nil {
		return set.refuse(err)
	}
	f.request = request
	return -1
}

// serve does what is asked for, and returns the exit code.
func (f *callFlags) serve(
	ctx context.Context, env *environment, client *mcpclient.Client, caller *call.Caller, params json.RawMessage,
	ready bool,
) (int, error) {
	options := conform.Options{Prefix: f.prefix, CallTimeout: 24 * time.Hour} // the patient server has a clock of its own
	surface, err := conform.Look(ctx, caller.Patient, options)
	if err != nil {
		return exitIO, err
	}
	caller.Surface = surface
	if f.request.Operation == "" {
		return exitOK, f.list(env, client, surface)
	}
	if err := call.Find(surface, f.request.Operation); err != nil {
		return exitUsage, err
	}
	o, err := surface.Operation(ctx, f.request.Operation)
	if err != nil {
		return exitIO, err
	}
	if f.request.Describe {
		return exitOK, call.WriteOperation(env.stdout, o, f.commandLine(nil))
	}
	if !ready {
		if params, err = call.TypedParams(ctx, surface, o, f.request.Params); err != nil {
			return exitUsage, err
		}
	}
	answer, err := caller.Call(ctx, o, params)
	if errors.Is(err, call.ErrUnconfirmed) {
		return exitUnconfirmed, f.unconfirmed(env, o, answer, caller)
	}
	if err != nil {
		return exitIO, err
	}
	return f.print(env, answer)
}

// list prints the operations of a server.
func (f *callFlags) list(env *environment, client *mcpclient.Client, surface *conform.Surface) error {
	name, version := client.Implementation()
	kind := ""
	if surface.Discrete {
		kind = ", one tool each"
	}
	fmt.Fprintf(env.stdout, "%s: %d operations%s\n\n", conform.Printable(strings.TrimSpace(name+" "+version)),
		len(surface.Operations), kind)
	if err := call.WriteList(env.stdout, surface); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.stdout, "\nParameters and examples of an operation: %s help OPERATION\n", f.commandLine(nil))
	return err
}

// print prints an answer, and returns the exit code.
func (f *callFlags) print(env *environment, answer *conform.Answer) (int, error) {
	code := exitOK
	if !answer.Success {
		code = exitRefused
	}
	switch {
	case f.json && json.Valid([]byte(answer.Reply.Text)):
		return code, call.WriteJSON(env.stdout, []byte(answer.Reply.Text))
	case answer.Success:
		if err := call.WriteWarnings(env.stderr, answer); err != nil {
			return code, err
		}
		return code, call.WriteData(env.stdout, answer)
	}
	fmt.Fprint(env.stderr, "aql-tag call: ")
	return code, call.WriteFailure(env.stderr, answer)
}

// unconfirmed says what is known of an operation that was not confirmed, and how to confirm it.
func (f *callFlags) unconfirmed(
	env *environment, o conform.Operation, answer *conform.Answer, caller *call.Caller,
) error {
	if f.json && answer != nil {
		if _, err := f.print(env, answer); err != nil {
			return err
		}
	}
	name := conform.Printable(o.Name)
	known := "Not confirmed; nothing was sent."
	switch {
	case answer == nil:
	case call.AsksForConfirmation(answer):
		known = "Not confirmed; the server answers that it runs " + name + " only with a confirmation."
	default: // it asked while it was called
		fmt.Fprintf(env.stderr, "Not confirmed. The server asked while it was called, and then answered: ")
		if err := call.WriteFailure(env.stderr, answer); err != nil {
			return err
		}
		known = "Whether it did something of " + name + " before it asked is not known."
		if strings.HasPrefix(answer.Code, "PERMISSION_") {
			known = "" // it denies the operation
		}
	}
	if known != "" {
		fmt.Fprintln(env.stderr, known)
	}
	flag := "-yes"
	if o.Danger == "dangerous" || o.Danger == "forbidden" || f.yes {
		flag = "-yes-dangerous"
	}
	switch {
	case caller.Ask != nil:
		return nil
	case caller.Untyped():
		_, err := fmt.Fprintln(env.stderr, "No flag types that: run the command at a terminal, where a person can.")
		return err
	case caller.Doubted():
		_, err := fmt.Fprintln(env.stderr, "No flag confirms that: run the command where somebody can be asked.")
		return err
	}
	_, err := fmt.Fprintf(env.stderr, "Nobody can be asked: standard input is not a terminal. To confirm, run\n  %s\n",
		f.commandLine([]string{flag}, append([]string{o.Name}, f.request.Params...)...))
	return err
}

// commandLine returns the command line that talks to the same server, with more flags, and words behind it.
func (f *callFlags) commandLine(flags []string, words ...string) string {
	line := append([]string{"aql-tag", "call"}, flags...)
	if f.prefix != "" {
		line = append(line, "-prefix", f.prefix)
	}
	if f.bearerFile != "" {
		line = append(line, "-bearer-file", f.bearerFile)
	}
	if f.url != "" {
		line = append(line, "-url", f.url)
	} else {
		line = append(append(line, "--"), f.request.Command...)
		if len(f.request.Command) > 1 {
			line = append(line, "--")
		}
	}
	return call.Quote(append(line, words...))
}

// asker returns what asks the person at the terminal; nil: standard input is not a terminal.
func (e *environment) asker() func(ctx context.Context, prompt string) (string, error) {
	file, ok := e.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return func(ctx context.Context, prompt string) (string, error) {
		if _, err := io.WriteString(e.stderr, prompt); err != nil {
			return "", err
		}
		type typed struct {
			line string
			err  error
		}
		lines := make(chan typed, 1)
		go func() {
			line, err := bufio.NewReader(io.LimitReader(file, 1024)).ReadString('\n')
			lines <- typed{line, err}
		}()
		select {
		case read := <-lines:
			if read.err != nil && !errors.Is(read.err, io.EOF) {
				return "", fmt.Errorf("reading what was typed: %w", read.err)
			}
			return read.line, nil
		case <-ctx.Done():
			return "", errors.New("interrupted")
		}
	}
}
