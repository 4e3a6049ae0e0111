package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tasksExtension is the name of the extension of MCP by which clients follow what outlives a call (SEP-2663). A client
// that declares it gets a task in place of the result of a call that starts an execution.
const tasksExtension = "io.modelcontextprotocol/tasks"

// The methods of the extension.
const (
	getTask    = "tasks/get"
	updateTask = "tasks/update"
	cancelTask = "tasks/cancel"
)

// The operations of an adapter that stand behind the methods.
const (
	getExecution    = "get_execution"
	cancelExecution = "cancel_execution"
)

// noTask is the message about a task that there is not, or that is somebody else's.
const noTask = "there is no such task"

// hasTasks reports whether the adapter has what can be a task, and what follows it.
func (s *Server) hasTasks() bool {
	return s.adapter.Executes() && s.adapter.Tool(getExecution) != "" && s.adapter.Tool(cancelExecution) != ""
}

// declaresTasks reports whether a client says that it knows tasks.
func declaresTasks(c *mcp.ClientCapabilities) bool {
	if c == nil {
		return false
	}
	_, declared := c.Extensions[tasksExtension]
	return declared
}

// addTasks adds the methods of tasks to the MCP server. The middleware answers them.
func (s *Server) addTasks() {
	unanswered := func(context.Context, *mcp.ServerSession, *taskParams) (*taskResult, error) {
		return nil, errInternal()
	}
	for _, method := range []string{getTask, updateTask, cancelTask} {
		if err := mcp.AddReceivingCustomMethod(s.mcp, method, unanswered); err != nil {
			s.err = err
		}
	}
	s.mcp.AddReceivingMiddleware(s.withTasks)
}

// taskParams are the parameters of the methods.
type taskParams struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
	// InputResponses are the client's, in tasks/update. What does not have the form of one is ignored.
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// taskResult is a result of the extension: an object of JSON that is still open.
type taskResult struct {
	mcp.ResultBase
	open []byte
}

// MarshalJSON adds the metadata that the SDK has set.
func (r *taskResult) MarshalJSON() ([]byte, error) {
	text := append([]byte(nil), r.open...)
	if len(r.Meta) > 0 {
		meta, err := json.Marshal(r.Meta)
		if err != nil {
			return nil, err
		}
		text = append(append(text, `,"_meta":`...), meta...)
	}
	return append(text, '}'), nil
}

// startedKey is the key of the place where a call leaves the execution that it has started.
type startedKey struct{}

// withTasks answers the methods of tasks, and gives a client that knows tasks one in place of the result of a call that
// has started an execution.
func (s *Server) withTasks(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		switch method {
		case "tools/call":
			call, ok := request.(*mcp.CallToolRequest)
			if !ok || !declaresTasks(call.ClientCapabilities()) {
				return next(ctx, method, request)
			}
			var started *aql.Execution
			result, err := next(context.WithValue(ctx, startedKey{}, &started), method, request)
			if err != nil || started == nil {
				return result, err
			}
			return &taskResult{open: appendTask(nil, started, "task")}, nil
		case getTask, updateTask, cancelTask:
			r, ok := request.(*mcp.ServerRequest[*taskParams])
			if !ok {
				return nil, errInternal()
			}
			return s.task(ctx, method, r)
		}
		return next(ctx, method, request)
	}
}

// isTask reports whether a call has started an execution that has not ended within it.
func isTask(e *aql.Execution) bool { return e != nil && e.Started && e.PollAfter > 0 }

// leaveStarted leaves the execution that a call has started to withTasks.
func leaveStarted(ctx context.Context, reply *aql.Reply) {
	if place, ok := ctx.Value(startedKey{}).(**aql.Execution); ok && isTask(reply.Execution) {
		*place = reply.Execution
	}
}

// task answers one of the methods. Behind it is the operation of the adapter that does the same, with all that holds
// for a call of it.
func (s *Server) task(ctx context.Context, method string, request *mcp.ServerRequest[*taskParams]) (mcp.Result, error) {
	if !declaresTasks(request.ClientCapabilities()) {
		data := json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)
		return nil, &jsonrpc.Error{
			Code: mcp.CodeMissingRequiredClientCapabilities, Data: data,
			Message: "the client does not declare the tasks extension",
		}
	}
	if request.Params == nil || request.Params.TaskID == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "taskId is missing"}
	}
	operation := getExecution
	if method == cancelTask {
		operation = cancelExecution
	}
	session := sessionOf(s.sessions, request, aql.CallerOf(ctx))
	reply := s.callAbout(ctx, session, operation, request.Params.TaskID, nil)
	if err := taskFailure(&reply); err != nil {
		return nil, err
	}
	switch method {
	case getTask:
		open := appendTask(nil, reply.Execution, "complete")
		return &taskResult{open: s.appendState(open, reply.Execution, &reply, request.ClientCapabilities())}, nil
	case updateTask:
		if err := s.answerTask(ctx, session, reply.Execution, request.Params.InputResponses); err != nil {
			return nil, err
		}
	}
	return &taskResult{open: []byte(`{"resultType":"complete"`)}, nil
}

