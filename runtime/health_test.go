package aql

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// slowState never answers.
type slowState struct{ store.Store }

func (slowState) Get(ctx context.Context, _ string) (store.Entry, error) {
	<-ctx.Done()
	return store.Entry{}, ctx.Err()
}

// panickingState does what no store should.
type panickingState struct{ store.Store }

func (panickingState) Get(context.Context, string) (store.Entry, error) { panic("no state") }

// sink stores records, or fails to.
type sink struct{ fault error }

func (s sink) Write(context.Context, []audit.Record) error { return s.fault }
func (sink) Close() error                                  { return nil }

// Each thing that an adapter depends on is looked at, and nothing that it does not have.
func TestHealth(t *testing.T) {
	for name, tt := range map[string]struct {
		options Options
		want    map[string]bool // whether each check went well
	}{
		"state in memory":        {Options{}, map[string]bool{}},
		"a state":                {Options{State: new(store.Memory)}, map[string]bool{"store": true}},
		"a state that fails":     {Options{State: brokenState{}}, map[string]bool{"store": false}},
		"a state that panics":    {Options{State: panickingState{}}, map[string]bool{"store": false}},
		"a state without answer": {Options{State: slowState{}}, map[string]bool{"store": false}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, tt.options)
				got := make(map[string]bool)
				for _, check := range f.session.adapter.Health(t.Context()) {
					got[check.Name] = check.Err == nil
					if check.Took > healthTimeout {
						t.Errorf("%s took %v", check.Name, check.Took)
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

// An audit log that does not keep its records makes its adapter unfit.
func TestHealthOfAudit(t *testing.T) {
	for _, fault := range []error{nil, errSecret} {
		log := audit.New(audit.Options{Sinks: []audit.Sink{sink{fault}}, Wait: true})
		f := newFixture(t, Options{Audit: log})
		_ = log.Write(t.Context(), audit.Record{})
		checks := f.session.adapter.Health(t.Context())
		if len(checks) != 1 || checks[0].Name != "audit" || (checks[0].Err != nil) != (fault != nil) ||
			fault != nil && !errors.Is(checks[0].Err, audit.ErrNotKept) {
			t.Errorf("%v: %+v", fault, checks)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = log.Close(ctx)
		if err := log.Err(); !errors.Is(err, audit.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
}
