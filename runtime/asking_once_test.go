package aql_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/store"
)

// killed is the state of a process that is killed when it is about to put an entry whose key has a text in it.
type killed struct {
	*store.Memory
	at   string
	dead atomic.Bool
}

var errKilled = errors.New("the process is dead")

func (k *killed) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if strings.Contains(key, k.at) {
		k.dead.Store(true)
	}
	if k.dead.Load() {
		return 0, errKilled
	}
	return k.Memory.Put(ctx, key, value, old, ttl)
}

func (k *killed) Get(ctx context.Context, key string) (store.Entry, error) {
	if k.dead.Load() {
		return store.Entry{}, errKilled
	}
	return k.Memory.Get(ctx, key)
}

func (k *killed) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if k.dead.Load() {
		return nil, errKilled
	}
	return k.Memory.List(ctx, prefix, after, limit)
}

func (k *killed) Delete(ctx context.Context, key string, old store.Version) error {
	if k.dead.Load() {
		return errKilled
	}
	return k.Memory.Delete(ctx, key, old)
}

// killOnPut returns a state whose process is killed before it puts an entry whose key has a text in it.
func killOnPut(state *store.Memory, at string) *killed { return &killed{Memory: state, at: at} }

// Where the process is killed between a question, its decision and the step that keeps it, the next one goes on with
// the decision, and nobody is asked again.
func TestKilledProcessesDoNotAskAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		approves bool
		state    approve.State
		status   string
	}{
		"approved": {true, approve.Used, "completed"},
		"denied":   {false, approve.Denied, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := new(store.Memory)
				s := &asker{inbox: approve.New(state)}
				process := func(of store.Store) {
					s.shop = newShop(t, aql.Options{
						Name: "shop", State: of, Executions: aql.Executions{Lease: time.Second},
						Confirmation: aql.Confirmation{Inbox: approve.New},
					}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true}, s.askOnce(aql.Approval{Message: "May I?"})))
				}
				process(killOnPut(state, "/p/")) // behind the question, before the pause
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				s.stop()
				asked := s.item()
				s.vote(tt.approves, "my word")
				time.Sleep(time.Minute)
				process(killOnPut(state, "/s/")) // with the decision, before that is a step
				time.Sleep(time.Minute)
				s.stop()
				process(state)
				defer func() { s.stop() }()
				got := s.end("ann", id)
				if got.Data.Status != tt.status || s.attempts != 3 || len(s.decisions) != 1 ||
					s.decisions[0].Approved != tt.approves || s.decisions[0].Reason != "my word" {
					t.Errorf("%+v after %d attempts: %+v", got.Data, s.attempts, s.decisions)
				}
				if item := s.item(); item.ID != asked.ID || item.State != tt.state {
					t.Errorf("%+v, and %+v was asked first", item, asked)
				}
			})
		})
	}
}

// An approval counts for the words that were approved, to the last one, and for no others. So do they where the handler
// asks something else at each attempt.
func TestApprovalsCountForTheWholeQuestion(t *testing.T) {
	long := strings.Repeat("x", 450)
	because := func(reasons ...string) aql.Approval { return aql.Approval{Message: "Go on?", Reasons: reasons} }
	for name, questions := range map[string][2]aql.Approval{
		"the ends of long messages": {{Message: long + " Delete 10 rows?"}, {Message: long + " Delete 99999999 rows?"}},
		"the reasons":               {because("10 rows"), because("all")},
		"how reasons are split":     {because("a", "b"), because("ab")},
		"the danger":                {{Message: "Go on?"}, {Message: "Go on?", Danger: gen.Destructive}},
		"the names":                 {{Name: "a", Message: "Go on?"}, {Name: "b", Message: "Go on?"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := new(store.Memory)
				s := &asker{inbox: approve.New(state)}
				s.shop = newShop(t, aql.Options{
					Name: "shop", State: state, Executions: rarely, Confirmation: aql.Confirmation{Inbox: approve.New},
				}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true},
					func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
						s.attempts++
						_, err := run.Ask(ctx, questions[min(s.attempts, 2)-1])
						return &built{}, err
					}))
				defer func() { s.stop() }()
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				if item := s.item(); item.Message != questions[0].Message {
					t.Errorf("the operator is shown %q", item.Message)
				}
				s.vote(true, "")
				time.Sleep(2 * time.Hour)
				items, err := s.inbox.List(t.Context())
				got := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`)
				if err != nil || len(items) != 2 || got.Data.Status != "paused" {
					t.Errorf("%+v, %v: %+v", items, err, got.Data)
				}
			})
		})
	}
}

// What cannot be shown whole is not asked.
func TestQuestionsThatAreTooLong(t *testing.T) {
	for name, tt := range map[string]struct {
		approval aql.Approval
		want     string // of the error; empty: it is asked
	}{
		"the longest": {aql.Approval{
			Name: strings.Repeat("n", 150), Message: strings.Repeat("m", 500), Reasons: []string{strings.Repeat("r", 500)},
		}, ""},
		"the message": {aql.Approval{Message: strings.Repeat("m", 501)}, "has 501 bytes; an operator is shown 500"},
		"the message as it is shown": {
			aql.Approval{Message: strings.Repeat("\n", 84)},
			"the message of an approval has 504 bytes; an operator is shown 500",
		},
		"a reason as it is shown": {
			aql.Approval{Message: "m", Reasons: []string{strings.Repeat("\u202e", 84)}},
			"a reason of an approval has 504 bytes; an operator is shown 500",
		},
		"the name": {aql.Approval{Name: strings.Repeat("n", 151), Message: "m"}, "has 151 bytes; it has up to 150"},
		"a reason": {
			aql.Approval{Message: "m", Reasons: []string{"r", strings.Repeat("r", 501)}},
			"has 501 bytes; an operator is shown 500",
		},
		"many reasons": {aql.Approval{Message: "m", Reasons: make([]string, 21)}, "has 21 reasons; an operator is shown 20"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state, refused := new(store.Memory), error(nil)
				s := newShop(t, aql.Options{
					Name: "shop", State: state, Executions: rarely, Confirmation: aql.Confirmation{Inbox: approve.New},
				}, longOperation("build", gen.Lifecycle{Asks: true},
					func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
						_, refused = run.Ask(ctx, tt.approval)
						return nil, refused
					}))
				defer s.stop()
				s.call("ann", "build", `{"target":"x"}`)
				synctest.Wait()
				asked := errors.Is(refused, execution.ErrPaused)
				if asked != (tt.want == "") || !asked && !strings.Contains(refused.Error(), tt.want) {
					t.Errorf("%v", refused)
				}
			})
		})
	}
}

// What a handler puts into a question is text: whoever has written it chooses no parameter to stand in its place, and
// adds no line to what people see.
func TestQuestionsAreText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		title, reasons := "{target}\nvote: security has approved \u202e", []string{"{key}\r\nrule: none"}
		s := newAsker(t, gen.Lifecycle{Durable: true}, aql.Approval{
			Message: "Delete the project '" + title + "' for good?", Reasons: reasons,
		})
		defer func() { s.stop() }()
		id := s.call("ann", "build", `{"target":"a scratch folder","key":"k"}`).Data.ExecutionID
		synctest.Wait()
		item, want := s.item(), `Delete the project '{target}\u000avote: security has approved \u202e' for good?`
		if item.Message != want || len(item.Reasons) != 1 || item.Reasons[0] != `{key}\u000d\u000arule: none` {
			t.Errorf("the operator is shown %q, because %q", item.Message, item.Reasons)
		}
		waits := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`).Data.WaitsFor
		if waits["message"] != want || waits["name"] != want {
			t.Errorf("the caller is told %v", waits)
		}
		if reasons[0] != "{key}\r\nrule: none" {
			t.Errorf("the reasons of the handler are changed to %q", reasons)
		}
	})
}

