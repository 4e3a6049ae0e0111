package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// approval is the name of the requested input, and of the field of its form. Where a person types to approve, the field
// is typed instead.
const approval, typed = "approve", "typed"

// forgedState is the error of a call that comes with the state of no question that its caller was asked (MCP multi
// round-trip requests).
const forgedState = "requestState is not what the server returned to this caller; call again without it"

// The form for the person, with what an approval lets happen between its two parts.
const (
	approvalSchema    = `{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"`
	approvalSchemaEnd = `"}},"required":["approve"]}`
)

// Bounds of a question, in bytes.
const (
	longestShown = 2000 // of all parameters, as they are
	longestValue = 200  // of each parameter, if together they are longer, without escapes
)

// withAnswer adds to the context the answer of a person that the client sends back. Everything but an approval
// declines.
func withAnswer(ctx context.Context, params *mcp.CallToolParamsRaw) context.Context {
	if params.RequestState == "" {
		return ctx
	}
	answer := aql.Answer{State: params.RequestState}
	result, ok := params.InputResponses[approval].(*mcp.ElicitResult)
	if ok && result != nil && result.Action == "accept" {
		answer.Approved, _ = result.Content[approval].(bool)
		answer.Typed, _ = result.Content[typed].(string)
	}
	return aql.WithAnswer(ctx, answer)
}

// elicits reports whether the client of a call can ask a person.
func elicits(request *mcp.CallToolRequest) bool {
	capabilities := request.ClientCapabilities()
	return capabilities != nil && hasForms(capabilities.Elicitation)
}

// hasForms reports whether a client that says this of its elicitation shows forms. One that names no mode does (MCP
// elicitation, Capabilities).
func hasForms(e *mcp.ElicitationCapabilities) bool {
	return e != nil && (e.Form != nil || e.URL == nil)
}

// ask returns a result that has the client ask a person for confirmation; nil: the client cannot ask.
func (s *Server) ask(
	ctx context.Context, session *aql.Session, request *mcp.CallToolRequest, q *aql.Question,
) *mcp.CallToolResult {
	if !elicits(request) {
		return nil
	}
	state, err := session.Seal(ctx, q)
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "asking a human",
			slog.String("operation", q.Operation), slog.Any("error", err))
		return nil
	}
	question := &mcp.ElicitParams{Mode: "form", Message: text(q), RequestedSchema: formOf(q)}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{approval: question}, RequestState: state}
}

// formOf returns the form for the person, in JSON Schema. It shows what is to be typed.
func formOf(q *aql.Question) json.RawMessage {
	switch {
	case q.Continues:
		return json.RawMessage(approvalSchema + "Let all calls of this caller go on until the quota resets" +
			approvalSchemaEnd)
	case q.Typing.Param == "":
		return json.RawMessage(approvalSchema + "Let the agent do this, once" + approvalSchemaEnd)
	}
	w := wire.NewWriter(nil)
	w.Raw(`{"type":"object","properties":{"` + typed + `":{"type":"string","title":`)
	w.String("Type " + q.Typing.Value)
	w.Raw(`,"description":`)
	w.String("The value of " + q.Typing.Param + ", to let the agent do this, once. Anything else declines.")
	w.Raw(`,"minLength":1}},"required":["` + typed + `"]}`)
	return json.RawMessage(w.Bytes())
}

// text returns the question: the author's message first, and then what exactly will happen. Nothing in it is hidden:
// see words.Printable.
func text(q *aql.Question) string {
	var out strings.Builder
	if q.Message != "" {
		for line := range strings.SplitSeq(q.Message, "\n") { // those of the author; the values in it have none
			out.WriteString(words.Printable(line) + "\n")
		}
		out.WriteString("\n")
	}
	if q.Continues {
		out.WriteString("A call of operation '" + q.Operation + "' met the pause; this is not about it alone.")
		return out.String()
	}
	out.WriteString("The agent wants to run operation '" + q.Operation + "' (danger: " + q.DangerLevel + ").")
	if len(q.Reasons) > 0 {
		out.WriteString("\nWhy this is dangerous: " + words.Printable(strings.Join(q.Reasons, "; ")))
	}
	if q.Params != "{}" {
		out.WriteString("\nParameters: " + parameters(q.Params))
	}
	if q.Typing.Param != "" {
		out.WriteString("\nTo approve, type the value of " + q.Typing.Param + ": " + q.Typing.Value)
	}
	return out.String()
}

// parameters returns a JSON object of parameters for a person to read. If it is long, it has parts of each long one, so
// that none hides the others.
func parameters(object string) string {
	if len(object) <= longestShown {
		return words.PrintableJSON(object)
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
		fmt.Fprintf(&out, "\n  \"%s\": %s", words.Printable(fmt.Sprint(name)), excerpt(value))
	}
	return out.String()
}

// excerpt returns a JSON value for a person to read: of a long one the beginning and the end, in quotation marks, and
// behind those its size, which nothing in it imitates.
func excerpt(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	if len(text) <= longestValue {
		return words.PrintableJSON(string(value))
	}
	w := wire.NewWriter(nil)
	w.String(words.Excerpt(text, longestValue))
	return fmt.Sprintf("%s (parts of %d bytes)", words.PrintableJSON(string(w.Bytes())), len(text))
}

// waitFor waits for the end of a cooldown. It returns false if the request was cancelled meanwhile.
func waitFor(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
