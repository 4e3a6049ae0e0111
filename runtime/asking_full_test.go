package aql_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
)

// month is a question that stays in the inbox for a month.
var month = aql.Approval{Message: "May I?", Lifetime: 30 * 24 * time.Hour}

// What was cancelled asks nobody any more, and leaves no decision open.
func TestCancelledExecutionsLeaveRoomInTheInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAsker(t, gen.Lifecycle{Durable: true}, month)
		defer func() { s.stop() }()
		for range 201 {
			id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
			synctest.Wait()
			s.call("ann", "cancel_execution", `{"execution_id":"`+id+`"}`)
		}
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		item := s.item()
		if item.Execution != id {
			t.Errorf("%+v", item)
		}
		s.call("ann", "cancel_execution", `{"execution_id":"`+id+`"}`)
		_, err := s.inbox.Vote(t.Context(), item.ID, approve.Vote{
			By: identity.Caller{Subject: "eve"}, Channel: "test", Approve: true, At: time.Now(),
		})
		if !errors.Is(err, approve.ErrUnknown) {
			t.Errorf("a vote about what was cancelled: %v", err)
		}
	})
}

// What ends in another way withdraws its questions, too. A decision that it has taken is remembered for a while.
func TestEndedExecutionsAskNobody(t *testing.T) {
	for name, tt := range map[string]struct {
		l    gen.Lifecycle
		ends func(s *asker)
	}{
		"its session ends": {gen.Lifecycle{}, func(s *asker) { s.session.Close() }},
		"its process ends": {gen.Lifecycle{}, func(s *asker) { s.stop() }},
		"it was denied":    {gen.Lifecycle{Durable: true}, func(s *asker) { s.vote(false, "") }},
		"it was approved":  {gen.Lifecycle{Durable: true}, func(s *asker) { s.vote(true, "") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newAsker(t, tt.l, month)
				s.call("ann", "build", `{"target":"x"}`)
				synctest.Wait()
				s.item()
				tt.ends(s)
				time.Sleep(2 * time.Hour) // the process looks for decisions once an hour
				s.stop()
				items, err := s.inbox.List(t.Context())
				if err != nil || len(items) != 0 {
					t.Errorf("%+v, %v", items, err)
				}
			})
		})
	}
}

// Where the inbox has no room, an execution waits for it, and asks then.
func TestAFullInboxIsWaitedFor(t *testing.T) {
	for kind, l := range map[string]gen.Lifecycle{"durable": {Durable: true}, "attached": {}} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newAsker(t, l, month)
				defer func() { s.stop() }()
				first := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				for range 199 {
					s.call("ann", "build", `{"target":"x"}`)
				}
				synctest.Wait()
				id := s.call("ann", "build", `{"target":"last"}`).Data.ExecutionID
				synctest.Wait()
				before := s.tries()
				time.Sleep(time.Hour)
				got := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`)
				if w := got.Data.WaitsFor; got.Data.Status != "paused" || w["from"] != "operator" || w["approval_id"] != nil ||
					w["message"] != "May I?" {
					t.Errorf("%+v", got.Data)
				}
				if tried := s.tries() - before; tried < 2 || tried > 10 {
					t.Errorf("it has tried %d times in an hour", tried)
				}
				s.call("ann", "cancel_execution", `{"execution_id":"`+first+`"}`)
				time.Sleep(time.Hour)
				items, err := s.inbox.List(t.Context())
				if err != nil || len(items) != 200 || items[199].Execution != id {
					t.Fatalf("%d items, %v", len(items), err)
				}
				_, err = s.inbox.Vote(t.Context(), items[199].ID, approve.Vote{
					By: identity.Caller{Subject: "eve"}, Channel: "test", Approve: true, Reason: "go", At: time.Now(),
				})
				if err != nil {
					t.Fatal(err)
				}
				if got := s.end("ann", id); got.Data.Status != "completed" || got.Data.Result.Parts[0] != "go" {
					t.Errorf("%+v", got.Data)
				}
			})
		})
	}
}

// What one anonymous connection asks takes no room of the others, neither by questions that wait, nor by many that it
// withdraws.
func TestAnonymousConnectionsDoNotCrowdOutQuestions(t *testing.T) {
	for name, tt := range map[string]struct {
		n       int
		cancels bool
	}{"that wait": {250, false}, "that are withdrawn": {2050, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newAsker(t, gen.Lifecycle{Durable: true}, month)
				defer func() { s.stop() }()
				call := func(session *aql.Session, operation, params string) string {
					reply := session.Call(t.Context(), s.adapter.Tool(operation),
						[]byte(`{"operation":"`+operation+`","params":`+params+`}`))
					_, id, _ := strings.Cut(string(reply.JSON), `"execution_id":"`)
					id, _, _ = strings.Cut(id, `"`)
					return id
				}
				flood, other := s.session, s.adapter.NewSession()
				for range tt.n {
					id := call(flood, "build", `{"target":"x"}`)
					synctest.Wait()
					if tt.cancels {
						call(flood, "cancel_execution", `{"execution_id":"`+id+`"}`)
					}
				}
				id := call(other, "build", `{"target":"x"}`)
				synctest.Wait()
				items, err := s.inbox.List(t.Context())
				if err != nil || !slices.ContainsFunc(items, func(i approve.Item) bool { return i.Execution == id }) {
					t.Errorf("none of %d items is of the other connection, %v", len(items), err)
				}
			})
		})
	}
}
