package mcpserver

import (
	"context"
	"encoding/json"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerExecution is the operation by which a caller answers a paused execution.
const answerExecution = "answer_execution"

// answerField is the field of a form for what an execution waits for.
const answerField = "value"

// messageOf says in words in which state a task is.
func messageOf(e *aql.Execution) string {
	switch w := e.WaitsFor; {
	case w == nil:
		return e.Message
	case w.Operator && w.Approval == "":
		return "It waits for room to ask an operator"
	case w.Operator && w.Message != "":
		return "An operator was asked: " + w.Message
	case w.Operator:
		return "An operator was asked to decide about " + w.Name
	default:
		return "It waits for " + w.Name + ", which " + answerExecution + " answers"
	}
}

// writeQuestion writes the question for what an execution waits for, where the client can ask it: by a form, if the
// caller answers and a form can have the answer, and by the page for the item, if people decide in the inbox.
func (s *Server) writeQuestion(w *wire.Writer, c *mcp.ClientCapabilities, waits *aql.ExecutionWait) {
	switch {
	case waits == nil:
	case waits.Operator:
		if s.options.ApprovalURL != nil && opensPages(c) && waits.Approval != "" {
			writePage(w, waits, s.options.ApprovalURL(waits.Approval))
		}
	case c != nil && hasForms(c.Elicitation):
		writeForm(w, waits)
	}
}

// writePage writes the page where people decide. What its user says of it to the client counts for nothing.
func writePage(w *wire.Writer, waits *aql.ExecutionWait, page string) {
	if page == "" {
		return
	}
	w.String(waits.Approval)
	w.Raw(`:{"method":"elicitation/create","params":{"mode":"url","message":`)
	w.String("The operation that runs in the background asks an operator: " + words.Printable(waits.Message))
	w.Raw(`,"url":`)
	w.String(page)
	w.Raw(`,"elicitationId":`)
	w.String(waits.Approval)
	w.Raw("}}")
}

// writeForm writes the form for an answer of the caller, if a form can have it.
func writeForm(w *wire.Writer, waits *aql.ExecutionWait) {
	switch waits.Type {
	case "string", "integer", "number", "boolean":
	default:
		return
	}
	w.String(waits.Name)
	w.Raw(`:{"method":"elicitation/create","params":{"mode":"form","message":`)
	w.String("The operation that runs in the background waits for " + waits.Name + ".")
	w.Raw(`,"requestedSchema":{"type":"object","properties":{"` + answerField + `":{"type":"` + waits.Type + `","title":`)
	w.String(waits.Name)
	w.Raw(`}},"required":["` + answerField + `"]}}}`)
}

// answerTask answers a paused execution with the response of a client. Responses to what was not asked are ignored, and
// so are those that decline: the execution waits on.
func (s *Server) answerTask(
	ctx context.Context, session *aql.Session, e *aql.Execution, responses map[string]json.RawMessage,
) error {
	if e == nil || e.WaitsFor == nil || e.WaitsFor.Operator || s.adapter.Tool(answerExecution) == "" {
		return nil
	}
	var response struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	given := responses[e.WaitsFor.Name] // what cannot be read accepts nothing
	if json.Valid(given) {
		_ = json.Unmarshal(given, &response)
	}
	if response.Action != "accept" {
		return nil
	}
	value, ok := response.Content[answerField]
	if !ok {
		return nil
	}
	reply := s.callAbout(ctx, session, answerExecution, e.ID, func(w *wire.Writer) {
		w.Raw(`,"name":`)
		w.String(e.WaitsFor.Name)
		w.Raw(`,"value":` + string(value))
	})
	if code, message := failureOf(&reply); code != "" && code != invalidState { // somebody else was faster
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
	}
	return nil
}