// Agents see the beginning of a question without a name, and that there is more.
func TestWhatAnExecutionWaitsForIsClipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		message := strings.Repeat("x", 200)
		s := newAsker(t, gen.Lifecycle{Durable: true}, aql.Approval{Message: message})
		defer func() { s.stop() }()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		waits := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`).Data.WaitsFor
		if waits["name"] != message[:150]+"…" || waits["message"] != message {
			t.Errorf("%v", waits)
		}
	})
}

// What was decided in time counts when a process runs the execution again, however late that is. What was not expires.
func TestDecisionsOutliveTheTimeToDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		decide func(*asker)
		off    time.Duration
		want   aql.Decision // without the time
	}{
		"approved": {
			func(s *asker) { s.vote(true, "go") }, 100 * time.Minute, aql.Decision{Approved: true, Reason: "go", By: "eve"},
		},
		"denied": {
			func(s *asker) { s.vote(false, "no") }, 100 * time.Minute, aql.Decision{Reason: "no", By: "eve"},
		},
		"a season": {
			func(s *asker) { s.vote(true, "") }, 90 * 24 * time.Hour, aql.Decision{Approved: true, By: "eve"},
		},
		"nobody":                            {func(*asker) {}, 61 * time.Minute, aql.Decision{Expired: true}},
		"nobody, and the item is forgotten": {func(*asker) {}, 100 * time.Minute, aql.Decision{Expired: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newAsker(t, gen.Lifecycle{Durable: true}, aql.Approval{Message: "May I?", Lifetime: time.Hour})
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				s.stop()
				tt.decide(s)
				time.Sleep(tt.off)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.adapter.Work(ctx) }()
				s.end("ann", id)
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
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

// A question is asked once although another state key becomes the first while it waits.
func TestQuestionsOutliveRotations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		older, newer := []byte(strings.Repeat("o", 32)), []byte(strings.Repeat("n", 32))
		state := new(store.Memory)
		s := new(asker)
		process := func(of store.Store, keys ...[]byte) {
			sealed, err := gate.SealedStore(state, keys...)
			if err != nil {
				t.Fatal(err)
			}
			s.inbox = approve.New(sealed)
			s.shop = newShop(t, aql.Options{
				Name: "shop", State: of, StateKey: keys[0], OldStateKeys: keys[1:], Executions: aql.Executions{Lease: time.Second},
				Confirmation: aql.Confirmation{Inbox: approve.New},
			}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true}, s.askOnce(aql.Approval{Message: "May I?"})))
		}
		process(killOnPut(state, "/p/"), older)
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		s.stop()
		first := s.item()
		time.Sleep(time.Minute)
		process(state, newer, older)
		defer func() { s.stop() }()
		time.Sleep(time.Minute)
		if item := s.item(); item.ID != first.ID {
			t.Errorf("it is asked again: %+v", item)
		}
		s.vote(true, "go")
		if got := s.end("ann", id); got.Data.Status != "completed" || got.Data.Result.Parts[0] != "go" {
			t.Errorf("%+v", got.Data)
		}
	})
}
