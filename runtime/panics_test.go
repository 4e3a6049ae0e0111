package aql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// The errors of these tests have methods that panic, or wrap errors without end.
type (
	badText   struct{}
	badIs     struct{}
	badAs     struct{}
	badUnwrap struct{}
	badGRPC   struct{}
	forever   struct{ error }
	loops     struct{ inner []error }
	endless   struct{}
	badValue  struct{ string }
	noText    struct{ at *string }
	several   []error
)

func (badText) Error() string                 { panic("oh") }
func (badIs) Error() string                   { return "bad" }
func (badIs) Is(error) bool                   { panic("oh") }
func (badAs) Error() string                   { return "bad" }
func (badAs) As(any) bool                     { panic("oh") }
func (badUnwrap) Error() string               { return "bad" }
func (badUnwrap) Unwrap() error               { panic("oh") }
func (badGRPC) Error() string                 { return "bad" }
func (badGRPC) GRPCStatus() error             { panic("oh") }
func (l *forever) Error() string              { return l.error.Error() }
func (l *forever) Unwrap() error              { return l.error }
func (l *loops) Error() string                { return errors.Join(l.inner...).Error() }
func (l *loops) Unwrap() []error              { return l.inner }
func (endless) Error() string                 { return "endless" }
func (endless) Unwrap() error                 { return endless{} }
func (badValue) String() string               { panic("oh") }
func (badValue) MarshalJSON() ([]byte, error) { panic("oh") }
func (badValue) MarshalText() ([]byte, error) { panic("oh") }
func (s several) Error() string               { return s[0].Error() }
func (n *noText) Error() string               { return *n.at }

// C5, REQ-VO-04, REQ-ER-08: nothing that a handler returns or panics with panics through. What is not made for agents
// is in the log, once, and the adapter goes on.
func TestNothingThatAHandlerReturnsPanicsThrough(t *testing.T) {
	cycle, cycles := &forever{}, &loops{}
	cycle.error, cycles.inner = cycle, []error{errors.New("one"), cycles}
	const unexpectedFailure = "INTERNAL_ERROR: Internal error: 'unexpected failure'"
	for _, tt := range []struct {
		name string
		err  error
		want string
		log  string
	}{
		{"a nil *Error", (*Error)(nil), unexpectedFailure, "return nil itself"},
		{"a wrapped nil *Error", fmt.Errorf("saving: %w", (*Error)(nil)), unexpectedFailure, "return nil itself"},
		{"a nil pointer of another type", (*noText)(nil), unexpectedFailure, "nil pointer"},
		{"a text that panics", badText{}, unexpectedFailure, "oh"},
		{"Is that panics", badIs{}, unexpectedFailure, "oh"},
		{"As that panics", badAs{}, unexpectedFailure, "oh"},
		{"Unwrap that panics", badUnwrap{}, unexpectedFailure, "oh"},
		{"a status that panics", badGRPC{}, unexpectedFailure, "bad"},
		{"an error that wraps itself", cycle, unexpectedFailure, "wraps more than 1000 errors"},
		{"a list of errors that has itself", cycles, unexpectedFailure, "wraps more than 1000 errors"},
		{"errors without end", endless{}, unexpectedFailure, "wraps more than 1000 errors"},
		{"a failure whose cause has a text that panics", Denied("no").WithCause(badText{}),
			"PERMISSION_DENIED: Permission denied: 'no'", "oh"},
		{"a failure whose cause wraps itself", Denied("no").WithCause(cycle), unexpectedFailure,
			"wraps more than 1000 errors"},
		{"a failure whose cause cannot be compared", Denied("no").WithCause(several{errors.New("one")}),
			"PERMISSION_DENIED: Permission denied: 'no'", "one"},
		{"a failure whose detail panics", Denied("no").WithDetail("at", badValue{}),
			"PERMISSION_DENIED: Permission denied: 'no'", "detail 'at' withheld"},
		{"a failure that wraps what panics", fmt.Errorf("%w %w", NotFound("note", "7"), badIs{}),
			"NOT_FOUND_RESOURCE: Resource 'note' not found: '7'", ""},
	} {
		for _, batch := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in a batch: %v", tt.name, batch), func(t *testing.T) {
				f := newFixture(t, Options{})
				f.fail = tt.err
				got := f.call("mcp_aql_execute", wrapped(`{"operation":"fail_note"}`, batch))
				code, message, _ := strings.Cut(tt.want, ": ")
				if !strings.Contains(got, `"code":"`+code+`","message":"`+message+`"`) ||
					batch && !strings.Contains(got, `{"index":1,"operation":"nothing","result":{"success":true,"data":null}}`) {
					t.Error(got)
				}
				if !strings.Contains(f.log.String(), tt.log) || tt.log != "" && strings.Count(f.log.String(), "level=") != 1 {
					t.Errorf("log:\n%s", f.log)
				}
				got = f.call("mcp_aql_read", `{"operation":"get_note","params":{"note_id":"7"}}`)
				if !strings.Contains(got, `"7"`) {
					t.Errorf("the next call: %s", got)
				}
			})
		}
	}
}

