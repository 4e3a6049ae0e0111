package aql

import (
	"bytes"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

const (
	successOpen = `{"success":true,"data":`
	// largestBuffer is the size up to which the buffer of an answer is used again.
	largestBuffer = 64 * kib
)

// answer is the last stage of a message: the memory in which its answer is written.
type answer struct {
	writer wire.Writer
	buffer []byte
}

// begin returns the writer of an answer of at most so many bytes.
func (a *answer) begin(limit int) *wire.Writer {
	a.writer.Reset(a.buffer[:0])
	a.writer.SetLimit(limit)
	return &a.writer
}

// take returns what was written. A buffer of usual size is used again, and the answer is a copy that has the size it
// needs.
func (a *answer) take() []byte {
	buffer := a.writer.Bytes()
	if cap(buffer) > largestBuffer {
		a.buffer = nil
		return buffer
	}
	a.buffer = buffer[:0]
	return bytes.Clone(buffer)
}

// writeFailure writes a failure (MCP-AQL core §5.1), with the details that failureDetails chose.
func writeFailure(w *wire.Writer, f *Error, details []detail) {
	w.Raw(`{"success":false,"error":`)
	w.BeginObject()
	w.Key("code")
	w.String(string(f.Code))
	w.Key("message")
	w.String(f.Message)
	if len(details) > 0 {
		w.Key("details")
		writeDetails(w, details)
	}
	w.EndObject()
	w.Raw("}")
}

// failureDetails returns the details of a failed operation with the client's label of the message. Those of introspect
// have none: its schema is closed.
func failureDetails(f *Error, operation, label string) []detail {
	switch {
	case operation == "introspect":
		return nil
	case label == "", strings.HasPrefix(string(f.Code), "INTERNAL_"):
		return f.details
	default:
		return append(f.details[:len(f.details):len(f.details)], detail{"request_id", label})
	}
}

// isToolError maps a failure to MCP's isError: what an agent can act on is an answer and not an error (MCP integration
// §4.3). all makes every failure an error, as clients expect it of a tool that is an operation.
func isToolError(code Code, m *message, all bool) bool {
	return all || code == codeMalformed || m.notAnObject || strings.HasPrefix(string(code), "INTERNAL_")
}
