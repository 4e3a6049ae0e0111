// Package conform probes a live MCP-AQL server, written in whatever language, and says which rules of the protocol it keeps.
//
// All it knows about the server is what the server says itself: the tools it lists and the answers of introspect. From those
// it makes sound requests, breaks each in one way, and looks at what comes back (conformance testing §3 and §4). Every check
// has a name, the requirements it stands for, a level and a verdict with the requests and responses that led to it.
package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Server is a way to call the tools of one server: an MCP client (package mcpclient), or an adapter in this process.
type Server interface {
	// Tools lists the tools, those that have nothing to do with MCP-AQL included.
	Tools(ctx context.Context) ([]Tool, error)
	// Call calls a tool with arguments, a JSON value. An error means that no answer can be expected any more; whatever the
	// server answers, if only a protocol error, is a Reply.
	Call(ctx context.Context, tool string, arguments json.RawMessage) (Reply, error)
}

// Tool is what a server's list of tools says about one.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage // empty: not known
	ReadOnly    *bool           // annotations.readOnlyHint; nil: absent, or not known
	Destructive *bool           // annotations.destructiveHint; nil: absent, or not known
}

// Reply is the answer of a tool.
type Reply struct {
	Text    string // the MCP-AQL response, if all is well
	IsError bool
	// Fault is what is wrong with the wrapping: a JSON-RPC error in place of a result, or anything but one text content.
	Fault string
}

// Options choose what is probed. The zero value probes level 2, creates and changes data, and spares what introspection
// calls destructive or worse.
type Options struct {
	// Level is the conformance level to judge by: 1 or 2; default 2.
	Level int
	// Prefix names the adapter where several share a server: the prefix of its tools, such as "github_".
	Prefix string
	// Run restricts the run to checks whose names match; nil: all.
	Run *regexp.Regexp
	// Seed makes the same requests each time; default 1.
	Seed uint64
	// ReadOnly runs READ operations only. Round trips, updates and confirmation are then skipped.
	ReadOnly bool
	// AllowDestructive runs operations that introspection calls destructive or worse, too: without it, nothing is sent to
	// them, not even to see whether they ask for confirmation, because a server that does not ask would go ahead.
	AllowDestructive bool
	// CallTimeout bounds the wait for one answer; default 10 seconds. A server that takes longer is given up.
	CallTimeout time.Duration
	// Other is the same adapter in the other endpoint mode, to see that both are supported; nil: that check is skipped.
	Other Server
	// Implementation and Version are what the report and the evidence call the server.
	Implementation, Version string
	// Progress is told before each check how many are done, how many there are, and which comes next; nil: nobody is told.
	Progress func(done, total int, check string)
}

// ErrNoAdapter says that a server has no tool with a name of MCP-AQL.
var ErrNoAdapter = errors.New("conform: the server has no MCP-AQL tool: none is called mcp_aql or mcp_aql_…, with or without a prefix")

// Run probes a server. The error is about what keeps it from being judged at all: bad options, no MCP-AQL tool, no answer
// to the first request. A server that stops answering later fails the check that it did so in.
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
