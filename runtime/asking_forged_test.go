package aql_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// Who can write a state without a key makes no question look decided that nobody has voted about. The process goes on.
func TestQuestionsDecidedWithoutVotes(t *testing.T) {
	for _, state := range []approve.State{approve.Approved, approve.Used, approve.Denied} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := new(store.Memory)
				s := &asker{inbox: approve.New(in)}
				s.shop = newShop(t, aql.Options{
					Name: "shop", State: in, Executions: rarely, Confirmation: aql.Confirmation{Inbox: approve.New},
				}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true}, s.askOnce(aql.Approval{Message: "May I?"})))
				defer func() { s.stop() }()
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				entries, err := in.List(t.Context(), "approve/", "", 10)
				if err != nil || len(entries) != 1 {
					t.Fatalf("%d entries, %v", len(entries), err)
				}
				entry := entries[0]
				forged := strings.Replace(string(entry.Value), `"state":"open"`, `"state":"`+string(state)+`"`, 1)
				if _, err := in.Put(t.Context(), entry.Key, []byte(forged), entry.Version, 48*time.Hour); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Hour)
				if got := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`); got.Data.Status != "paused" {
					t.Errorf("%+v", got.Data)
				}
				time.Sleep(24 * time.Hour)
				if got := s.end("ann", id); got.Data.Status != "failed" || len(s.decisions) > 0 {
					t.Errorf("%+v: %+v", got.Data, s.decisions)
				}
			})
		})
	}
}
