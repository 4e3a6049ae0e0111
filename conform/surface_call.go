package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Answer is the answer to one request (MCP-AQL core §6.1, error codes §2).
type Answer struct {
	// Reply is the answer as the server sent it.
	Reply Reply
	// Success tells a success from a failure. Neither is set where the answer is not one of MCP-AQL.
	Success, Failed bool
	// Data is the result of a success as JSON, as it was written; empty: it is no JSON, and Text has it.
	Data json.RawMessage
	// Text is what the server answered where the answer has no JSON.
	Text string
	// Warnings are those of a success, as JSON; empty: there are none.
	Warnings []json.RawMessage
	// Code, Message and Details are those of a failure; Code and Details may be empty.
	Code, Message string
	Details       map[string]json.RawMessage
}

// Call calls an operation that Look or Operation returned, with parameters that are a JSON object. It fails if the
// server stops answering; whether the operation was carried out is then not known.
func (s *Surface) Call(ctx context.Context, o Operation, params json.RawMessage) (*Answer, error) {
	var request any = map[string]any{"operation": o.Name, "params": params}
	if s.Discrete {
		request = params
	}
	s.p.ctx = ctx
	x := s.p.call(o.operation.Tool, request)
	if s.p.stopped != nil {
		return nil, fmt.Errorf("conform: %w", s.p.stopped)
	}
	return x.exportAnswer(s.Discrete), nil
}

// exportAnswer returns the answer with the JSON of the server as it was written, where it is in the protocol's place.
func (x *exchange) exportAnswer(discrete bool) *Answer {
	a := &x.answer
	e := &Answer{Reply: x.reply, Success: a.success, Failed: a.failed, Code: a.code, Message: a.message}
	var written struct {
		Data     json.RawMessage
		Warnings []json.RawMessage
		Error    struct{ Details map[string]json.RawMessage }
	}
	asWritten := a.wellFormed && json.Unmarshal([]byte(x.reply.Text), &written) == nil
	if asWritten && slices.Contains(a.deviations, hiddenFailure) && memberOf(a.root["data"], "isError") != true {
		e.Success, e.Failed, e.Code, e.Message = true, false, "", "" // the data may well speak of errors
	}
	switch {
	case e.Success:
		e.Warnings = written.Warnings
		if asWritten && !slices.Contains(a.deviations, contentInData) {
			e.Data = written.Data
		} else if e.Data = json.RawMessage(unescapedJSON(a.data)); slices.Contains(a.deviations, contentInData) {
			if text, ok := a.data.(string); ok {
				e.Data, e.Text = nil, text
			}
		}
	case e.Failed:
		if e.Details = written.Error.Details; e.Details == nil {
			e.Details = rawMembers(a.details)
		}
	case discrete && x.reply.Fault == "" || discrete && x.reply.Text != "":
		e.Success, e.Text = true, x.reply.Text
	default:
		e.Text = x.reply.Text
	}
	return e
}

func rawMembers(object map[string]any) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for name, value := range object {
		all[name] = json.RawMessage(unescapedJSON(value))
	}
	return all
}

// unescapedJSON returns a value that was read from JSON as JSON, without escapes for HTML.
func unescapedJSON(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return []byte("null")
	}
	return bytes.TrimSpace(text.Bytes())
}
