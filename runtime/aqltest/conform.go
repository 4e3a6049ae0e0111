package aqltest

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/aqltag/aqltag/conform"
	aql "github.com/aqltag/aqltag/runtime"
)

// Conform runs the conformance checks of package conform against an adapter in this process, like the command aql-tag
// conform against a server. The test fails if a MUST or a SHOULD is broken, and shows what is. It returns the report,
// which also says what was skipped or could not be judged: that fails no test.
//
// The checks call operations with generated parameters, so give it an adapter on data of its own. They call destructive
// operations only if the options allow it.
func Conform(tb testing.TB, adapter *aql.Adapter, options conform.Options) *conform.Report {
	tb.Helper()
	if options.Implementation == "" {
		options.Implementation, options.Version = adapter.Name(), adapter.Version()
	}
	report, err := conform.Run(tb.Context(), Server(tb, adapter), options)
	if err != nil {
		tb.Fatalf("probing the adapter: %v", err)
	}
	if report.Summary.Failed+report.Summary.Warnings > 0 {
		var text bytes.Buffer
		if err := broken(report).Text(&text, false); err != nil {
			tb.Fatalf("writing the report: %v", err)
		}
		tb.Errorf("the adapter does not keep to the protocol:\n%s", text.String())
	}
	return report
}

// broken returns a report with only the checks that found something, and only with that.
func broken(report *conform.Report) *conform.Report {
	only := *report
	only.Categories, only.NotCalled = nil, nil
	for _, category := range report.Categories {
		var found []conform.Result
		for _, result := range category.Checks {
			if result.Verdict == conform.Fail || result.Verdict == conform.Warn {
				result.NotJudged = nil
				found = append(found, result)
			}
		}
		if category.Checks = found; found != nil {
			only.Categories = append(only.Categories, category)
		}
	}
	return &only
}

// Server returns an adapter as a server for package conform, such as for conform.Options.Other: the same service in the
// other endpoint mode. It has one session, which ends with the test.
func Server(tb testing.TB, adapter *aql.Adapter) conform.Server {
	session := adapter.NewSession()
	tb.Cleanup(session.Close)
	return server{adapter: adapter, session: session}
}

// server calls an adapter without a transport between them.
type server struct {
	adapter *aql.Adapter
	session *aql.Session
}

// Tools implements conform.Server.
func (s server) Tools(context.Context) ([]conform.Tool, error) {
	var tools []conform.Tool
	for _, tool := range s.adapter.Tools() {
		tools = append(tools, conform.Tool{
			Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema,
			ReadOnly: &tool.ReadOnly, Destructive: &tool.Destructive,
		})
	}
	return tools, nil
}

// Call implements conform.Server.
func (s server) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	reply := s.session.Call(ctx, tool, arguments)
	return conform.Reply{Text: string(reply.JSON), IsError: reply.IsError}, nil
}
