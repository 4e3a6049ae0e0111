package aql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/google/go-cmp/cmp"
)

type tenantKey struct{}

// Interceptors run around the call that starts an execution, which they can tell from others, and around each attempt:
// what they put into the context reaches the handler. None of it is a call more, and requests about executions are
// built in.
func TestInterceptedAttempts(t *testing.T) {
	var seen []string
	id := ""
	note := func(format string, values ...any) { seen = append(seen, fmt.Sprintf(format, values...)) }
	tenant := func(ctx context.Context, call aql.Invocation, next aql.Next) (any, error) {
		what := "start"
		if call.Attempt > 0 {
			what = fmt.Sprintf("attempt %d", call.Attempt)
			id = call.Execution
		}
		note("%s of %s (durable: %t) by %s for %s", what, call.Operation.Name, call.Operation.Lifecycle.Durable,
			call.Caller.Subject, call.Request.(*buildRequest).Target)
		result, err := next(context.WithValue(ctx, tenantKey{}, "of "+call.Caller.Subject))
		if result, ok := result.(*built); ok {
			note("%s: %v", what, result.Parts)
		}
		if errors.Is(err, execution.ErrPaused) {
			note("%s: it goes on later", what)
		} else if err != nil {
			note("%s: %v", what, err)
		}
		return result, err
	}
	synctest.Test(t, func(t *testing.T) {
		failing := true
		s := newShop(t, aql.Options{
			Name: "shop", Intercept: []aql.Interceptor{tenant},
			Quota: quota.Options{Limits: []quota.Limit{{Operation: "build", Limit: 2, Window: quota.Hour}}},
		}, longOperation("build", gen.Lifecycle{Durable: true, Retry: 1},
			func(ctx context.Context, _ []any, request any, run *aql.Run) (any, error) {
				if failing {
					failing = false
					return nil, errors.New("not today")
				}
				if err := run.Sleep(ctx, "nap", time.Minute); err != nil {
					return nil, err
				}
				part, err := aql.Step(ctx, run, "part", func(ctx context.Context) (string, error) {
					return request.(*buildRequest).Target + " " + ctx.Value(tenantKey{}).(string), nil
				})
				return &built{[]string{part}}, err
			}))
		defer s.stop()
		ended := s.end("ann", s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID)
		if ended.Data.Status != "completed" || ended.Data.Result.Parts[0] != "x of ann" || ended.Data.ExecutionID != id {
			t.Errorf("%+v", ended)
		}
		want := []string{
			"start of build (durable: true) by ann for x",
			"attempt 1 of build (durable: true) by ann for x", "attempt 1: not today",
			"attempt 2 of build (durable: true) by ann for x", "attempt 2: it goes on later",
			"attempt 3 of build (durable: true) by ann for x", "attempt 3: [x of ann]",
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("seen (-want +got):\n%s", diff)
		}
		for i, success := range []bool{true, false} { // of two calls an hour, that was one
			if again := s.call("ann", "build", `{"target":"x"}`); again.Success != success {
				t.Errorf("call %d: %+v", i+2, again)
			}
		}
	})
}

// An interceptor in place of the handler ends an attempt as the handler would, and runs it once.
func TestInterceptorsInPlaceOfAttempts(t *testing.T) {
	for name, test := range map[string]struct {
		intercept aql.Interceptor
		status    string
		parts     string // of the result
		message   string
		ran       int
	}{
		"its error is the handler's": {
			func(context.Context, aql.Invocation, aql.Next) (any, error) { return nil, aql.NotFound("tenant", "x") },
			"failed", "", "Resource 'tenant' not found: 'x'", 0,
		},
		"its result is the handler's": {
			func(context.Context, aql.Invocation, aql.Next) (any, error) { return &built{[]string{"own"}}, nil },
			"completed", "own", "", 0,
		},
		"a result of another type is none": {
			func(context.Context, aql.Invocation, aql.Next) (any, error) { return "own", nil },
			"failed", "", "Internal error: 'unexpected failure'", 0,
		},
		"its panic is the handler's": {
			func(context.Context, aql.Invocation, aql.Next) (any, error) { panic("no") },
			"failed", "", "Internal error: 'unexpected failure'", 0,
		},
		"it runs the handler once": {
			func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
				if _, err := next(ctx); err != nil {
					return nil, err
				}
				return next(ctx)
			},
			"failed", "", "Internal error: 'unexpected failure'", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran := 0
				s := newShop(t, aql.Options{Name: "shop", Intercept: []aql.Interceptor{
					func(ctx context.Context, call aql.Invocation, next aql.Next) (any, error) {
						if call.Attempt == 0 {
							return next(ctx)
						}
						return test.intercept(ctx, call, next)
					},
				}}, longOperation("build", gen.Lifecycle{Durable: true},
					func(context.Context, []any, any, *aql.Run) (any, error) {
						ran++
						return &built{[]string{"made"}}, nil
					}))
				defer s.stop()
				ended := s.end("ann", s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID)
				parts, message := "", ""
				if ended.Data.Result != nil {
					parts = strings.Join(ended.Data.Result.Parts, " ")
				}
				if ended.Data.Error != nil {
					message = ended.Data.Error.Message
				}
				if ended.Data.Status != test.status || parts != test.parts || message != test.message || ran != test.ran {
					t.Errorf("%s %q %q after %d runs; want %s %q %q after %d", ended.Data.Status, parts, message, ran,
						test.status, test.parts, test.message, test.ran)
				}
			})
		})
	}
}

// An interceptor refuses a start as it does a call, and nothing is started.
func TestInterceptedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop", Intercept: []aql.Interceptor{
			func(_ context.Context, _ aql.Invocation, _ aql.Next) (any, error) { return nil, aql.Denied("not you") },
		}}, longOperation("build", gen.Lifecycle{Durable: true}, build))
		defer s.stop()
		if refused := s.call("ann", "build", `{"target":"x"}`); refused.Error.Code != "PERMISSION_DENIED" {
			t.Errorf("%+v", refused)
		}
		if page := s.call("ann", "list_executions", `{}`); !page.Success || len(page.Data.Items) != 0 {
			t.Errorf("%+v", page)
		}
	})
}
