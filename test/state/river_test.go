package state

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/execution/river"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

// River hands out the executions of an adapter whose state one of its drivers has opened.
func TestRiverHandsOutExecutions(t *testing.T) {
	location := postgrestest.Start(t).Location()
	for _, driver := range river.Drivers() {
		t.Run(driver.Scheme, func(t *testing.T) {
			state, err := driver.Open(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer state.Close()
			adapter, err := aql.New(gen.NewRegistry([]gen.Handler{{
				Name: "build_thing", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
				Description: "Builds something.", Request: (*struct{})(nil),
				Execution: &gen.Execution{
					Lifecycle: gen.Lifecycle{Durable: true},
					Run:       aql.RunFunc(func(context.Context, []any, any, *aql.Run) (any, error) { return nil, nil }),
				},
			}}, nil), aql.Options{Name: driver.Scheme, State: state, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			working, stop := context.WithCancel(t.Context())
			worked := make(chan error, 1)
			go func() { worked <- adapter.Work(working) }()
			session := adapter.NewSession()
			call := func(request string) (answer struct {
				Data struct {
					ID     string `json:"execution_id"`
					Status string
				}
			}) {
				reply := session.Call(t.Context(), adapter.Tool("build_thing"), []byte(request))
				if err := json.Unmarshal(reply.JSON, &answer); err != nil || answer.Data.ID == "" {
					t.Fatalf("%s: %s", request, reply.JSON)
				}
				return answer
			}
			got := call(`{"operation":"build_thing"}`)
			for got.Data.Status != "completed" {
				if got.Data.Status == "failed" {
					t.Fatalf("%+v", got)
				}
				reply := session.Call(t.Context(), adapter.Tool("get_execution"), fmt.Appendf(nil,
					`{"operation":"get_execution","params":{"execution_id":%q,"wait_ms":1000}}`, got.Data.ID))
				if err := json.Unmarshal(reply.JSON, &got); err != nil || t.Context().Err() != nil {
					t.Fatalf("%s", reply.JSON)
				}
			}
			stop()
			if err := <-worked; err != nil {
				t.Error(err)
			}
			opened := state.(*river.Store)
			var jobs int
			err = opened.Pool().QueryRow(t.Context(), `select count(*) from `+opened.Schema()+
				`.river_job where queue = $1 and state = 'completed'`, "aql_"+driver.Scheme).Scan(&jobs)
			if err != nil || jobs != 1 {
				t.Errorf("River has done %d jobs: %v", jobs, err)
			}
		})
	}
}
