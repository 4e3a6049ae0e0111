package aql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// The types of this file have the methods of those of libraries, which this module does not require.

// grpcCode is a code of google.golang.org/grpc, and grpcError is an error with a status of it.
type grpcCode uint32

func (c grpcCode) String() string {
	return [...]string{
		"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied",
		"ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable",
		"DataLoss", "Unauthenticated",
	}[c]
}

type grpcStatus struct{ code grpcCode }

func (s *grpcStatus) Code() grpcCode  { return s.code }
func (s *grpcStatus) Message() string { return "pq: secret" }

type grpcError struct{ status *grpcStatus }

func (e *grpcError) GRPCStatus() *grpcStatus { return e.status }
func (e *grpcError) Error() string           { return "rpc error: pq: secret" }

// connectError is an error of connectrpc.com/connect, and twirpError one of github.com/twitchtv/twirp.
type connectCode uint32

func (c connectCode) String() string { return [...]string{5: "not_found", 7: "permission_denied"}[c] }

type connectError struct{ code connectCode }

func (e *connectError) Code() connectCode { return e.code }
func (e *connectError) Error() string     { return "not_found: pq: secret" }

type twirpError struct{ code string }

func (e twirpError) Code() string  { return e.code }
func (e twirpError) Error() string { return "twirp: pq: secret" }

// numberError has a code that only its library understands.
type numberError uint32

func (e numberError) Code() uint32  { return uint32(e) }
func (e numberError) Error() string { return "pq: secret" }

type httpError int

func (e httpError) StatusCode() int { return int(e) }
func (e httpError) Error() string   { return "GET https://example.com: pq: secret" }

type humaError int

func (e humaError) GetStatus() int { return int(e) }
func (e humaError) Error() string  { return "pq: secret" }

// clientError is an error of github.com/google/go-github and of clients in its style.
type clientError struct {
	Response *http.Response
	Message  string
}

func (e *clientError) Error() string { return "GET https://example.com: " + e.Message }

// oddError has a field Response that is something else.
type oddError struct{ Response *struct{ StatusCode int } }

func (e oddError) Error() string { return "pq: secret" }

type panickingError struct{}

func (*panickingError) StatusCode() int { panic("secret") }
func (*panickingError) Error() string   { return "pq: secret" }

func answered(status int, response any) error {
	_, err := gen.Failed(status, response)
	return err
}

// B3, B8: errors of libraries whose types tell what they mean have the code of it, and nothing of their text.
func TestErrorsOfLibraries(t *testing.T) {
	status := func(code grpcCode) error { return &grpcError{&grpcStatus{code}} }
	const masked = "INTERNAL_ERROR: Internal error: 'unexpected failure'"
	for _, tt := range []struct {
		name string
		err  error
		want string // without details
	}{
		{"gRPC not found", status(5), "NOT_FOUND_RESOURCE: Resource not found"},
		{"gRPC already exists", status(6), "CONFLICT_ALREADY_EXISTS: The resource already exists"},
		{"gRPC invalid argument", status(3), "VALIDATION_INVALID_TYPE: The service refused a parameter"},
		{"gRPC out of range", status(11),
			"VALIDATION_OUT_OF_RANGE: The service refused a parameter: a value is out of range"},
		{"gRPC permission denied", status(7), "PERMISSION_DENIED: Permission denied: 'the service does not allow it'"},
		{"gRPC unauthenticated", status(16),
			"PERMISSION_DENIED: Permission denied: 'the service does not accept the credentials'"},
		{"gRPC exhausted", status(8), "RATE_LIMIT_EXCEEDED: API rate limit exceeded"},
		{"gRPC failed precondition", status(9),
			"CONFLICT_INVALID_STATE: The state of the service does not allow the operation"},
		{"gRPC aborted", status(10),
			"CONFLICT_VERSION_MISMATCH: The service stopped the operation because of a concurrent change"},
		{"gRPC deadline", status(4), "INTERNAL_ERROR: Internal error: 'operation timed out'"},
		{"gRPC unavailable", status(14), "INTERNAL_ERROR: Internal error: 'the service is unavailable'"},
		{"gRPC unimplemented", status(12), "INTERNAL_ERROR: Internal error: 'the service does not implement it'"},
		{"gRPC internal", status(13), masked},
		{"gRPC unknown", status(2), masked},
		{"no status", &grpcError{}, masked},
		{"a wrapped status", fmt.Errorf("calling: %w", status(5)), "NOT_FOUND_RESOURCE: Resource not found"},
		{"a joined one", errors.Join(errors.New("x"), status(5)), "NOT_FOUND_RESOURCE: Resource not found"},
		{"connect", &connectError{7}, "PERMISSION_DENIED: Permission denied: 'the service does not allow it'"},
		{"twirp", twirpError{"not_found"}, "NOT_FOUND_RESOURCE: Resource not found"},
		{"a code without a name", numberError(5), masked},
		{"a code that is none of gRPC", twirpError{"42P01"}, masked},
		{"HTTP 404", httpError(404), "NOT_FOUND_RESOURCE: Resource not found"},
		{"HTTP 409, wrapped", fmt.Errorf("x: %w", httpError(409)), "CONFLICT_ALREADY_EXISTS: The resource already exists"},
		{"HTTP 503", httpError(503), "INTERNAL_ERROR: Internal error: 'the API answered with status 503'"},
		{"HTTP 200", httpError(200), masked},
		{"huma 403", humaError(403), "PERMISSION_DENIED: Permission denied: 'the API answered with status 403'"},
		{"a response with status 409", answered(409, map[string]any{"title": "Conflict", "detail": "the name is taken"}),
			"CONFLICT_ALREADY_EXISTS: The API refused the request: 'the name is taken'"},
		{"a response that is a text, wrapped", fmt.Errorf("x: %w", answered(400, "no such color")),
			"VALIDATION_INVALID_TYPE: The API refused the request: 'no such color'"},
		{"a response that discloses", answered(422, map[string]any{"message": "pq: secret"}),
			"VALIDATION_INVALID_TYPE: The API refused the request with status '422'"},
		{"a response without content", answered(404, nil), "NOT_FOUND_RESOURCE: Resource not found"},
		{"a response that JSON cannot carry", answered(503, make(chan int)),
			"INTERNAL_ERROR: Internal error: 'the API answered with status 503'"},
		{"a response with status 302", answered(302, nil), masked},
		{"a response of no known type", answered(0, struct{}{}), masked},
		{"a client's 404", fmt.Errorf("x: %w", &clientError{&http.Response{StatusCode: 404}, "secret"}),
			"NOT_FOUND_RESOURCE: Resource not found"},
		{"a client's 500", &clientError{&http.Response{StatusCode: 500}, "secret"},
			"INTERNAL_ERROR: Internal error: 'the API answered with status 500'"},
		{"a client without a response", &clientError{nil, "secret"}, masked},
		{"another field Response", oddError{&struct{ StatusCode int }{404}}, masked},
		{"a file that exists", &fs.PathError{Op: "open", Path: "/src/x", Err: fs.ErrExist},
			"CONFLICT_ALREADY_EXISTS: The resource already exists"},
		{"a file without access", fmt.Errorf("x: %w", fs.ErrPermission),
			"PERMISSION_DENIED: Permission denied: 'the service has no access to it'"},
		{"a deadline of the handler's own", fmt.Errorf("x: %w", context.DeadlineExceeded),
			"INTERNAL_ERROR: Internal error: 'operation timed out'"},
		{"a connection that does not answer", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
			"INTERNAL_ERROR: Internal error: 'operation timed out'"},
		{"a connection that is refused", &net.OpError{Op: "dial", Err: errors.New("refused")}, masked},
		{"a method that panics", &panickingError{}, masked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, text := stageLog()
			failed := reporter{log: log, operation: "drop", levels: 20}.handlerFailure(t.Context(),
				new(run).judge(t.Context(), tt.err), nil)
			checkText(t, "failure", tt.want, failed.Error())
			if strings.Contains(asJSON(failed), "secret") {
				t.Errorf("the agent learns the text: %s", asJSON(failed))
			}
			if strings.Contains(tt.err.Error(), "secret") && !strings.Contains(text.String(), "secret") {
				t.Errorf("the log does not have the error: %s", text)
			}
		})
	}
}