// wrapped is a request, or a batch of it and another one.
func wrapped(request string, batch bool) string {
	if !batch {
		return request
	}
	return `{"operations":[` + request + `,{"operation":"nothing"}]}`
}

// C5: the same holds for what a handler panics with, what it warns of, and what methods of its result do.
func TestNothingThatAHandlerDoesPanicsThrough(t *testing.T) {
	const failed = `{"success":false,"error":{"code":"INTERNAL_ERROR"`
	for _, tt := range []struct {
		name   string
		result any // to find the type
		run    func(ctx context.Context) (any, error)
		want   string
		log    string
	}{
		{"panic(nil)", nil, func(context.Context) (any, error) { panic(error(nil)) }, failed, "nil"},
		{"a panic with a value whose methods panic", nil,
			func(context.Context) (any, error) { panic(badValue{}) }, failed, "handler panicked"},
		{"a panic with an error whose methods panic", nil,
			func(context.Context) (any, error) { panic(badText{}) }, failed, "handler panicked"},
		{"a panic with an exit of another kind", nil,
			func(context.Context) (any, error) { panic(fs.ErrExist) }, failed, "handler panicked"},
		{"a warning whose detail panics is withheld", nil, func(ctx context.Context) (any, error) {
			Warn(ctx, Warning{Code: "STALE_WARNING", Message: "Stale"}.WithDetail("at", badValue{}))
			return "kept", nil
		}, `{"success":true,"data":"kept"}`, "warning withheld"},
		{"MarshalJSON", (*badValue)(nil), func(context.Context) (any, error) { return badValue{}, nil }, failed, "oh"},
		{"MarshalJSON within any", (*map[string]any)(nil), func(context.Context) (any, error) {
			return map[string]any{"at": []any{badValue{}}}, nil
		}, failed, "oh"},
		{"MarshalText of a name", (*map[string]any)(nil), func(context.Context) (any, error) {
			return map[string]any{"at": map[badValue]int{{"a"}: 1}}, nil
		}, failed, "oh"},
		{"a result of another type", nil, func(context.Context) (any, error) { return 7, nil }, failed, "instead of string"},
		{"no result", nil, func(context.Context) (any, error) { return nil, nil }, `{"success":true,"data":null}`, ""},
	} {
		for _, batch := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in a batch: %v", tt.name, batch), func(t *testing.T) {
				o := noteOperation("run_note", gen.Execute, gen.Reversible, nil)
				o.Call = func(ctx context.Context, _ []any, _ any) (any, error) { return tt.run(ctx) }
				types := noteTypes
				if tt.result != nil {
					o.Result, o.Returns = tt.result, "Other"
					kind := gen.WireType{Name: "Other", Kind: gen.KindScalar}
					if _, ok := tt.result.(*map[string]any); ok {
						kind.Kind, kind.Items = gen.KindObject, &gen.Field{Type: "any"}
					}
					types = append([]gen.WireType{kind}, noteTypes...)
				}
				nothing := noteOperation("nothing", gen.Execute, gen.Reversible,
					func(context.Context, *noteRequest) (string, error) { return "", nil })
				nothing.Result = nil
				var log bytes.Buffer
				adapter, err := New(gen.NewRegistry([]gen.Handler{o, nothing}, types), Options{
					Mode: ModeSingle, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				})
				if err != nil {
					t.Fatal(err)
				}
				got := string(adapter.NewSession().Call(context.Background(), "mcp_aql",
					[]byte(wrapped(`{"operation":"run_note"}`, batch))).JSON)
				if !strings.Contains(got, tt.want) ||
					batch && !strings.Contains(got, `"operation":"nothing","result":{"success":true,"data":null}`) {
					t.Error(got)
				}
				if !strings.Contains(log.String(), tt.log) {
					t.Errorf("log:\n%s", &log)
				}
			})
		}
	}
}

// panicking is a handler of log records that panics, and counts the records.
type panicking struct {
	slog.Handler
	records *int
}

func (p panicking) Handle(context.Context, slog.Record) error {
	*p.records++
	panic("log")
}
func (p panicking) WithAttrs([]slog.Attr) slog.Handler { return p }
func (p panicking) WithGroup(string) slog.Handler      { return p }

// C5: a handler of log records that panics takes nobody's answer.
func TestALogThatPanics(t *testing.T) {
	records := 0
	o := noteOperation("fail_note", gen.Execute, gen.Reversible,
		func(context.Context, *noteRequest) (string, error) { return "", errSecret })
	adapter, err := New(gen.NewRegistry([]gen.Handler{o}, noteTypes), Options{
		Mode: ModeSingle, Logger: slog.New(panicking{slog.NewTextHandler(io.Discard, nil), &records}),
	})
	if err != nil {
		t.Fatal(err)
	}
	adapter.Logger().With("a", 1).WithGroup("g").Error("one")
	got := string(adapter.NewSession().Call(t.Context(), "mcp_aql", []byte(`{"operation":"fail_note"}`)).JSON)
	if !strings.Contains(got, "unexpected failure") || records == 0 {
		t.Errorf("%d records, %s", records, got)
	}
}
