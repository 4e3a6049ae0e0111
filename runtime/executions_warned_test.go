package aql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// warned is an answer with its warnings.
type warned struct {
	Success bool
	Data    struct {
		ExecutionID string `json:"execution_id"`
		Status      string
	}
	Warnings []warning
}

type warning struct {
	Code, Message, Severity string
	Details                 map[string]any
}

func (s *shop) warned(request string) warned {
	s.t.Helper()
	var q struct{ Operation string }
	if err := json.Unmarshal([]byte(request), &q); err != nil {
		s.t.Fatal(err)
	}
	ctx := aql.WithCaller(s.t.Context(), aql.Caller{Subject: "ann", Issuer: "test"})
	var a warned
	reply := s.session.Call(ctx, s.adapter.Tool(q.Operation), []byte(request))
	if err := json.Unmarshal(reply.JSON, &a); err != nil || !a.Success {
		s.t.Fatalf("%v: %s", err, reply.JSON)
	}
	return a
}

// An execution that has ended has the warnings of the attempt that ended it, in each answer about it alone, and in the
// form of any other answer.
func TestWarningsOfExecutions(t *testing.T) {
	stale := aql.Warning{Code: "STALE_DATA_WARNING", Message: "The index is old", Severity: aql.SeverityLow}
	shown := func(details map[string]any) warning {
		return warning{"STALE_DATA_WARNING", "The index is old", "low", details}
	}
	odd := errors.New("odd")
	for name, tt := range map[string]struct {
		status string
		run    aql.RunFunc
		want   []warning
	}{
		"one that has completed": {"completed", func(ctx context.Context, _ []any, _ any, _ *aql.Run) (any, error) {
			aql.Warn(ctx, stale.WithDetail("minutes", 60).WithDetail("of", map[string]any{"index": "a"}))
			return &built{}, nil
		}, []warning{shown(map[string]any{"minutes": 60.0, "of": map[string]any{"index": "a"}})}},
		"one that has failed": {"failed", func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
			aql.Warn(ctx, stale.WithDetail("attempt", run.Attempt()))
			return nil, odd
		}, []warning{shown(map[string]any{"attempt": 2.0})}},
		"one that has completed at the second attempt": {"completed", func(
			ctx context.Context, _ []any, _ any, run *aql.Run,
		) (any, error) {
			if run.Attempt() == 1 {
				aql.Warn(ctx, stale)
				return nil, odd
			}
			return &built{}, nil
		}, nil},
		"equal ones are counted, and the most severe is first": {"completed", func(
			ctx context.Context, _ []any, _ any, _ *aql.Run,
		) (any, error) {
			aql.Warn(ctx, stale)
			aql.Warn(ctx, stale)
			aql.Warn(ctx, aql.Warning{Code: "OTHER_WARNING", Message: "Look", Severity: aql.SeverityHigh})
			return &built{}, nil
		}, []warning{{"OTHER_WARNING", "Look", "high", nil}, shown(map[string]any{"occurrence_count": 2.0})}},
		"what discloses something is withheld": {"completed", func(
			ctx context.Context, _ []any, _ any, _ *aql.Run,
		) (any, error) {
			aql.Warn(ctx, aql.Warning{Code: "OTHER_WARNING", Message: "open /etc/passwd: permission denied"})
			return &built{}, nil
		}, nil},
		"what is too large to be kept is left out": {"completed", func(
			ctx context.Context, _ []any, _ any, _ *aql.Run,
		) (any, error) {
			stale := stale
			aql.Warn(ctx, stale)
			stale.Severity = aql.SeverityHigh
			aql.Warn(ctx, stale.WithDetail("long", strings.Repeat("x ", 4<<10)))
			return &built{}, nil
		}, []warning{
			shown(nil), {"SUPPRESSED_WARNINGS", "1 more warnings were left out", "low", map[string]any{"count": 1.0}},
		}},
		"the only one is too large to be kept": {"completed", func(
			ctx context.Context, _ []any, _ any, _ *aql.Run,
		) (any, error) {
			aql.Warn(ctx, stale.WithDetail("long", strings.Repeat("x ", 4<<10)))
			return &built{}, nil
		}, []warning{
			{"SUPPRESSED_WARNINGS", "1 more warnings were left out", "low", map[string]any{"count": 1.0}},
		}},
	} {
		for _, key := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, with a state key: %t", name, key), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := aql.Options{Name: "shop", State: new(store.Memory)}
					if key {
						o.StateKey = []byte(strings.Repeat("k", 32))
					}
					s := newShop(t, o, longOperation("build", gen.Lifecycle{Durable: true, Retry: 1}, tt.run))
					defer s.stop()
					id := s.warned(`{"operation":"build","params":{"target":"x"}}`).Data.ExecutionID
					s.end("ann", id)
					for range 2 { // an answer may be lost
						got := s.warned(`{"operation":"get_execution","params":{"execution_id":"` + id + `"}}`)
						if got.Data.Status != tt.status {
							t.Errorf("it is %s, want %s", got.Data.Status, tt.status)
						}
						if diff := cmp.Diff(tt.want, got.Warnings); diff != "" {
							t.Errorf("(-want +got)\n%s", diff)
						}
					}
					if got := s.warned(`{"operation":"list_executions","params":{}}`); got.Warnings != nil {
						t.Errorf("a list has %+v", got.Warnings)
					}
				})
			})
		}
	}
}

// While an execution runs, or is to be attempted again, nothing is said of warnings: the attempt that ends it has its
// own.
func TestNoWarningsUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true, Retry: 1}, func(
			ctx context.Context, _ []any, _ any, run *aql.Run,
		) (any, error) {
			aql.Warn(ctx, aql.Warning{Code: "OTHER_WARNING", Message: "Look"})
			if run.Attempt() <= 2 {
				return nil, errors.New("odd")
			}
			<-leave
			return &built{}, nil
		}))
		defer s.stop()
		id := s.warned(`{"operation":"build","params":{"target":"x"}}`).Data.ExecutionID
		get := `{"operation":"get_execution","params":{"execution_id":"` + id + `"}}`
		expect := func(a warned, status string, warnings int) {
			t.Helper()
			if a.Data.Status != status || len(a.Warnings) != warnings {
				t.Errorf("it is %s with %+v, want %s with %d", a.Data.Status, a.Warnings, status, warnings)
			}
		}
		synctest.Wait()
		expect(s.warned(get), "retrying", 0)
		s.end("ann", id)
		expect(s.warned(get), "failed", 1)
		expect(s.warned(`{"operation":"retry_execution","params":{"execution_id":"`+id+`"}}`), "retrying", 0)
		time.Sleep(time.Minute)
		expect(s.warned(get), "running", 0)
		close(leave)
		synctest.Wait()
		expect(s.warned(get), "completed", 1)
		expect(s.warned(`{"operation":"build","params":{"target":"y"},"_wait":30000}`), "failed", 1)
	})
}
