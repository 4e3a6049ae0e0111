package aql_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// asker is a shop whose builds ask, with the people who decide.
type asker struct {
	*shop
	inbox approve.Inbox

	mu        sync.Mutex // handlers of processes that were killed have it, too
	attempts  int
	decisions []aql.Decision
}

// tries returns how many attempts there were.
func (s *asker) tries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts
}

// rarely is for tests that let days go by.
var rarely = aql.Executions{Lease: 24 * time.Hour, Poll: time.Hour}

// newAsker returns a shop whose builds ask once.
func newAsker(t *testing.T, l gen.Lifecycle, a aql.Approval) *asker {
	t.Helper()
	state := new(store.Memory)
	s := &asker{inbox: approve.New(state)}
	l.Asks = true
	s.shop = newShop(t, aql.Options{
		Name: "shop", State: state, Executions: rarely, Confirmation: aql.Confirmation{Inbox: approve.New},
	}, longOperation("build", l, s.askOnce(a)))
	return s
}

// askOnce returns a handler that asks, and does what was decided.
func (s *asker) askOnce(a aql.Approval) aql.RunFunc {
	return func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
		s.mu.Lock()
		s.attempts++
		s.mu.Unlock()
		d, err := run.Ask(ctx, a)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.decisions = append(s.decisions, d)
		s.mu.Unlock()
		if !d.Approved {
			return nil, aql.Denied("no")
		}
		return &built{[]string{d.Reason}}, nil
	}
}

// item returns the only open item.
func (s *asker) item() approve.Item {
	s.t.Helper()
	items, err := s.inbox.List(s.t.Context())
	if err != nil || len(items) != 1 {
		s.t.Fatalf("%+v, %v", items, err)
	}
	return items[0]
}

