package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
)

const auditHelp = `
Usage: aql-tag audit verify [flags] FILE...

verify reads audit files and checks that no record was changed, removed, moved or added. The files that were closed
before FILE, such as FILE.000001, are read with it; the name of a closed file verifies that one alone. "-" is standard
input.

Flags:

Exit codes: 0 all files verify, 3 bad flags, 4 I/O, 6 a file is broken.
`

// runAudit runs the subcommands of "aql-tag audit"; today there is one.
func runAudit(ctx context.Context, env *environment, args []string) int {
	if len(args) > 0 && (args[0] == "verify" || isHelp(args[0])) {
		return runAuditVerify(ctx, env, args)
	}
	return failIn(env, "audit", exitUsage, fmt.Errorf("say what to do: %s", "aql-tag audit verify FILE..."))
}

// verified is the result of one file, as -json prints it.
type verified struct {
	File    string     `json:"file"`
	OK      bool       `json:"ok"`
	Files   int        `json:"files,omitempty"` // if there are several
	Records uint64     `json:"records"`
	First   *time.Time `json:"first,omitempty"`
	Last    *time.Time `json:"last,omitempty"`
	Head    string     `json:"head,omitempty"`
	Broken  string     `json:"broken_file,omitempty"` // if it is another
	Line    int        `json:"line,omitempty"`
	Fault   string     `json:"fault,omitempty"`
	Error   string     `json:"error,omitempty"`
}

func runAuditVerify(ctx context.Context, env *environment, args []string) int {
	var opts audit.VerifyOptions
	set := newFlagSet(env, "audit verify", auditHelp)
	keyFile := set.String("key", "", "the `file` with the key that the audit files were written with")
	set.StringVar(&opts.Head, "head", "",
		"the `hash` that an earlier run printed: its record must be there, so nothing before was cut off")
	set.Uint64Var(&opts.AtLeast, "at-least", 0, "how many records there must be: a number `n`")
	set.Uint64Var(&opts.First, "first", 0,
		"the number `n` of the first closed file that must be there: those before it were moved away")
	asJSON := set.Bool("json", false, "print the result as JSON, an array with one object for each file")
	if isHelp(args[0]) {
		return set.parseLeading(args)
	}
	files, code := set.parse(args[1:])
	if code >= 0 {
		return code
	}
	if len(files) == 0 {
		return set.refuse(errors.New("name the files to verify, or - for standard input"))
	}
	if len(files) > 1 && (opts.Head != "" || opts.AtLeast > 0 || opts.First > 0) {
		return set.refuse(errors.New("-head, -at-least and -first are about one file; there are several"))
	}
	if err := opts.Check(); err != nil {
		return set.refuse(err)
	}
	if *keyFile != "" {
		key, err := audit.ReadKey(env.path(*keyFile))
		if err != nil {
			return failIn(env, "audit verify", exitIO, fmt.Errorf("%w", err))
		}
		opts.Key = key
	}
	code = exitOK
	var results []verified
	for _, file := range files {
		result, c := verifyOne(ctx, env, file, opts)
		code = max(code, c)
		results = append(results, result)
		if !*asJSON {
			printVerified(env, result)
		}
	}
	if *asJSON {
		if err := writeJSON(env, results); err != nil {
			return failIn(env, "audit verify", exitIO, fmt.Errorf("printing the result: %w", err))
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
	if summary.Files > 1 {
		result.Files = summary.Files
	}
	if summary.Records > 0 {
		result.First, result.Last = &summary.First, &summary.Last
	}
	if err == nil {
		return result, exitOK
	}
	result.Error = err.Error()
	if broken := (*audit.BrokenError)(nil); errors.As(err, &broken) {
		result.Line, result.Fault, result.Error = broken.Line, string(broken.Fault), broken.Detail
		if name := filepath.Base(broken.File); broken.File != "" && name != filepath.Base(file) {
			result.Broken = filepath.Join(filepath.Dir(file), name)
		}
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
		fmt.Fprintf(env.stderr, "%s:%d: %s: %s\n", cmp.Or(r.Broken, name), r.Line, r.Fault, r.Error)
		fmt.Fprintf(env.stderr, "The records before that verify: %d.\n", r.Records)
	case !r.OK:
		fmt.Fprintf(env.stderr, "aql-tag audit verify: %s\n", r.Error)
	case r.Records == 0:
		fmt.Fprintf(env.stdout, "%s: ok, no records\n", name)
	default:
		in := ""
		if r.Files > 1 {
			in = fmt.Sprintf(" in %d files", r.Files)
		}
		fmt.Fprintf(env.stdout, "%s: ok, %d records%s, %s to %s, head %s\n", name, r.Records, in,
			r.First.Format(time.RFC3339), r.Last.Format(time.RFC3339), r.Head)
	}
}
