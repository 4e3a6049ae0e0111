package aql

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/verify"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The end of a connection is told once, however often it is closed, and the sessions of callers without connections
// are not.
func TestHooksSeeTheEndsOfSessions(t *testing.T) {
	var told []observe.Session
	f := newFixture(t, Options{Observe: &observe.Hooks{
		Session: func(_ context.Context, s observe.Session) { told = append(told, s) },
	}})
	connection, caller := f.adapter.NewSession(), f.adapter.NewCallerSession()
	for range 2 {
		caller.Close()
		connection.Close()
	}
	want := []observe.Session{{Adapter: "notes", ID: connection.ID()}}
	if diff := cmp.Diff(want, told, cmpopts.IgnoreFields(observe.Session{}, "Took")); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if told[0].Took < 0 {
		t.Errorf("it took %s", told[0].Took)
	}
}

// A code that was looked at is wrong or right; where nothing was looked at, nobody knows.
func TestResultsOfVerifications(t *testing.T) {
	for want, err := range map[observe.VerificationResult]error{
		observe.Verified:   nil,
		observe.Wrong:      fmt.Errorf("verifying: %w", &verify.FailedError{}),
		observe.NotChecked: &verify.TooManyError{Until: time.Now()},
	} {
		if got := verified(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
	if got := verified(errors.New("the state has failed")); got != observe.NotChecked {
		t.Errorf("a state that fails: %s", got)
	}
}
