package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/words"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// approval is the name of the one input that is asked for, and of the one field in it.
const approval = "approve"

// approvalSchema is the form that humans fill in.
const approvalSchema = `{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"Let the agent do this, once"}},"required":["approve"]}`

// longestShown is the size in bytes up to which parameters stand in a question as they are; beyond it longestValue bounds each
// of them.
const (
	longestShown = 2000
	longestValue = 200
)

// withAnswer takes what a client brings back from its human into the context. What stands in for an answer without being one
// declines.
func withAnswer(ctx context.Context, params *mcp.CallToolParamsRaw) context.Context {
	if params.RequestState == "" {
		return ctx
	}
	answer := aql.Answer{State: params.RequestState}
	if result, ok := params.InputResponses[approval].(*mcp.ElicitResult); ok && result != nil && result.Action == "accept" {
		answer.Approved, _ = result.Content[approval].(bool)
	}
	return aql.WithAnswer(ctx, answer)
}

// ask turns an answer that asks for confirmation into a question to the human. It returns nil where the client cannot ask: the
// answer is passed on then.
func (s *Server) ask(ctx context.Context, session *aql.Session, request *mcp.CallToolRequest, q *aql.Question) *mcp.CallToolResult {
	capabilities := request.ClientCapabilities()
	if capabilities == nil || capabilities.Elicitation == nil {
		return nil
	}
	state, err := session.Seal(ctx, q)
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "asking a human", slog.String("operation", q.Operation), slog.Any("error", err))
		return nil
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{approval: &mcp.ElicitParams{Mode: "form", Message: text(q), RequestedSchema: json.RawMessage(approvalSchema)}},
		RequestState:  state,
	}
}

// text is what the human reads: the author's words first, then what exactly is going to happen.
func text(q *aql.Question) string {
	var out strings.Builder
	if q.Message != "" {
		out.WriteString(q.Message + "\n\n")
	}
	out.WriteString("The agent wants to run operation '" + q.Operation + "' (danger: " + q.DangerLevel + ").")
	if len(q.Reasons) > 0 {
		out.WriteString("\nWhy this is dangerous: " + strings.Join(q.Reasons, "; "))
	}
	if q.Params != "{}" {
		out.WriteString("\nParameters: " + parameters(q.Params))
	}
	return out.String()
}

// parameters is a JSON object of parameters as a human reads it. Where it is long each of them is cut by itself, so that none
// hides behind another.
func parameters(object string) string {
	if len(object) <= longestShown {
		return words.Printable(object)
	}
	var out strings.Builder
	decoder := json.NewDecoder(strings.NewReader(object))
	_, err := decoder.Token()
	for err == nil && decoder.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = decoder.Token(); err != nil {
			break
		}
		if err = decoder.Decode(&value); err != nil {
			break
		}
		text := words.Printable(string(value))
		if len(text) > longestValue {
			text = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:longestValue], ""), len(value))
		}
		fmt.Fprintf(&out, "\n  %q: %s", name, text)
	}
	return out.String()
}

// cool waits until an approval counts. It reports false when the request was cancelled meanwhile.
func cool(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
