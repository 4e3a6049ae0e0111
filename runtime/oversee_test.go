package aql_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
)

// F63: who looks after an adapter sees the executions of all callers, and ends them; what they were given and have come
// to is no part of that.
func TestOversight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(ctx context.Context, of []any, request any, run *aql.Run) (any, error) {
			if _, err := build(ctx, of, request, run); err != nil {
				return nil, err
			}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true}, build),
			longOperation("stand", gen.Lifecycle{Durable: true}, wait))
		defer s.stop()
		ctx := t.Context()
		var started []string
		for _, caller := range []string{"ann", "bob", "ann"} {
			started = append(started, s.call(caller, "build", `{"target":"a secret"}`).Data.ExecutionID)
			time.Sleep(time.Second)
		}
		stands := s.call("bob", "stand", `{"target":"a secret"}`).Data.ExecutionID
		started = append(started, stands)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		slices.Reverse(started)

		var listed, callers []string
		for q, pages := (execution.Query{First: 3}), 1; ; pages++ {
			if pages > len(started) {
				t.Fatalf("the pages do not end; they have %v", listed)
			}
			page, next, err := s.adapter.Executions(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range page {
				if of.Params != nil || of.Result != nil || of.Danger != gen.Reversible {
					t.Errorf("%+v", of.Record)
				}
				listed, callers = append(listed, of.ID), append(callers, of.Caller.Subject)
			}
			if q.After = next; next == "" {
				break
			}
		}
		if !slices.Equal(listed, started) || strings.Join(callers, " ") != "bob ann bob ann" {
			t.Errorf("listed %v of %v\nstarted %v", listed, callers, started)
		}
		for state, want := range map[execution.State]int{execution.Completed: 3, execution.Running: 1, execution.Failed: 0} {
			page, next, err := s.adapter.Executions(ctx, execution.Query{First: 10, State: state})
			if err != nil || len(page) != want || next != "" {
				t.Errorf("%s: %d, %q, %v", state, len(page), next, err)
			}
		}

		of, err := s.adapter.Execution(ctx, stands)
		if err != nil || of.Caller.Subject != "bob" || of.Steps != 2 || of.Progress == nil || of.Params != nil {
			t.Errorf("%+v, %+v, %v", of, of.Record, err)
		}
		if err := s.adapter.CancelExecution(ctx, stands, "Not on a Friday"); err != nil {
			t.Fatal(err)
		}
		if d := s.end("bob", stands).Data; d.Status != "cancelled" {
			t.Errorf("%+v", d)
		}
		if of, err = s.adapter.Execution(ctx, stands); err != nil || of.Reason != "Not on a Friday" {
			t.Errorf("%+v, %v", of.Record, err)
		}
		err = s.adapter.CancelExecution(ctx, stands, "")
		if _, ended := errors.AsType[*execution.StateError](err); !ended {
			t.Errorf("one that has ended: %v", err)
		}
		for _, id := range []string{"exec_1", "", strings.Repeat("x", 200)} {
			_, err := s.adapter.Execution(ctx, id)
			if cancelled := s.adapter.CancelExecution(ctx, id, ""); !errors.Is(err, execution.ErrNotFound) ||
				!errors.Is(cancelled, execution.ErrNotFound) {
				t.Errorf("%q: %v, %v", id, err, cancelled)
			}
		}
	})
}
