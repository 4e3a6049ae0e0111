package aql_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// A request waits no longer than it may take, and one of a batch does not wait.
func TestWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop", Timeout: 10 * time.Second},
			longOperation("build", gen.Lifecycle{Durable: true},
				func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
					return &built{}, run.Sleep(ctx, "nap", 100*time.Hour)
				}))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		params := `{"execution_id":"` + id + `","wait_ms":30000}`
		began := time.Now()
		if got := s.call("ann", "get_execution", params); !got.Success || time.Since(began) != 9*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), got)
		}
		began = time.Now()
		one := `{"operation":"get_execution","params":` + params + `}`
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: "ann", Issuer: "test"})
		answer := string(s.session.Call(ctx, s.adapter.Tool("get_execution"),
			[]byte(`{"operations":[`+one+`,`+one+`]}`)).JSON)
		if took := time.Since(began); took != 0 || strings.Count(answer, `"status":"running"`) != 2 {
			t.Errorf("after %v: %s", took, answer)
		}
	})
}

// A step within a step has its turn, whichever context it is given.
func TestStepWithinStep(t *testing.T) {
	for name, concurrency := range map[string]aql.Concurrency{
		"parallel": "", "serialized": aql.Serialized, "read-concurrent": aql.ReadConcurrent,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(t, aql.Options{Name: "shop", Concurrency: concurrency},
					longOperation("build", gen.Lifecycle{Durable: true},
						func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
							part, err := aql.Step(ctx, run, "a", func(inner context.Context) (string, error) {
								b, err := aql.Step(inner, run, "b", func(context.Context) (string, error) { return "b", nil })
								if err != nil {
									return "", err
								}
								c, err := aql.Step(ctx, run, "c", func(context.Context) (string, error) { return "c", nil })
								return b + c, err
							})
							return &built{[]string{part}}, err
						}))
				defer s.stop()
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				time.Sleep(time.Minute)
				ended := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`)
				if ended.Data.Status != "completed" || ended.Data.Result.Parts[0] != "bc" {
					t.Errorf("%+v", ended)
				}
			})
		})
	}
}
