package scan

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// checkSignature reads the parameters and results of a handler. It returns why the function cannot be one.
func checkSignature(p *source.Program, o *operation) *shapes.Fault {
	if isHTTPCall(p, o) {
		return nil
	}
	signature := o.fn.Signature()
	wrong := func(format string, args ...any) *shapes.Fault {
		return &shapes.Fault{
			Message: fmt.Sprintf(format, args...),
			Suggestion: "a handler is func([context.Context,] Request) (Result, error) " +
				"or func([context.Context,] Request) error",
		}
	}
	if signature.TypeParams().Len() > 0 {
		return &shapes.Fault{
			Message:    "it has type parameters, and nothing says what they stand for",
			Suggestion: "write a function for the types that agents may use, and make that the handler",
		}
	}
	params := slices.Collect(signature.Params().Variables())
	if len(params) > 0 && gotype.Is(params[0].Type(), "context", "Context") {
		o.context, params = true, params[1:]
	}
	if last := len(params) - 1; last >= 0 && isRun(params[last].Type()) {
		o.run, params = true, params[:last]
	}
	switch {
	case o.tagged:
		if len(params) == 0 || signature.Variadic() {
			return wrong("the request is not its last parameter")
		}
		request, pointer := requestType(params[len(params)-1].Type(), false)
		if request == nil || !types.Identical(request, o.request) {
			return wrong("the request is not its last parameter")
		}
		if len(params) > 1 {
			return wrong("it takes %s beside the request", gotype.Name(params[0].Type()))
		}
		o.pointer = pointer
	case len(params) == 1 && !signature.Variadic() && isRequest(params[0].Type()):
		o.request, o.pointer = requestType(params[0].Type(), false)
	default:
		if fault := checkArguments(o, params); fault != nil {
			return fault
		}
	}
	results := slices.Collect(signature.Results().Variables())
	if isQueried(o) && len(results) == 1 && !isError(results[0].Type()) {
		o.result = results[0].Type()
		return nil
	}
	if len(results) == 0 || !isError(results[len(results)-1].Type()) {
		return wrong("its last result is not an error")
	}
	switch len(results) {
	case 1:
	case 2:
		o.result = results[0].Type()
	default:
		return &shapes.Fault{
			Message:    fmt.Sprintf("it has %d results beside the error", len(results)-1),
			Suggestion: "return one struct that holds them, and an error",
		}
	}
	return nil
}

// isRequest reports whether the only parameter of a handler is a struct whose fields are the parameters of the
// operation, and not a value that JSON carries as a whole, such as a time.
func isRequest(t types.Type) bool {
	request, _ := requestType(t, false)
	return request != nil && !gotype.Is(request, "time", "Time") && shapes.MarshalMethod(request) == ""
}

// checkArguments takes the arguments of a function as the parameters of its operation.
func checkArguments(o *operation, params []*types.Var) *shapes.Fault {
	for i, v := range params {
		switch {
		case v.Name() == "" || v.Name() == "_":
			return &shapes.Fault{
				Message: fmt.Sprintf("its argument %d of type %s has no name, and arguments go by their names", i+1,
					gotype.Name(v.Type())),
				Suggestion: "name it",
			}
		case gotype.Is(v.Type(), "context", "Context"):
			return &shapes.Fault{Message: "the context is not its first parameter", Suggestion: "make it the first"}
		case isRun(v.Type()):
			return &shapes.Fault{Message: "the *aql.Run is not its last parameter", Suggestion: "make it the last"}
		}
	}
	o.arguments = params
	return nil
}

func isError(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() == nil && named.Obj().Name() == "error"
}
