package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
)

// auditUsage is the help of "aql-tag audit".
const auditUsage = `Usage: aql-tag audit verify [flags] FILE...

verify reads audit files and checks that no record was changed, removed, moved or added. "-" is standard input.

  -key-file file  the key that the files were written with
  -head hash      the hash that an earlier run printed: that record must be there, so nothing up to it was cut off
  -at-least n     how many records there must be
  -json           the result as JSON, one object per file

Exit codes: 0 all files verify, 3 bad flags, 4 I/O, 6 a file is broken.
`

// runAudit runs the subcommands of "aql-tag audit"; today there is one.
func runAudit(ctx context.Context, env *environment, args []string) int {
	if len(args) == 0 || args[0] != "verify" {
		if len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help") {
			fmt.Fprint(env.stdout, auditUsage)
			return exitOK
		}
		fmt.Fprintf(env.stderr, "aql-tag audit: say what to do: aql-tag audit verify FILE...\n")
		return exitUsage
	}
	return runAuditVerify(ctx, env, args[1:])
}

// verified is the result of one file, as -json prints it.
type verified struct {
	File    string     `json:"file"`
	OK      bool       `json:"ok"`
	Records uint64     `json:"records"`
	First   *time.Time `json:"first,omitempty"`
	Last    *time.Time `json:"last,omitempty"`
	Head    string     `json:"head,omitempty"`
	Line    int        `json:"line,omitempty"`
	Fault   string     `json:"fault,omitempty"`
	Error   string     `json:"error,omitempty"`
}

func runAuditVerify(ctx context.Context, env *environment, args []string) int {
	var opts audit.VerifyOptions
	var keyFile string
	var asJSON bool
	set := flag.NewFlagSet("audit verify", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&keyFile, "key-file", "", "")
	set.StringVar(&opts.Head, "head", "", "")
	set.Uint64Var(&opts.AtLeast, "at-least", 0, "")
	set.BoolVar(&asJSON, "json", false, "")
	refuse := func(err error) int {
		fmt.Fprintf(env.stderr, "aql-tag audit verify: %v\nRun 'aql-tag audit -h' for usage.\n", err)
		return exitUsage
	}
	var files []string
	for {
		if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(env.stdout, auditUsage)
			return exitOK
		} else if err != nil {
			return refuse(err)
		}
		if set.NArg() == 0 {
			break
		}
		files = append(files, set.Arg(0))
		args = set.Args()[1:]
	}
	if len(files) == 0 {
		return refuse(errors.New("name the files to verify, or - for standard input"))
	}
	if len(files) > 1 && (opts.Head != "" || opts.AtLeast > 0) {
		return refuse(errors.New("-head and -at-least are about one file; there are several"))
	}
	if err := opts.Check(); err != nil {
		return refuse(err)
	}
	if keyFile != "" {
		key, err := audit.ReadKey(env.path(keyFile))
		if err != nil {
			fmt.Fprintf(env.stderr, "aql-tag audit verify: %v\n", err)
			return exitIO
		}
		opts.Key = key
	}
	code := exitOK
	var results []verified
	for _, file := range files {
		result, c := verifyOne(ctx, env, file, opts)
		code = max(code, c)
		results = append(results, result)
		if !asJSON {
			printVerified(env, result)
		}
	}
	if asJSON {
		encoder := json.NewEncoder(env.stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(results); err != nil {
			fmt.Fprintf(env.stderr, "aql-tag audit verify: printing the result: %v\n", err)
			return exitIO
		}
	}
	return code
}

// verifyOne verifies one file, and gives the exit code for it.
func verifyOne(ctx context.Context, env *environment, file string, opts audit.VerifyOptions) (verified, int) {
	var summary audit.Summary
	var err error
	if file == "-" {
		summary, err = audit.Verify(env.stdin, opts)
	} else {
		summary, err = audit.VerifyFile(ctx, env.path(file), opts)
	}
	result := verified{File: file, OK: err == nil, Records: summary.Records, Head: summary.Head}
	if summary.Records > 0 {
		result.First, result.Last = &summary.First, &summary.Last
	}
	if err == nil {
		return result, exitOK
	}
	result.Error = err.Error()
	if broken := (*audit.BrokenError)(nil); errors.As(err, &broken) {
		result.Line, result.Fault, result.Error = broken.Line, string(broken.Fault), broken.Detail
		return result, exitStale
	}
	return result, exitIO
}

// printVerified prints the result of one file for people.
func printVerified(env *environment, r verified) {
	name := r.File
	if name == "-" {
		name = "standard input"
	}
	switch {
	case r.Fault != "":
		fmt.Fprintf(env.stderr, "%s:%d: %s: %s\n", name, r.Line, r.Fault, r.Error)
		fmt.Fprintf(env.stderr, "The records before that verify: %d.\n", r.Records)
	case !r.OK:
		fmt.Fprintf(env.stderr, "aql-tag audit verify: %s\n", r.Error)
	case r.Records == 0:
		fmt.Fprintf(env.stdout, "%s: ok, no records\n", name)
	default:
		fmt.Fprintf(env.stdout, "%s: ok, %d records, %s to %s, head %s\n", name, r.Records, r.First.Format(time.RFC3339), r.Last.Format(time.RFC3339), r.Head)
	}
}
