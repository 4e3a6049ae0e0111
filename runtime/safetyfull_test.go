package aql

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
)

// An agent whose step cannot wait, because too many requests do, is told so, and who makes room.
func TestStepsBeyondWhatWaits(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := &safetyLoop{executions: &executions{
		adapter: &Adapter{options: Options{Now: func() time.Time { return now }}},
	}}
	var failed *Error
	err := l.failure(&approve.TooManyError{Until: now.Add(90 * time.Second)}, "exec_1")
	if !errors.As(err, &failed) || failed.Code != CodeRateLimitExceeded {
		t.Fatal(err)
	}
	text := asJSON(failed)
	for _, want := range []string{
		"Too many requests already wait for people", "'operator deny'", `"retry_after_seconds":90`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}
