package aqltest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that records why it fails.
type recorder struct {
	testing.TB
	failures []string
	ended    bool
	cleanups []func()
}

// record runs a test that may fail, and returns how it went.
func record(t *testing.T, test func(tb testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, cleanup := range r.cleanups {
				cleanup()
			}
		}()
		test(r)
	}()
	<-done
	return r
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.TB.Context() }
func (r *recorder) Cleanup(f func())         { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.ended = true
	runtime.Goexit()
}

// wants holds what was recorded against parts of it, one for each failure.
func (r *recorder) wants(t *testing.T, parts ...string) {
	t.Helper()
	if len(r.failures) != len(parts) {
		t.Errorf("%d failures, want %d:\n%s", len(r.failures), len(parts), strings.Join(r.failures, "\n"))
		return
	}
	for i, part := range parts {
		if !strings.Contains(r.failures[i], part) {
			t.Errorf("failure is\n%s\nwant it to say\n%s", r.failures[i], part)
		}
	}
}