// B3: MapError translates what the service knows of its libraries. What it does not translate is treated as without it.
func TestMapError(t *testing.T) {
	quota := errors.New("quota of secret tenant")
	calls := 0
	mapError := func(_ context.Context, operation string, err error) error {
		calls++
		switch {
		case errors.Is(err, quota):
			return Errorf("CONFLICT_QUOTA", "%s: the quota is used up", operation)
		case err.Error() == "panic":
			panic("secret")
		case err.Error() == "nil":
			return nil
		case err.Error() == "shipped":
			return InvalidState("order", "17", "shipped")
		case err.Error() == "inner":
			return fs.ErrExist
		}
		return err
	}
	const masked = "INTERNAL_ERROR: Internal error: 'unexpected failure'"
	for _, tt := range []struct {
		name, want string
		err        error
		calls      int
		log        string
	}{
		{"translated", "CONFLICT_QUOTA: fail_note: the quota is used up", fmt.Errorf("x: %w", quota), 1,
			`cause="x: quota of secret tenant"`},
		{"to a failure with details", "CONFLICT_INVALID_STATE: Resource 'order' is in state 'shipped': '17'",
			errors.New("shipped"), 1, `cause=shipped`},
		{"as it was", masked, errSecret, 1, "pq: password"},
		{"nil is no success", masked, errors.New("nil"), 1, "nil"},
		{"to an error that is known", "CONFLICT_ALREADY_EXISTS: The resource already exists", errors.New("inner"), 1, ""},
		{"a known one goes through it first", "NOT_FOUND_RESOURCE: Resource not found", httpError(404), 1, ""},
		{"made for agents", "PERMISSION_DENIED: Permission denied: 'no'", fmt.Errorf("x: %w", Denied("no")), 0, ""},
		{"a panic of MapError", masked, errors.New("panic"), 1, "MapError panicked: secret; it was given: panic"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls = 0
			f := newFixture(t, Options{Mode: ModeSingle, MapError: mapError})
			f.fail = tt.err
			got := f.call("mcp_aql", `{"operation":"fail_note"}`)
			code, message, _ := strings.Cut(tt.want, ": ")
			if !strings.Contains(got, `"code":"`+code+`","message":"`+message+`"`) || calls != tt.calls {
				t.Errorf("after %d calls of MapError: %s", calls, got)
			}
			if !strings.Contains(f.log.String(), tt.log) {
				t.Errorf("log: %s", f.log)
			}
		})
	}
	f := newFixture(t, Options{Mode: ModeSingle, MapError: mapError})
	f.fail = errors.New("shipped")
	const details = `"details":{"resource_type":"order","resource_id":"17","state":"shipped"}`
	if got := f.call("mcp_aql", `{"operation":"fail_note"}`); !strings.Contains(got, details) {
		t.Errorf("the details of a failure that MapError made: %s", got)
	}
	if calls = 0; !strings.Contains(f.call("mcp_aql", `{"operation":"panic_note"}`), "INTERNAL_ERROR") || calls > 0 {
		t.Errorf("MapError was called for a panic")
	}
}
