package aql_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// buildOrBreak takes a minute, and fails where the target is broken.
func buildOrBreak(ctx context.Context, _ []any, request any, run *aql.Run) (any, error) {
	run.Progress(3, 8, "Building\u200b")
	if err := run.Sleep(ctx, "a while", time.Minute); err != nil {
		return nil, err
	}
	if request.(*buildRequest).Target == "broken" {
		return nil, aql.NotFound("part", "p\u200b")
	}
	return &built{}, nil
}

// A transport learns which execution a request has started or is about: of a request of its own, and not of a batch.
func TestWhatTransportsLearnOfExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop", Mode: aql.ModeSingle, Sanitize: aql.SanitizeEscape},
			longOperation("build", gen.Lifecycle{Keep: time.Hour}, buildOrBreak))
		defer s.stop()
		call := func(request string) aql.Reply {
			ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: "ann", Issuer: "test"})
			return s.session.Call(ctx, "mcp_aql", []byte(request))
		}
		about := func(operation, id string) *aql.Execution {
			return call(`{"operation":"` + operation + `","params":{"execution_id":"` + id + `"}}`).Execution
		}
		for target, want := range map[string]string{"a": "completed", "broken": "failed"} {
			began := time.Now()
			started := call(`{"operation":"build","params":{"target":"` + target + `"}}`).Execution
			if started == nil || !started.Started || !strings.HasPrefix(started.ID, "exec_") || started.State != "pending" ||
				!started.Created.Equal(began) || !started.Expires.IsZero() || started.PollAfter != time.Second {
				t.Fatalf("a start: %+v", started)
			}
			time.Sleep(30 * time.Second)
			running := about("get_execution", started.ID)
			if running == nil || running.Started || running.Message != `Building\u200b (3 of 8)` || running.State != "running" {
				t.Errorf("under way: %+v", running)
			}
			time.Sleep(time.Minute)
			ended := about("get_execution", started.ID)
			if ended == nil || ended.State != want || ended.PollAfter != 0 || !ended.Changed.After(ended.Created) ||
				ended.Expires.Sub(ended.Changed) != time.Hour {
				t.Fatalf("at its end: %+v", ended)
			}
			if want == "completed" {
				if ended.Failure != nil {
					t.Errorf("a failure: %s", ended.Failure.JSON)
				}
				continue
			}
			var failed executionOf
			if err := json.Unmarshal(ended.Failure.JSON, &failed); err != nil || failed.Success ||
				failed.Error.Code != "NOT_FOUND_RESOURCE" || strings.Contains(string(ended.Failure.JSON), "\u200b") {
				t.Errorf("the failure: %s, %v", ended.Failure.JSON, err)
			}
			if again := about("cancel_execution", started.ID); again != nil {
				t.Errorf("a request that fails: %+v", again)
			}
		}
		for _, request := range []string{
			`{"operations":[{"operation":"build","params":{"target":"b"}}]}`, `{"operation":"list_executions"}`,
			`{"operation":"build"}`,
		} {
			if reply := call(request); reply.Execution != nil {
				t.Errorf("%s: %+v", request, reply.Execution)
			}
		}
	})
}
