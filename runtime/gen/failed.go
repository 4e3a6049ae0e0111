package gen

import "fmt"

// ResponseError is the failure of a handler of a web framework that returned a response with the status of a failure.
type ResponseError struct {
	// Status is the HTTP status; 0: the handler returned a response that its framework does not know.
	Status int
	// Response is what the response holds; nil: nothing.
	Response any
}

// Failed returns a ResponseError as a handler returns it.
func Failed(status int, response any) (any, error) { return nil, &ResponseError{status, response} }

// Error returns the status and the Go type of what the response holds.
func (e *ResponseError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("the handler returned a response of type %T", e.Response)
	}
	return fmt.Sprintf("the handler returned a response with status %d", e.Status)
}