// callAbout calls an operation about an execution. more are further parameters of it.
func (s *Server) callAbout(
	ctx context.Context, session *aql.Session, operation, id string, more func(*wire.Writer),
) aql.Reply {
	tool := s.adapter.Tool(operation)
	w := wire.NewWriter(nil)
	discrete := false
	for _, t := range s.adapter.Tools() {
		discrete = discrete || t.Name == tool && t.Operation != ""
	}
	if !discrete {
		w.Raw(`{"operation":"` + operation + `","params":`)
	}
	w.Raw(`{"execution_id":`)
	w.String(id)
	if more != nil {
		more(w)
	}
	w.Raw("}")
	if !discrete {
		w.Raw("}")
	}
	return session.Call(ctx, tool, w.Bytes())
}

// taskFailure returns the error of a method whose operation has failed; nil: it has not, or only because the execution
// has ended already.
func taskFailure(reply *aql.Reply) error {
	code, message := failureOf(reply)
	family, _, _ := strings.Cut(code, "_")
	switch {
	case code == "" || code == invalidState:
		return nil
	case family == "NOT" || family == "VALIDATION":
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: noTask}
	case family == "INTERNAL":
		return &jsonrpc.Error{Code: codeInternal, Message: message}
	}
	return &jsonrpc.Error{Code: codeBusy, Message: message}
}

// invalidState is the code of a failure for the state of an execution.
const invalidState = "CONFLICT_INVALID_STATE"

// failureOf returns the code and the message of a failure; empty: the reply is about an execution.
func failureOf(reply *aql.Reply) (code, message string) {
	if reply.Execution != nil {
		return "", ""
	}
	var answer struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(reply.JSON, &answer) != nil || answer.Error.Code == "" {
		return "INTERNAL_ERROR", internalError
	}
	return answer.Error.Code, answer.Error.Message
}

// statusOf returns the status of the task that an execution is. A failed execution is a task that is completed, with
// the failure as its result: failed would be a fault of the protocol.
func statusOf(e *aql.Execution) string {
	switch e.State {
	case "completed", "failed":
		return "completed"
	case "cancelled":
		return "cancelled"
	case "paused":
		return "input_required"
	}
	return "working"
}

// timeFormat is that of ISO 8601.
const timeFormat = "2006-01-02T15:04:05.000Z"

// appendTask appends a task to buf, an object that is still open.
func appendTask(buf []byte, e *aql.Execution, resultType string) []byte {
	var w wire.Writer
	w.Reset(buf)
	w.Raw(`{"resultType":"` + resultType + `","taskId":`)
	w.String(e.ID)
	w.Raw(`,"status":"` + statusOf(e) + `"`)
	if message := messageOf(e); message != "" {
		w.Raw(`,"statusMessage":`)
		w.String(message)
	}
	w.Raw(`,"createdAt":"` + e.Created.UTC().Format(timeFormat) + `","lastUpdatedAt":"` +
		e.Changed.UTC().Format(timeFormat) + `","ttlMs":`)
	if e.Expires.IsZero() {
		w.Raw("null")
	} else {
		w.Int(e.Expires.Sub(e.Created).Milliseconds())
	}
	if e.PollAfter > 0 {
		w.Raw(`,"pollIntervalMs":`)
		w.Int(e.PollAfter.Milliseconds())
	}
	return w.Bytes()
}

// appendState appends what a task has besides in its state: what the client is asked, or the result. reply is what
// get_execution has answered.
func (s *Server) appendState(
	buf []byte, e *aql.Execution, reply *aql.Reply, client *mcp.ClientCapabilities,
) []byte {
	var w wire.Writer
	w.Reset(buf)
	switch statusOf(e) {
	case "input_required":
		w.Raw(`,"inputRequests":{`)
		s.writeQuestion(&w, client, e.WaitsFor)
		w.Raw("}")
	case "completed":
		if e.Failure != nil {
			reply = e.Failure
		}
		w.Raw(`,"result":{"content":[{"type":"text","text":`)
		w.String(string(reply.JSON))
		w.Raw("}]")
		if reply.IsError {
			w.Raw(`,"isError":true`)
		}
		w.Raw("}")
	}
	return w.Bytes()
}
