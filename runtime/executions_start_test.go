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
	"github.com/google/go-cmp/cmp"
)

// slowly takes ten seconds, and reports how far it is.
func slowly(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
	for i := range 5 {
		run.Progress(i+1, 5, "Building")
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
	return &built{}, nil
}

// send sends a request as it is.
func (s *shop) send(ctx context.Context, request string) executionOf {
	s.t.Helper()
	ctx = aql.WithCaller(ctx, aql.Caller{Subject: "ann", Issuer: "test"})
	reply := s.session.Call(ctx, s.adapter.Tool("build"), []byte(request))
	var answer executionOf
	if err := json.Unmarshal(reply.JSON, &answer); err != nil {
		s.t.Fatalf("%v: %s", err, reply.JSON)
	}
	return answer
}

// F58: a request that starts an execution may wait for what that comes to.
func TestStartWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		request string
		options aql.Options
		status  string
		took    time.Duration
	}{
		"it does not ask to":    {`"params":{"target":"x"}`, aql.Options{}, "pending", 0},
		"until the end":         {`"_wait":30000,"params":{"target":"x"}`, aql.Options{}, "completed", 10},
		"behind the parameters": {`"params":{"target":"x"},"_wait":30000`, aql.Options{}, "completed", 10},
		"among the parameters":  {`"params":{"target":"x","_wait":30000}`, aql.Options{}, "completed", 10},
		"beside parameters":     {`"_wait":30000,"target":"x"`, aql.Options{}, "completed", 10},
		"no longer than it says": {
			`"_wait":5000,"params":{"target":"x"}`, aql.Options{}, "running", 5,
		},
		"no longer than it may": {
			`"_wait":9000,"params":{"target":"x"}`, aql.Options{Timeout: 6 * time.Second}, "running", 5,
		},
		"not where calls wait": {
			`"_wait":9000,"params":{"target":"x"}`, aql.Options{Concurrency: aql.Serialized}, "pending", 0,
		},
		"not if it is large": {
			`"_wait":9000,"params":{"target":"` + strings.Repeat("x", 70<<10) + `"}`, aql.Options{}, "pending", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.options.Name = "shop"
				s := newShop(t, tt.options, longOperation("build", gen.Lifecycle{Durable: true}, slowly))
				defer s.stop()
				began := time.Now()
				got := s.send(t.Context(), `{"operation":"build",`+tt.request+`}`)
				if took := time.Since(began); got.Data.Status != tt.status || took != tt.took*time.Second {
					t.Errorf("after %v: %+v", took, got)
				}
			})
		})
	}
}

// A wait that cannot be is refused before anything starts.
func TestStartWaitsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true}, slowly))
		defer s.stop()
		for value, code := range map[string]string{
			`30001`: "VALIDATION_OUT_OF_RANGE", `-1`: "VALIDATION_OUT_OF_RANGE", `"5"`: "VALIDATION_INVALID_TYPE",
			`1.5`: "VALIDATION_INVALID_TYPE", `1e3`: "VALIDATION_INVALID_TYPE", `null`: "VALIDATION_INVALID_TYPE",
			`99999999999999999999`: "VALIDATION_INVALID_TYPE", `[1]`: "VALIDATION_INVALID_TYPE",
		} {
			got := s.send(t.Context(), `{"operation":"build","_wait":`+value+`,"params":{"target":"x"}}`)
			if got.Error.Code != code || got.Error.Details["param_name"] != "_wait" {
				t.Errorf("%s: %+v", value, got.Error)
			}
		}
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: "ann", Issuer: "test"})
		reply := string(s.session.Call(ctx, s.adapter.Tool("build"),
			[]byte(`{"operations":[{"operation":"build","_wait":1,"params":{"target":"x"}}]}`)).JSON)
		if !strings.Contains(reply, "has no place in a batch") {
			t.Error(reply)
		}
		if list := s.call("ann", "list_executions", `{}`); len(list.Data.Items) != 0 {
			t.Errorf("%+v", list)
		}
	})
}

// REQ-TL-17: a client that asks for progress of a call that waits is told the progress of the execution, and that it is
// done only if it is.
func TestStartReportsProgress(t *testing.T) {
	for wait, want := range map[string][]float64{
		"30000": {26, 42, 58, 74, 90, 100},
		"5000":  {26, 42, 58},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true}, slowly))
			defer s.stop()
			var got []float64
			ctx := aql.WithProgress(t.Context(), func(p aql.Progress) { got = append(got, p.Done) })
			s.send(ctx, `{"operation":"build","_wait":`+wait+`,"params":{"target":"x"}}`)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("waiting %s: %s", wait, diff)
			}
		})
	}
}

// A call that waits says so, and goes on saying so no longer than it does; a wait ends where the execution is paused.
func TestStartPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true},
			func(ctx context.Context, _ []any, request any, run *aql.Run) (any, error) {
				if _, err := slowly(ctx, nil, request, run); err != nil {
					return nil, err
				}
				_, err := run.Wait(ctx, "folder")
				return &built{}, err
			}))
		defer s.stop()
		paused, resumed := 0, 0
		ctx := aql.WithPause(t.Context(), func() func() { paused++; return func() { resumed++ } })
		got := s.send(ctx, `{"operation":"build","_wait":30000,"params":{"target":"x"}}`)
		if got.Data.Status != "paused" || got.Data.WaitsFor["name"] != "folder" || paused != 1 || resumed != 1 {
			t.Errorf("%d pauses, %d resumed: %+v", paused, resumed, got)
		}
	})
}

// More than 64 requests do not wait: they are answered with what is known.
func TestPlacesToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop", Executions: aql.Executions{Slots: 100}},
			longOperation("build", gen.Lifecycle{Durable: true}, slowly))
		defer s.stop()
		began := time.Now()
		took := make(chan time.Duration, 100)
		for range 70 {
			go func() {
				s.send(t.Context(), `{"operation":"build","_wait":30000,"params":{"target":"x"}}`)
				took <- time.Since(began)
			}()
		}
		at := make(map[time.Duration]int)
		for range 70 {
			at[<-took]++
		}
		if at[0] != 6 || at[10*time.Second] != 64 {
			t.Errorf("%v", at)
		}
	})
}
