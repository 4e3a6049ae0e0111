package execution_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// An execution is kept for as long as its operation says, also where a process ends it that does not have that.
func TestKeptAfterAnEndByAProcessWithoutTheOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		e := newEngine(t, in, map[string]*execution.Operation{"work": {Durable: true, Keep: 30 * 24 * time.Hour}})
		start := execution.Start{Operation: "work", CallerKey: ann, Once: "key"}
		r, err := e.Start(t.Context(), start)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newEngine(t, in, nil).Cancel(t.Context(), ann, r.ID, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(29 * 24 * time.Hour)
		if _, err := e.Get(t.Context(), ann, r.ID); err != nil {
			t.Error(err)
		}
		page, err := e.List(t.Context(), execution.Query{CallerKey: ann, First: 10})
		if err != nil || len(page.Records) != 1 {
			t.Errorf("%d are listed: %v", len(page.Records), err)
		}
		if again, err := e.Start(t.Context(), start); err != nil || again.ID != r.ID {
			t.Errorf("its key starts %+v: %v", again, err)
		}
	})
}

// A failed execution can be started again for as long as its operation says, also beside a process that does not have
// that and looks after what the start has begun.
func TestStartedAgainBesideAProcessWithoutTheOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		slow := &hooked{Store: in}
		e := newEngine(t, slow, map[string]*execution.Operation{"work": {
			Durable: true, Retry: 3, Keep: 30 * 24 * time.Hour,
			Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
				return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: "x", Final: true}
			},
		}})
		stop := work(t, e)
		synctest.Wait()
		r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		ended(t, e, r.ID)
		stop()
		time.Sleep(2 * 24 * time.Hour)
		defer work(t, newEngine(t, in, nil))()
		slow.after = func(op, key string, _ []byte) error {
			if op == "put" && strings.Contains(key, "/w/r") {
				slow.after = nil
				time.Sleep(time.Minute)
			}
			return nil
		}
		if _, err := e.Retry(t.Context(), ann, r.ID); err != nil {
			t.Error(err)
		}
	})
}
