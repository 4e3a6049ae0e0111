// Package conform probes a live MCP-AQL server, in whatever language it is written, and reports which rules of the
// protocol it breaks.
//
// It knows nothing about the server but the tools that it lists and the answers of introspect. From those it makes
// valid requests, breaks each of them in one way, and checks the answers (MCP-AQL conformance testing §3 and §4). Every
// check has a name, a level, the requirements that it stands for, and a verdict with the requests and responses that
// led to it.
//
//	client, err := mcpclient.Command(ctx, []string{"./server"}, mcpclient.Options{})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	report, err := conform.Run(ctx, client, conform.Options{Level: 1})
//	if err != nil {
//		return err
//	}
//	return report.Text(os.Stdout, false)
//
// A run calls operations, so point it at a server whose data may change.
package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Server calls the tools of one server: an MCP client, such as that of package mcpclient, or an adapter in this
// process.
type Server interface {
	// Tools lists all tools of the server, also those that have nothing to do with MCP-AQL.
	Tools(ctx context.Context) ([]Tool, error)
	// Call calls a tool with arguments, a JSON value. Whatever the server answers is a Reply, even a JSON-RPC error. An
	// error means that the server will not answer any more.
	Call(ctx context.Context, tool string, arguments json.RawMessage) (Reply, error)
}

// Redirector is a Server that knows which redirects it followed: sentences such as "http://a/mcp redirects to
// http://a/mcp/". A redirect is a finding, because clients differ in what they follow.
type Redirector interface {
	Redirects() []string
}

// Tool is a tool as a server lists it (MCP-AQL MCP integration §2).
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage // empty: not known
	ReadOnly    *bool           // annotations.readOnlyHint; nil: absent, or not known
	Destructive *bool           // annotations.destructiveHint; nil: absent, or not known
}

// Reply is the answer of a tool.
type Reply struct {
	// Text is the text content of the result: in a conforming server, the MCP-AQL response.
	Text string
	// IsError is the isError flag of the result.
	IsError bool
	// Fault says why the reply is not a result with exactly one text content, such as a JSON-RPC error. Empty: it is one.
	Fault string
}

// Options choose what is probed. With the zero value, Run probes level 2, creates and changes data, and does not call
// operations that introspection reports as destructive or worse.
type Options struct {
	// Level is the conformance level to probe, 1 or 2; default 2 (MCP-AQL core §10).
	Level int
	// Prefix selects one of several adapters of a server by the prefix of its tools, such as "github_".
	Prefix string
	// Run restricts the run to checks whose names match; nil: all checks.
	Run *regexp.Regexp
	// Seed determines the values in the requests; default 1.
	Seed uint64
	// ReadOnly restricts the run to READ operations. Checks of round trips, updates and confirmation are then skipped.
	ReadOnly bool
	// AllowDestructive permits calls of operations that introspection reports as destructive or worse. Without it they
	// get no request at all, because a server that does not require confirmation would carry it out.
	AllowDestructive bool
	// CallTimeout is the longest wait for one answer; default 10 seconds. After a longer one the run gives up the server.
	CallTimeout time.Duration
	// Other is the same adapter in the other endpoint mode, for the check that both are supported; nil: it is skipped.
	Other Server
	// Implementation and Version name the server in the report and in the evidence.
	Implementation, Version string
	// Progress, if not nil, is called before each check with the number of checks done, of all checks, and the name of
	// the next one.
	Progress func(done, total int, check string)
}

// ErrNoAdapter means that no tool of the server has a name of MCP-AQL (MCP-AQL MCP integration §2.1).
var ErrNoAdapter = errors.New("conform: the server has no MCP-AQL tool: " +
	"none is called mcp_aql or mcp_aql_…, with or without a prefix")

// Run probes a server. It fails if the options are not valid, if the server has no MCP-AQL tool (ErrNoAdapter), if it
// does not answer introspect, and if the context ends. A server that stops answering later fails the check that is
// running.
func Run(ctx context.Context, server Server, options Options) (*Report, error) {
	if options.Level == 0 {
		options.Level = 2
	}
	if options.Level < 0 || options.Level > 2 {
		return nil, fmt.Errorf("conform: there is no level %d; it is 1 or 2", options.Level)
	}
	if options.Seed == 0 {
		options.Seed = 1
	}
	if options.CallTimeout == 0 {
		options.CallTimeout = 10 * time.Second
	}
	var chosen []check
	for _, c := range checks() {
		if c.tier <= options.Level && (options.Run == nil || options.Run.MatchString(c.name)) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("conform: no check of level %d matches %q", options.Level, options.Run)
	}
	p := newProber(ctx, server, options)
	if err := p.discover(); err != nil {
		return nil, err
	}
	var results []Result
	for i, c := range chosen {
		if p.ended() && ctx.Err() != nil {
			break
		}
		if options.Progress != nil {
			options.Progress(i, len(chosen), c.name)
		}
		results = append(results, p.runCheck(c))
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("conform: the run was ended early: %w", err)
	}
	return p.report(results), nil
}
