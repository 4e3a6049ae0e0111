// Package aql is what the handlers and the main function of an adapter use, and what runs the adapter. It takes the
// bytes of an MCP-AQL request, validates them against the definitions that the generator found in Go source, requires
// confirmation before anything destructive, calls the handler and answers in bytes.
//
// # Handlers
//
// A handler is a function whose last parameter is a struct with an aql tag:
//
//	// UpdateTodoRequest names a todo and what changes in it.
//	type UpdateTodoRequest struct {
//		_      struct{}        `aql:"category=UPDATE"`
//		TodoID string          `json:"todo_id" aql:"required"`
//		Input  aql.Patch[Todo] `json:"input"`
//	}
//
//	// UpdateTodo changes a todo; what is absent from input stays as it was.
//	func (s *Service) UpdateTodo(ctx context.Context, req UpdateTodoRequest) (*Todo, error) {
//		todo, ok := s.todos[req.TodoID]
//		if !ok {
//			return nil, aql.NotFound("todo", req.TodoID)
//		}
//		if err := req.Input.Apply(todo); err != nil {
//			return nil, err
//		}
//		return todo, nil
//	}
//
// A request has a [Patch] or fields of type [Optional] for what an update changes, and embeds [Fields] to let agents
// select the fields of a result. An error that the agent may see comes from [NotFound], [AlreadyExists],
// [VersionMismatch], [Denied] or [Errorf]; any other error is logged and masked. [Warn] adds a warning to an answer,
// [ReportProgress] tells the client how far a long one is, [ReportUsage] reports tokens and costs for quotas, and
// [CallerOf] returns who calls.
//
// # Adapters
//
// The generator writes a function NewRegistry for each package with handlers. [New] makes an adapter of a registry, or
// of several that [Merge] brought together:
//
//	adapter, err := aql.New(todo.NewRegistry(service), aql.Options{Name: "todo", Version: "1.0.0"})
//
// Most programs leave this to serve.Main, which also serves the adapter over MCP.
//
// # For transports
//
// A transport begins a [Session] for each connection, and hands over each request with the name of the MCP tool that it
// was sent to:
//
//	session := adapter.NewSession()
//	defer session.Close()
//	ctx = aql.WithCaller(ctx, caller)
//	reply := session.Call(ctx, "mcp_aql_read", []byte(`{"operation":"list_todos"}`))
//
// [Adapter.Tools] lists the tools, [Adapter.Limits] the limits to enforce before a request is in memory, and
// [Adapter.Logger] is where to log. [WithCaller] and [WithProgress] go with a request. A [Reply] with a [Question] can
// be put to a human: [Session.Seal] makes a text of the question that can leave the process, and [WithAnswer] sends the
// request again with the human's [Answer]. Nothing else in this package is only for transports.
package aql
