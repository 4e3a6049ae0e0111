package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
)

func callSmall(ctx context.Context) (Group, error) {
	return call[service.CreateNoteRequest](ctx, "create_note", smallText)
}

func callMedium(ctx context.Context) (Group, error) {
	return call[service.CreateTodoRequest](ctx, "create_todo", MediumRequest)
}

func callLarge(ctx context.Context) (Group, error) {
	return call[service.ImportItemsRequest](ctx, "import_items", largeText())
}

const (
	createTool = "mcp_aql_create"
	readTool   = "mcp_aql_read"
)

// envelope returns a request to an operation.
func envelope(operation, params string) []byte {
	return []byte(`{"operation":"` + operation + `","params":` + params + `}`)
}

// call is a call without its transport: from the bytes of the request to those of the response, with a handler that
// does nothing. A floor is the decoding alone.
func call[T any](ctx context.Context, operation, params string) (Group, error) {
	a, err := adapter(service.NewRegistry(new(service.Service)))
	if err != nil {
		return Group{}, err
	}
	ours := caller(ctx, a, createTool)
	request, arguments := envelope(operation, params), []byte(params)
	decode, err := decoder[T](operation)
	if err != nil {
		return Group{}, err
	}
	sdk, err := newSDK[T](ctx, operation, false)
	if err != nil {
		return Group{}, err
	}
	lenient, err := typedServer[T](ctx, operation, params, false)
	if err != nil {
		return Group{}, err
	}
	validated, err := typedServer[T](ctx, operation, params, true)
	if err != nil {
		return Group{}, err
	}
	var reply []byte
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) {
			var err error
			reply, err = ours(request)
			return &reply, err
		}},
		{
			Name: "aql-tag, decoding alone", LeavesOut: "envelope, dispatch, response", Floor: true,
			Run: func() (any, error) { return decode(arguments) },
		},
		{Name: "MCP SDK AddTool", LeavesOut: constraints + ", " + ofSDK, Run: func() (any, error) { return sdk(arguments) }},
		{Name: "mcp-go typed handler", LeavesOut: onlyDecode, Run: lenient},
		{Name: "mcp-go typed handler, validating", LeavesOut: constraints + ", " + ofSDK, Run: validated},
	}}, nil
}

// callList is a call that returns 25 todos of 10 fields.
func callList(ctx context.Context) (Group, error) {
	list, err := todos(25)
	if err != nil {
		return Group{}, err
	}
	a, err := adapter(service.NewRegistry(&service.Service{Todos: list}))
	if err != nil {
		return Group{}, err
	}
	ours := caller(ctx, a, readTool)
	request := envelope("list_todos", "{}")
	theirs := &page{list}
	var out []byte
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) {
			var err error
			out, err = ours(request)
			return &out, err
		}},
		{Name: "encoding/json, encoding alone", LeavesOut: "the call", Floor: true, Run: func() (any, error) {
			var err error
			out, err = json.Marshal(theirs)
			return &out, err
		}},
		{Name: "copy of the output", LeavesOut: "everything", Floor: true, Run: func() (any, error) {
			clone := bytes.Clone(out)
			return &clone, nil
		}},
	}}, nil
}

// callBatch is 100 medium requests.
func callBatch(ctx context.Context) (Group, error) {
	const size = 100
	single, err := callMedium(ctx)
	if err != nil {
		return Group{}, err
	}
	a, err := adapter(service.NewRegistry(new(service.Service)))
	if err != nil {
		return Group{}, err
	}
	ours := caller(ctx, a, createTool)
	item := string(envelope("create_todo", MediumRequest))
	request := []byte(`{"operations":[` + strings.Repeat(item+",", size-1) + item + `]}`)
	var out []byte
	group := Group{Candidates: []Candidate{{Name: "aql-tag", Run: func() (any, error) {
		var err error
		out, err = ours(request)
		return &out, err
	}}}}
	for _, c := range single.Candidates {
		if c.Floor {
			continue
		}
		one := c.Run
		c.Name += ", one by one"
		c.Run = func() (any, error) {
			for range size - 1 {
				if _, err := one(); err != nil {
					return nil, err
				}
			}
			return one()
		}
		group.Candidates = append(group.Candidates, c)
	}
	return group, nil
}
