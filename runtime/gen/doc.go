// Package gen is the part of the runtime that generated code uses. A generated file declares its operations and types
// as literals of Handler and WireType, and ties them to the values whose methods are called:
//
//	func NewRegistry(service *Service) *gen.Registry {
//		return gen.NewRegistry(handlers, wireTypes, service)
//	}
//
//	var handlers = []gen.Handler{
//		{Name: "get_todo", Category: gen.Read, Danger: gen.Safe, Description: "Reads a todo.",
//			Params: []gen.Field{
//				{Name: "todo_id", Go: "TodoID", Type: "string", Required: true, Rules: gen.Rules{gen.MaxLen(40)}},
//			},
//			Returns: "Todo", Source: "todo/get.go:20", Request: (*GetTodoRequest)(nil), Result: (**Todo)(nil),
//			Call: func(ctx context.Context, receivers []any, request any) (any, error) {
//				return receivers[0].(*Service).GetTodo(ctx, *request.(*GetTodoRequest))
//			}},
//	}
//
// NewRegistry makes definitions of them: Operation, Param and Type, collected in Definitions. Everything else in
// aql-tag reads those. The scanner finds them in Go source, the generator writes them as literals, the runtime
// validates requests against them, and tools describe them.
//
// The package is for generated code and for tools. Handlers and main functions have no need of it.
package gen
