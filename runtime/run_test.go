package aql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// How the run of a handler ends. Which runs wait for each other is the subject of modes_test.go.
func TestRunner(t *testing.T) {
	boom := errors.New("boom")
	untilEnd := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, tt := range []struct {
		name       string
		runner     *runner
		timeout    time.Duration // of the operation
		handle     handlerFunc
		err        string
		ended      bool // the context had
		took, wait time.Duration
	}{
		{name: "it succeeds", runner: &runner{}, handle: func(context.Context) error { return nil }},
		{name: "it fails", runner: &runner{}, handle: func(context.Context) error { return boom }, err: "boom"},
		{name: "it panics", runner: &runner{}, handle: func(context.Context) error { panic("oh") },
			err: "handler panicked: oh"},
		{name: "it runs out of the adapter's time", runner: &runner{timeout: time.Second}, handle: untilEnd,
			err: "context deadline exceeded", ended: true, wait: time.Second},
		{name: "it runs out of its operation's time", runner: &runner{timeout: time.Hour}, timeout: time.Second,
			handle: untilEnd,
			err:    "context deadline exceeded", ended: true, wait: time.Second},
		{name: "a deadline of its own", runner: &runner{timeout: time.Hour}, err: "context deadline exceeded",
			handle: func(context.Context) error { return context.DeadlineExceeded }},
		{name: "its time is measured", runner: &runner{now: time.Now}, took: 3 * time.Second, wait: 3 * time.Second,
			handle: func(context.Context) error { time.Sleep(3 * time.Second); return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, w := time.Now(), wire.NewWriter(nil)
				out := tt.runner.run(t.Context(), run{operation: &gen.Operation{Timeout: tt.timeout}, handler: tt.handle}, w)
				got := ""
				if out.verdict.err != nil {
					got = out.verdict.err.Error()
				}
				if got != tt.err || out.ctxErr != nil != tt.ended || out.took != tt.took || time.Since(start) != tt.wait {
					t.Errorf("error %q, context %v, took %v after %v", got, out.ctxErr, out.took, time.Since(start))
				}
				var crash *panicError
				if errors.As(out.verdict.err, &crash) && !strings.Contains(string(crash.stack), "TestRunner") {
					t.Errorf("the stack does not show the handler:\n%s", crash.stack)
				}
				checkText(t, "written", "null", string(w.Bytes()))
			})
		})
	}
}
