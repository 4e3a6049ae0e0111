package execution_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// An execution that is started again has the answer to what it has waited for, also where all workers were lost before
// they had made that the result of its step.
func TestStartedAgainWithAnAnswerThatNoAttemptHasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		failed := `1{"id":"exec_x","operation":"work","caller_key":"ann","state":"failed","attempt":6,"lost":6,` +
			`"finished":"2000-01-01T00:00:00Z","waiting":{"from":"wait","name":"what","until":"2000-02-01T00:00:00Z",` +
			`"answer":"InllcyI="}}`
		if _, err := in.Put(t.Context(), "exec//r/exec_x", []byte(failed), 0, 0); err != nil {
			t.Fatal(err)
		}
		e := newEngine(t, in, map[string]*execution.Operation{"work": {
			Durable: true, Retry: 1, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
				answer, err := run.Await(ctx, execution.FromCaller, "what",
					func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
						return []byte(`"asked again"`), execution.Waiting{}, nil
					})
				if err != nil {
					t.Error(err)
				}
				return answer, nil
			},
		}})
		defer work(t, e)()
		if _, err := e.Retry(t.Context(), ann, "exec_x"); err != nil {
			t.Fatal(err)
		}
		r := ended(t, e, "exec_x")
		if result, err := e.Result(t.Context(), r); string(result) != `"yes"` || r.Waiting != nil {
			t.Errorf("it has got the answer %s (%v), and waits for %+v", result, err, r.Waiting)
		}
	})
}
