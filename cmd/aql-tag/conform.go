package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
	"github.com/aqltag/aqltag/internal/plainfile"
)

const conformHelp = `
Usage: aql-tag conform [flags] -- COMMAND [args...]
       aql-tag conform [flags] -url URL

conform probes a live MCP-AQL server, in whatever language it is written: one that it starts as COMMAND and talks to
over standard input and output, or one that serves MCP over streamable HTTP at URL. It knows only what the server
describes.

It calls operations. Unless flags say otherwise it creates, reads, updates and executes, which leaves behind what it
created: point it at a server that may be written to. Operations that introspection calls destructive or worse are
never called without -allow-destructive, not even to see whether they ask for confirmation: a server that does not ask
would go ahead.

Flags:

Exit codes: 0 everything passed, 1 a MUST is broken, 2 only warnings, 3 bad flags, no server, or no MCP-AQL in it,
4 I/O, 5 nothing is known to be broken, but a check could not be judged.
`

// conformFlags are the flags of "aql-tag conform".
type conformFlags struct {
	url, otherURL, bearerFile, otherBearerFile string
	run, format, output, bundle                string
	list, verbose, quiet, json                 bool
	maxTime                                    time.Duration
	options                                    conform.Options
	command                                    []string
}

// runConform probes a server.
func runConform(ctx context.Context, env *environment, args []string) int {
	var f conformFlags
	if code := f.parse(env, args); code >= 0 {
		return code
	}
	if f.list {
		for _, c := range conform.Checks() {
			fmt.Fprintf(env.stdout, "%-28s %-6s level %d  %s\n", c.Name, c.Level, c.Tier, c.Title)
		}
		return exitOK
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.maxTime, fmt.Errorf("it took longer than %v; see -max-time", f.maxTime))
	defer cancel()
	refuse := func(err error) int {
		fmt.Fprintf(env.stderr, "aql-tag conform: %s\n", conform.Printable(strings.TrimPrefix(err.Error(), "conform: ")))
		return exitUsage
	}
	client, err := f.connect(ctx, env, f.url, f.bearerFile)
	if err != nil {
		return refuse(err)
	}
	defer client.Close() //nolint:errcheck // the report is what counts
	f.options.Implementation, f.options.Version = client.Implementation()
	if f.url == "" || f.otherURL != "" {
		if other, err := f.connectOther(ctx, env, client); err == nil && other != nil {
			defer other.Close() //nolint:errcheck // the report is what counts
			f.options.Other = other
		} else if err != nil && f.otherURL != "" {
			return refuse(err)
		}
	}
	progress := f.progress(env)
	f.options.Progress = progress.show
	report, err := conform.Run(ctx, client, f.options)
	progress.clear()
	if err != nil {
		return refuse(err)
	}
	if err := f.write(env, report); err != nil {
		fmt.Fprintf(env.stderr, "aql-tag conform: %v\n", err)
		return exitIO
	}
	if f.bundle != "" {
		text, err := report.Bundle()
		if err != nil {
			return refuse(err)
		}
		if err := plainfile.Write(env.path(f.bundle), text, 0o644); err != nil { // others are to read it
			fmt.Fprintf(env.stderr, "aql-tag conform: writing the evidence: %v\n", err)
			return exitIO
		}
	}
	return report.ExitCode()
}