func (s *asker) vote(approves bool, reason string) {
	s.t.Helper()
	_, err := s.inbox.Vote(s.t.Context(), s.item().ID, approve.Vote{
		By: identity.Caller{Subject: "eve"}, Channel: "test", Approve: approves, Reason: reason, At: time.Now(),
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// F58, T-105: an execution that asks is paused until an operator decides, goes on with the decision, and asks once.
func TestAsk(t *testing.T) {
	for name, tt := range map[string]struct {
		decide func(s *asker)
		want   aql.Decision // without the time
		status string
	}{
		"it is approved": {
			func(s *asker) { s.vote(true, "go") }, aql.Decision{Approved: true, Reason: "go", By: "eve"}, "completed",
		},
		"it is denied": {
			func(s *asker) { s.vote(false, "not today") }, aql.Decision{Reason: "not today", By: "eve"}, "failed",
		},
		"nobody decides": {func(*asker) { time.Sleep(24 * time.Hour) }, aql.Decision{Expired: true}, "failed"},
	} {
		for kind, l := range map[string]gen.Lifecycle{"durable": {Durable: true}, "attached": {}} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newAsker(t, l, aql.Approval{
						Message: "Switch it over?", Reasons: []string{"It cannot be undone"}, Danger: gen.Destructive,
					})
					defer func() { s.stop() }()
					id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
					synctest.Wait()
					paused := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`)
					waits := paused.Data.WaitsFor
					item := s.item()
					if paused.Data.Status != "paused" || waits["from"] != "operator" || waits["approval_id"] != item.ID ||
						waits["message"] != "Switch it over?" {
						t.Errorf("%+v", paused.Data)
					}
					if item.Kind != approve.Enquiry || item.Execution != id || item.Danger != gen.Destructive ||
						item.Message != "Switch it over?" || item.Params != `{"target":"x"}` || item.Operation != "build" ||
						item.Caller.Subject != "ann" || len(item.Reasons) != 1 {
						t.Errorf("%+v", item)
					}
					list := s.call("ann", "list_executions", `{"status":"paused"}`)
					if len(list.Data.Items) != 1 {
						t.Errorf("%+v", list)
					}
					time.Sleep(time.Hour)
					tt.decide(s)
					ended := s.end("ann", id)
					if ended.Data.Status != tt.status || ended.Data.WaitsFor != nil || s.attempts != 2 {
						t.Errorf("after %d attempts: %+v", s.attempts, ended.Data)
					}
					if len(s.decisions) != 1 {
						t.Fatalf("%+v", s.decisions)
					}
					got := s.decisions[0]
					if got.At = (time.Time{}); got != tt.want {
						t.Errorf("%+v, want %+v", got, tt.want)
					}
				})
			})
		}
	}
}

// N-7: no operation of an agent answers what an operator is asked, and nobody else's answer counts.
func TestAgentsDoNotApprove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAsker(t, gen.Lifecycle{Durable: true}, aql.Approval{Name: "q", Message: "May I?"})
		defer func() { s.stop() }()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		for _, name := range []string{"q", "May I?", "ask q", "wait q"} {
			got := s.call("ann", "answer_execution",
				`{"execution_id":"`+id+`","name":"`+name+`","value":{"approved":true}}`)
			if got.Error.Code != "CONFLICT_INVALID_STATE" ||
				!strings.HasSuffix(got.Error.Message, "does not wait for this answer, but for 'q' from an operator") ||
				!cmp.Equal(got.Error.Details["waits_for"], any(map[string]any{"name": "q", "from": "operator"})) {
				t.Errorf("%s: %+v", name, got.Error)
			}
		}
		if got := s.call("bob", "answer_execution", `{"execution_id":"`+id+`","name":"q","value":1}`); got.Error.Code !=
			"NOT_FOUND_RESOURCE" {
			t.Errorf("%+v", got.Error)
		}
		if item := s.item(); item.State != approve.Open || s.attempts != 1 {
			t.Errorf("%+v after %d attempts", item, s.attempts)
		}
		s.vote(true, "")
		if ended := s.end("ann", id); ended.Data.Status != "completed" {
			t.Errorf("%+v", ended)
		}
		if item := s.item(); item.State != approve.Used {
			t.Errorf("an approval that counted can be taken back: %+v", item)
		}
	})
}

// REQ-EL-07: an execution can be cancelled while it is paused, and no operator is asked then any more.
func TestCancelPaused(t *testing.T) {
	for kind, l := range map[string]gen.Lifecycle{"durable": {Durable: true}, "attached": {}} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newAsker(t, l, aql.Approval{Message: "May I?"})
				defer func() { s.stop() }()
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				if got := s.call("ann", "cancel_execution", `{"execution_id":"`+id+`"}`); got.Data.Status != "cancelled" {
					t.Errorf("%+v", got)
				}
				if items, err := s.inbox.List(t.Context()); len(items) != 0 || err != nil {
					t.Errorf("the operator is still asked: %+v, %v", items, err)
				}
				again := s.call("ann", "cancel_execution", `{"execution_id":"`+id+`"}`)
				if again.Data.Status != "" || again.Error.Code != "CONFLICT_INVALID_STATE" || s.attempts != 1 {
					t.Errorf("after %d attempts: %+v", s.attempts, again)
				}
			})
		})
	}
}

// What was decided while no process ran counts when one does.
func TestDecidedWhileNobodyRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAsker(t, gen.Lifecycle{Durable: true}, aql.Approval{Message: "May I?"})
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		s.stop()
		s.vote(true, "go")
		time.Sleep(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.adapter.Work(ctx) }()
		if got := s.end("ann", id); got.Data.Status != "completed" || got.Data.Result.Parts[0] != "go" {
			t.Errorf("%+v", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Without the tag, and without an inbox, a handler is told what is missing.
func TestAskNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, waited error
		handle := func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
			_, asked = run.Ask(ctx, aql.Approval{Message: "May I?"})
			_, waited = run.Wait(ctx, "what")
			return &built{}, nil
		}
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{}, handle))
		s.end("ann", s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID)
		s.stop()
		if asked == nil || waited == nil || !strings.Contains(asked.Error(), "need asks in the tag") {
			t.Errorf("%v, %v", asked, waited)
		}
		attempts := 0 // another one would fail in the same way
		s = newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Asks: true, Durable: true, Retry: 3},
			func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
				attempts++
				_, asked = run.Ask(ctx, aql.Approval{Message: "May I?"})
				_, empty := run.Ask(ctx, aql.Approval{})
				_, short := run.Ask(ctx, aql.Approval{Message: "m", Lifetime: time.Second})
				_, danger := run.Ask(ctx, aql.Approval{Message: "n", Danger: "great"})
				if empty == nil || short == nil || danger == nil {
					t.Errorf("%v, %v, %v", empty, short, danger)
				}
				return nil, asked
			}))
		defer s.stop()
		got := s.end("ann", s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID)
		if got.Data.Status != "failed" || asked == nil || !strings.Contains(asked.Error(), "has no inbox") ||
			errors.Is(asked, context.Canceled) || attempts != 1 {
			t.Errorf("%d attempts: %+v, %v", attempts, got, asked)
		}
		if d, err := (*aql.Run)(nil).Ask(t.Context(), aql.Approval{Message: "May I?"}); d.Approved || err != nil {
			t.Errorf("without a run: %+v, %v", d, err)
		}
	})
}

// choice is what a caller answers.
type choice struct {
	Folder string
	Depth  int
}

// waiting returns a shop whose builds wait for their caller.
func waiting(t *testing.T, l gen.Lifecycle) *shop {
	t.Helper()
	l.Asks = true
	return newShop(t, aql.Options{Name: "shop", Executions: rarely}, longOperation("build", l,
		func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
			c, err := aql.Wait[choice](ctx, run, "folder")
			if err != nil {
				return nil, err
			}
			name, err := aql.Wait[string](ctx, run, "name")
			if err != nil {
				return nil, err
			}
			return &built{[]string{c.Folder, name}}, nil
		}))
}

// F58: an execution waits for its caller, whose answer counts once, for what it waits for now.
func TestWait(t *testing.T) {
	for kind, l := range map[string]gen.Lifecycle{"durable": {Durable: true}, "attached": {}} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := waiting(t, l)
				defer s.stop()
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				answer := func(caller, name, value string) executionOf {
					synctest.Wait()
					got := s.call(caller, "answer_execution", `{"execution_id":"`+id+`","name":"`+name+`","value":`+value+`}`)
					synctest.Wait()
					return got
				}
				synctest.Wait()
				paused := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`)
				if w := paused.Data.WaitsFor; paused.Data.Status != "paused" || w["name"] != "folder" ||
					w["from"] != "caller" || w["type"] != "object" {
					t.Errorf("%+v", paused.Data)
				}
				for _, tt := range []struct{ caller, name, value, code string }{
					{"bob", "folder", `{}`, "NOT_FOUND_RESOURCE"},
					{"ann", "name", `"n"`, "CONFLICT_INVALID_STATE"},
					{"ann", "folder", `7`, "VALIDATION_INVALID_TYPE"},
					{"ann", "folder", `"` + strings.Repeat("x", 64<<10) + `"`, "VALIDATION_PAYLOAD_TOO_LARGE"},
				} {
					if got := answer(tt.caller, tt.name, tt.value); got.Error.Code != tt.code {
						t.Errorf("%+v: %+v", tt, got.Error)
					}
				}
				if got := answer("ann", "folder", `{"folder":"f"}`); got.Data.Status != "running" {
					t.Errorf("%+v", got)
				}
				time.Sleep(time.Minute)
				if got := answer("ann", "folder", `{"folder":"g"}`); got.Error.Code != "CONFLICT_INVALID_STATE" ||
					!strings.HasSuffix(got.Error.Message, "but for 'name' from its caller") ||
					!cmp.Equal(got.Error.Details["waits_for"], any(map[string]any{"name": "name", "from": "caller"})) ||
					got.Error.Details["allowed_from"] != nil { // it is in that state
					t.Errorf("%+v", got)
				}
				answer("ann", "name", `"n"`)
				ended := s.end("ann", id)
				if ended.Data.Status != "completed" || strings.Join(ended.Data.Result.Parts, " ") != "f n" {
					t.Errorf("%+v", ended)
				}
				if got := answer("ann", "name", `"n"`); got.Error.Code != "CONFLICT_INVALID_STATE" ||
					!cmp.Equal(got.Error.Details["allowed_from"], any([]any{"paused"})) {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// An execution whose caller never answers ends, and one whose answers never fit says why.
func TestWaitInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := waiting(t, gen.Lifecycle{Durable: true})
		defer s.stop()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		time.Sleep(31 * 24 * time.Hour)
		if ended := s.end("ann", id); ended.Data.Status != "" && ended.Data.Status != "failed" {
			t.Errorf("%+v", ended)
		}
		id = s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		for i := range 100 {
			got := s.call("ann", "answer_execution", `{"execution_id":"`+id+`","name":"folder","value":{"depth":"deep"}}`)
			if got.Data.Status != "running" {
				t.Fatalf("%+v after %d answers", got, i)
			}
			time.Sleep(time.Second)
		}
		ended := s.end("ann", id)
		if ended.Data.Status != "failed" || ended.Data.Error.Code != "VALIDATION_INVALID_TYPE" {
			t.Errorf("%+v", ended.Data.Error)
		}
	})
}

// With a state key neither answers nor what is waited for, and what operators are asked and say, can be read in the
// state, and all of it is found again.
func TestAskWithStateKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state, key := new(store.Memory), []byte(strings.Repeat("k", 32))
		s := newShop(t, aql.Options{
			Name: "shop", State: state, StateKey: key, Confirmation: aql.Confirmation{Inbox: approve.New},
		}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true},
			func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
				word, err := aql.Wait[string](ctx, run, "the quiet word")
				if err != nil {
					return nil, err
				}
				d, err := run.Ask(ctx, aql.Approval{Name: "q", Message: "May I build the lilac wing?"})
				return &built{[]string{word, d.Reason}}, err
			}))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"lilac wing"}`).Data.ExecutionID
		synctest.Wait()
		read := func(texts ...string) { // short ones have a space: an id, which is random, could have the word
			t.Helper()
			entries, err := state.List(t.Context(), "", "", 1000)
			if err != nil || len(entries) == 0 {
				t.Fatal(err)
			}
			for _, entry := range entries {
				for _, text := range texts {
					if strings.Contains(string(entry.Value), text) || strings.Contains(entry.Key, text) {
						t.Errorf("%s = %s", entry.Key, entry.Value)
					}
				}
			}
		}
		read("quiet word")
		s.call("ann", "answer_execution", `{"execution_id":"`+id+`","name":"the quiet word","value":"hunter2"}`)
		time.Sleep(time.Second)
		read("quiet word", "hunter2", "aHVudGVyM", "May I", "lilac wing")
		sealed, err := gate.SealedStore(state, key)
		if err != nil {
			t.Fatal(err)
		}
		people := approve.New(sealed)
		items, err := people.List(t.Context())
		if err != nil || len(items) != 1 {
			t.Fatalf("%+v, %v", items, err)
		}
		_, err = people.Vote(t.Context(), items[0].ID, approve.Vote{
			By: identity.Caller{Subject: "eve"}, Channel: "test", Approve: true, Reason: "fine by me", At: time.Now(),
		})
		if err != nil {
			t.Fatal(err)
		}
		ended := s.end("ann", id)
		if ended.Data.Status != "completed" || strings.Join(ended.Data.Result.Parts, " ") != "hunter2 fine by me" {
			t.Errorf("%+v", ended)
		}
		read("quiet word", "hunter2", "May I", "lilac wing", "fine by me")
	})
}

// A question of an execution is on record: when it was asked, and when the execution has taken the approval.
func TestQuestionsAreOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records kept
		state := new(store.Memory)
		log := audit.New(audit.Options{Sinks: []audit.Sink{&records}, Wait: true})
		defer func() { _ = log.Close(context.Background()) }()
		s := &asker{inbox: approve.New(state)}
		s.shop = newShop(t, aql.Options{
			Name: "shop", State: state, Confirmation: aql.Confirmation{Inbox: approve.New}, Audit: log,
		}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true},
			func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
				_, err := run.Ask(ctx, aql.Approval{Message: "May I?"})
				return &built{}, err
			}))
		defer func() { s.stop() }()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		s.vote(true, "")
		s.end("ann", id)
		var events []audit.Event
		for _, r := range records {
			if r.ApprovalID != "" {
				events = append(events, r.Event)
				if r.SessionID != id || r.Operation != "build" || r.Caller.Subject != "ann" {
					t.Errorf("%+v", r)
				}
			}
		}
		if len(events) != 2 || events[0] != audit.ApprovalRequested || events[1] != audit.ApprovalUsed {
			t.Errorf("%v", events)
		}
	})
}

// kept keeps records.
type kept []audit.Record

func (k *kept) Write(_ context.Context, records []audit.Record) error {
	*k = append(*k, records...)
	return nil
}

func (k *kept) Close() error { return nil }