// parse reads the flags.
func (f *conformFlags) parse(env *environment, args []string) int {
	set := newFlagSet(env, "conform", conformHelp)
	set.StringVar(&f.url, "url", "", "the MCP endpoint of a server: a `url`")
	set.StringVar(&f.bearerFile, "bearer-file", "", "the `file` with the bearer token for -url")
	set.StringVar(&f.otherURL, "other-url", "", "the `url` of the same adapter in its other endpoint mode; "+
		"COMMAND is started again with MCP_AQL_ENDPOINT_MODE set")
	set.StringVar(&f.otherBearerFile, "other-bearer-file", "",
		"the `file` with the bearer token for -other-url; without it the token of -bearer-file, if both have one origin")
	set.StringVar(&f.options.Prefix, "prefix", "",
		"the `prefix` of the adapter's tools, such as github_, where a server holds several")
	set.IntVar(&f.options.Level, "level", 2, "the conformance `level` to check, 1 or 2 (default 2)")
	set.StringVar(&f.run, "run", "", "run only the checks whose names match a `regexp`")
	set.BoolVar(&f.options.ReadOnly, "read-only", false, "call READ operations only")
	set.BoolVar(&f.options.AllowDestructive, "allow-destructive", false,
		"call destructive operations too, where possible on what conform created")
	set.Uint64Var(&f.options.Seed, "seed", 1,
		"choose the values in requests by a number `n`: the same n makes the same requests (default 1)")
	set.DurationVar(&f.options.CallTimeout, "timeout", 10*time.Second,
		"how long to wait for one answer: a `duration` (default 10s)")
	set.DurationVar(&f.maxTime, "max-time", 10*time.Minute, "how long to wait for everything: a `duration` (default 10m)")
	set.StringVar(&f.format, "format", "text", "the `format` of the report: text, json or markdown (default text)")
	set.BoolVar(&f.json, "json", false, "short for -format json")
	set.StringVar(&f.output, "o", "", "write the report to a `file` instead of standard output")
	set.StringVar(&f.bundle, "bundle", "",
		"write the evidence for the official conformance runner to a `file`; needs all checks")
	set.BoolVar(&f.list, "list", false, "list the checks and stop")
	set.BoolVar(&f.verbose, "v", false, "show passed checks, evidence, and what COMMAND writes to standard error")
	set.BoolVar(&f.quiet, "q", false, "show no progress")
	refuse := func(format string, args ...any) int { return set.refuse(fmt.Errorf(format, args...)) }
	if code := set.parseLeading(args); code >= 0 {
		return code
	}
	f.command = set.Args()
	if f.json {
		f.format = "json"
	}
	switch {
	case f.list:
		return -1
	case f.url == "" && len(f.command) == 0:
		return refuse("say what to probe: -- COMMAND, or -url URL")
	case f.url != "" && len(f.command) > 0:
		return refuse("-url and a command contradict each other")
	case f.url == "" && (f.otherURL != "" || f.bearerFile != ""):
		return refuse("-other-url and -bearer-file go with -url")
	case f.otherURL == "" && f.otherBearerFile != "":
		return refuse("-other-bearer-file goes with -other-url")
	case f.bearerFile != "" && f.otherBearerFile == "" && !sameOrigin(f.url, f.otherURL):
		return refuse("-other-url has another origin than -url, and the token of -bearer-file is sent to no other; " +
			"name a token for it with -other-bearer-file")
	case f.format != "text" && f.format != "json" && f.format != "markdown":
		return refuse("-format is text, json or markdown, not %q", f.format)
	case f.options.CallTimeout <= 0 || f.maxTime <= 0:
		return refuse("-timeout and -max-time must be more than nothing")
	case f.options.Level != 1 && f.options.Level != 2:
		return refuse("-level is 1 or 2, not %d", f.options.Level)
	}
	if f.run != "" {
		re, err := regexp.Compile(f.run)
		if err != nil {
			return refuse("-run: %v", err)
		}
		f.options.Run = re
	}
	return -1
}

// connect starts the command, or connects to a URL.
func (f *conformFlags) connect(
	ctx context.Context, env *environment, endpoint, bearerFile string, more ...string,
) (*mcpclient.Client, error) {
	options := mcpclient.Options{Env: more, Timeout: f.options.CallTimeout}
	if f.verbose {
		options.Stderr = printableLines{env.stderr}
	}
	return dial(ctx, env, f.command, endpoint, bearerFile, options)
}

// connectOther connects to the same adapter in its other endpoint mode (MCP-AQL endpoint modes §3.1). A command that
// does not know the variable starts in the same mode, and the check reports that.
func (f *conformFlags) connectOther(
	ctx context.Context, env *environment, client *mcpclient.Client,
) (*mcpclient.Client, error) {
	if f.otherURL != "" {
		return f.connect(ctx, env, f.otherURL, cmp.Or(f.otherBearerFile, f.bearerFile))
	}
	tools, err := client.Tools(ctx)
	if err != nil {
		return nil, err
	}
	mode := "single"
	for _, tool := range tools {
		if strings.HasSuffix(tool.Name, "mcp_aql") {
			mode = "semantic"
		}
	}
	return f.connect(ctx, env, "", "", "MCP_AQL_ENDPOINT_MODE="+mode)
}

// write writes the report.
func (f *conformFlags) write(env *environment, report *conform.Report) error {
	var text bytes.Buffer
	var err error
	switch f.format {
	case "json":
		var document bytes.Buffer
		encoder := json.NewEncoder(&document)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(report)
		text.Write(conform.PrintableJSON(document.Bytes()))
	case "markdown":
		err = report.Markdown(&text)
	default:
		err = report.Text(&text, f.verbose)
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if f.output == "" {
		_, err = text.WriteTo(env.stdout)
	} else {
		err = plainfile.Write(env.path(f.output), text.Bytes(), 0o644) // others are to read it
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// sameOrigin reports whether two URLs have the same scheme, host and port; there may be no other one.
func sameOrigin(one, other string) bool {
	a, err := url.Parse(one)
	b, fault := url.Parse(other)
	return other == "" || err == nil && fault == nil && a.Scheme == b.Scheme && a.Host == b.Host
}

// progressLine is the line on a terminal that shows the current check.
type progressLine struct{ w io.Writer }

func (f *conformFlags) progress(env *environment) progressLine {
	if file, ok := env.stderr.(*os.File); ok && !f.quiet && !f.verbose && term.IsTerminal(int(file.Fd())) {
		return progressLine{file}
	}
	return progressLine{io.Discard}
}

func (l progressLine) show(done, total int, check string) {
	fmt.Fprintf(l.w, "\r\x1b[K%3d/%d %s", done+1, total, check)
}

func (l progressLine) clear() { fmt.Fprint(l.w, "\r\x1b[K") }
