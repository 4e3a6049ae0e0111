package aql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// stuck is the service of these tests: operations that block until the test lets them go, whatever their context says,
// and others that return at once.
type stuck struct {
	adapter *Adapter
	session *Session
	leave   chan struct{} // closed when the test ends
	log     *bytes.Buffer
	running atomic.Int32 // handlers that must run alone
	most    atomic.Int32
	ran     atomic.Int32 // operations that return at once
}

// stuckText blocks where it is written.
type stuckText struct{ leave chan struct{} }

func (s stuckText) MarshalJSON() ([]byte, error) {
	<-s.leave
	return []byte(`"late"`), nil
}

// stuckError blocks where its text is looked at.
type stuckError struct{ leave chan struct{} }

func (s stuckError) Error() string {
	<-s.leave
	return "late"
}

func newStuck(t *testing.T, options Options) *stuck {
	t.Helper()
	s := &stuck{leave: make(chan struct{}), log: new(bytes.Buffer)}
	alone := func() func() {
		if now := s.running.Add(1); now > s.most.Load() {
			s.most.Store(now)
		}
		return func() { s.running.Add(-1) }
	}
	block := func(context.Context, *noteRequest) (string, error) {
		defer alone()()
		<-s.leave
		return "late", nil
	}
	at := func(name string, category gen.Category, timeout time.Duration, result any, call noteCall) gen.Handler {
		o := noteOperation(name, category, gen.Safe, nil)
		if category != gen.Read {
			o.Danger = gen.Reversible
		}
		o.Timeout, o.Call = timeout, func(ctx context.Context, _ []any, r any) (any, error) {
			return call(ctx, r.(*noteRequest))
		}
		if result != nil {
			o.Result, o.Returns = result, "Late"
		}
		return o
	}
	text := func(run noteHandler) noteCall {
		return func(ctx context.Context, r *noteRequest) (any, error) { return run(ctx, r) }
	}
	types := append([]gen.WireType{{Name: "Late", Kind: gen.KindScalar}}, noteTypes...)
	registry := gen.NewRegistry([]gen.Handler{
		at("block_note", gen.Execute, time.Minute, nil, text(block)),
		at("get_block", gen.Read, time.Minute, nil, text(block)),
		at("get_late", gen.Read, time.Minute, (*stuckText)(nil),
			func(context.Context, *noteRequest) (any, error) { return stuckText{s.leave}, nil }),
		at("fail_late", gen.Execute, time.Minute, nil,
			func(context.Context, *noteRequest) (any, error) { return "", stuckError{s.leave} }),
		at("map_late", gen.Execute, time.Minute, nil,
			func(context.Context, *noteRequest) (any, error) { return "", errMapLate }),
		at("exit_note", gen.Execute, time.Minute, nil,
			func(context.Context, *noteRequest) (any, error) { runtime.Goexit(); return "", nil }),
		at("exit_here", gen.Execute, 0, nil,
			func(context.Context, *noteRequest) (any, error) { runtime.Goexit(); return "", nil }),
		at("do_note", gen.Execute, time.Minute, nil, text(func(context.Context, *noteRequest) (string, error) {
			defer alone()()
			s.ran.Add(1)
			return "done", nil
		})),
		at("get_note", gen.Read, time.Minute, nil, text(func(context.Context, *noteRequest) (string, error) {
			s.ran.Add(1)
			return "read", nil
		})),
	}, types)
	options.Name, options.Version, options.Mode = "notes", "1.0.0", ModeSingle
	options.Logger = slog.New(slog.NewTextHandler(s.log, nil))
	options.MapError = func(_ context.Context, _ string, err error) error {
		if errors.Is(err, errMapLate) {
			<-s.leave
		}
		return err
	}
	adapter, err := New(registry, options)
	if err != nil {
		t.Fatal(err)
	}
	s.adapter, s.session = adapter, adapter.NewSession()
	return s
}

// noneGivenUp reports whether no handler is counted as given up.
func (s *stuck) noneGivenUp() bool {
	a := &s.adapter.runner.abandoned
	return a.running.Load() == 0 && a.total == 0 && len(a.operations) == 0 && len(a.callers) == 0
}

type noteCall func(ctx context.Context, request *noteRequest) (any, error)

var errMapLate = errors.New("MapError blocks")

// call returns the answer to an operation without its random members: "ok" and the data, or the message.
func (s *stuck) call(ctx context.Context, t *testing.T, operation string) string {
	t.Helper()
	reply := s.session.Call(ctx, "mcp_aql", []byte(`{"operation":"`+operation+`"}`))
	return outline(t, reply.JSON)
}

func outline(t *testing.T, answer []byte) string {
	t.Helper()
	var a struct {
		Success bool
		Data    any
		Error   struct{ Message string }
		Results []struct{ Result json.RawMessage }
		Summary *struct{ Total, Succeeded, Failed int }
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if a.Summary != nil {
		var results []string
		for _, r := range a.Results {
			results = append(results, outline(t, r.Result))
		}
		return strings.Join(results, "; ")
	}
	if !a.Success {
		return a.Error.Message
	}
	data, _ := a.Data.(string)
	return "ok " + data
}

const (
	leftGoroutine = "Internal error: 'the handler did not return, and may have taken effect'"

	gaveUp     = "Internal error: 'operation timed out and was given up: it may still take effect. " + lookFirst + "'"
	gaveUpRead = "Internal error: 'operation timed out and was given up; try again later'"
	busyTurn   = "Internal error: 'busy: an earlier operation has not ended, so the operation was not run; " +
		"try again later'"
	busyMany = "Internal error: 'busy: too many earlier operations have not ended, so the operation was not run; " +
		"try again later'"
)

// C3, REQ-CC-01: whatever code of the author's does not return, the deadline answers, and other calls go on as the
// concurrency model allows: what was given up keeps its turn.
func TestTheDeadlineAnswersForCodeThatDoesNotReturn(t *testing.T) {
	for _, tt := range []struct {
		name, operation string
		concurrency     Concurrency
		want            string
		read, write     string // other operations
	}{
		{"a handler", "block_note", FullyConcurrent, gaveUp, "ok read", "ok done"},
		{"a handler that locks what it touches", "block_note", ResourceLocked, gaveUp, "ok read", "ok done"},
		{"a handler of the category READ", "get_block", FullyConcurrent, gaveUpRead, "ok read", "ok done"},
		{"the method that writes a result", "get_late", FullyConcurrent, gaveUpRead, "ok read", "ok done"},
		{"the method of an error", "fail_late", FullyConcurrent, gaveUp, "ok read", "ok done"},
		{"MapError", "map_late", FullyConcurrent, gaveUp, "ok read", "ok done"},
		{"a handler that runs alone", "block_note", Serialized, gaveUp, busyTurn, busyTurn},
		{"a writer", "block_note", ReadConcurrent, gaveUp, busyTurn, busyTurn},
		{"a reader", "get_block", ReadConcurrent, gaveUpRead, "ok read", busyTurn},
	} {
		t.Run(string(tt.concurrency)+", "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStuck(t, Options{Concurrency: tt.concurrency})
				got := []string{
					s.call(t.Context(), t, tt.operation), s.call(t.Context(), t, "get_note"), s.call(t.Context(), t, "do_note"),
				}
				if diff := cmp.Diff([]string{tt.want, tt.read, tt.write}, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
				if n := strings.Count(s.log.String(), errGivenUp.Error()); n != 1 {
					t.Errorf("the log has it %d times:\n%s", n, s.log)
				}
				close(s.leave)
				synctest.Wait()
				if again := s.call(t.Context(), t, "do_note"); again != "ok done" || !s.noneGivenUp() {
					t.Errorf("when it has ended: %s, %+v", again, &s.adapter.runner.abandoned)
				}
				if !strings.Contains(s.log.String(), "a handler that was given up has ended") {
					t.Errorf("the log does not tell that it has ended:\n%s", s.log)
				}
				if s.most.Load() > 1 && tt.concurrency == Serialized {
					t.Errorf("%d ran beside each other", s.most.Load())
				}
			})
		})
	}
}

// C3: an interceptor that does not return is given up as a handler is.
func TestTheDeadlineAnswersForAnInterceptor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		s := newStuck(t, Options{Intercept: []Interceptor{
			func(context.Context, Invocation, Next) (any, error) { <-leave; return "late", nil },
		}})
		if got := s.call(t.Context(), t, "do_note"); got != gaveUp {
			t.Error(got)
		}
		close(leave)
	})
}

// C3: a handler that returns within the second after its deadline is not given up: its own error says more.
func TestAHandlerHasTimeToReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, Options{Timeout: time.Minute, Intercept: []Interceptor{
			func(ctx context.Context, _ Invocation, _ Next) (any, error) {
				<-ctx.Done()
				time.Sleep(grace - 1)
				return nil, InvalidState("note", "7", "half done")
			},
		}})
		got := f.call("mcp_aql_read", `{"operation":"get_note","params":{"note_id":"7"}}`)
		if !strings.Contains(got, "half done") {
			t.Error(got)
		}
	})
}

// C3: a call that is cancelled is given up at its deadline. One that waits for its turn ends at once: it has not run.
func TestACancelledCallIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStuck(t, Options{Concurrency: Serialized})
		ctx, cancel := context.WithCancel(t.Context())
		var holder, waiting string
		var both sync.WaitGroup
		both.Go(func() { holder = s.call(ctx, t, "block_note") })
		synctest.Wait()
		both.Go(func() { waiting = s.call(ctx, t, "do_note") })
		synctest.Wait()
		cancel()
		both.Wait()
		want := []string{strings.Replace(gaveUp, "operation timed out", "request was cancelled", 1), busyTurn}
		if diff := cmp.Diff(want, []string{holder, waiting}); diff != "" || s.ran.Load() != 0 {
			t.Errorf("%d ran (-want +got):\n%s", s.ran.Load(), diff)
		}
		close(s.leave)
	})
}

// C3: handlers that were given up are bounded. What one operation may have is less than what all may, so that the
// others go on.
func TestAbandonedHandlersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStuck(t, Options{MaxAbandoned: 4})
		var got []string
		for _, operation := range []string{
			"block_note", "block_note", "do_note", "get_block", "get_late", "do_note", "fail_late", "do_note",
		} {
			got = append(got, s.call(t.Context(), t, operation))
		}
		want := []string{gaveUp, busyMany, "ok done", gaveUpRead, gaveUpRead, "ok done", gaveUp, busyMany}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		const introspect = `{"operation":"introspect","params":{"query":"operations"}}`
		reply := s.session.Call(t.Context(), "mcp_aql", []byte(introspect))
		if !strings.Contains(outline(t, reply.JSON), "ok") {
			t.Errorf("introspection: %s", reply.JSON)
		}
		close(s.leave)
		synctest.Wait()
		if again := s.call(t.Context(), t, "block_note"); again != "ok late" {
			t.Errorf("when they have ended: %s", again)
		}
	})
	if _, err := New(gen.NewRegistry(nil, nil), Options{MaxAbandoned: -1}); err == nil ||
		!strings.Contains(err.Error(), "MaxAbandoned") {
		t.Errorf("a bound below zero: %v", err)
	}
}

// C3: calls that a client cancels, or leaves behind, keep out no other one, however many operations they are of: their
// handlers are given up at their own deadlines, and hold their callers' places until then.
func TestCancelledCallsKeepOutNobody(t *testing.T) {
	for name, operations := range map[string][]string{
		"of one operation":   {"block_note"},
		"of four operations": {"block_note", "get_block", "get_late", "fail_late"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStuck(t, Options{})
				ctx, cancel := context.WithCancel(t.Context())
				var all sync.WaitGroup
				var answered atomic.Int32
				for i := range 2 * defaultAbandoned {
					all.Go(func() {
						s.call(ctx, t, operations[i%len(operations)])
						answered.Add(1)
					})
				}
				synctest.Wait()
				cancel()
				time.Sleep(time.Minute - grace)
				synctest.Wait()
				if got := s.call(t.Context(), t, "do_note"); got != "ok done" {
					t.Errorf("another operation: %s", got)
				}
				if n := answered.Load(); n != 0 || !s.noneGivenUp() {
					t.Errorf("before their deadlines: %d calls hold no place, %+v", n, &s.adapter.runner.abandoned)
				}
				close(s.leave)
				all.Wait()
				if again := s.call(t.Context(), t, operations[0]); again != "ok late" {
					t.Errorf("when they have ended: %s", again)
				}
			})
		})
	}
}

// C3: what handlers that do not end by their deadlines keep out: calls of their own operations, then those of the
// callers who made too many of them, and all only where several callers did.
func TestWhomHandlersThatWereGivenUpKeepOut(t *testing.T) {
	type crowd struct {
		caller     Caller
		operations []string
	}
	four := []string{"block_note", "get_block", "get_late", "fail_late"}
	ann, ben, cyd, dan := Caller{Subject: "ann"}, Caller{Subject: "ben"}, Caller{Subject: "cyd"}, Caller{Subject: "dan"}
	for _, tt := range []struct {
		name     string
		crowds   []crowd // each has two times as many calls as may be given up
		ann, eve string  // answers to another operation
	}{
		{"one operation", []crowd{{Caller{}, four[:1]}}, "ok done", "ok done"},
		{"one operation of a caller", []crowd{{ann, four[:1]}}, "ok done", "ok done"},
		{"four operations of a caller", []crowd{{ann, four}}, busyMany, "ok done"},
		{"two operations of each of two callers", []crowd{{ann, four[:2]}, {ben, four[2:]}}, "ok done", "ok done"},
		{"operations of four callers", []crowd{{ann, four[:1]}, {ben, four[1:2]}, {cyd, four[2:3]}, {dan, four[3:]}},
			busyMany, busyMany},
		{"four operations of callers who are not told apart", []crowd{{Caller{}, four}}, busyMany, busyMany},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStuck(t, Options{})
				var all sync.WaitGroup
				for _, c := range tt.crowds {
					for i := range 2 * defaultAbandoned {
						all.Go(func() { s.call(WithCaller(t.Context(), c.caller), t, c.operations[i%len(c.operations)]) })
					}
				}
				all.Wait()
				eve := WithCaller(t.Context(), Caller{Subject: "eve"})
				got := []string{
					s.call(WithCaller(t.Context(), ann), t, "do_note"), s.call(eve, t, "do_note"), s.call(eve, t, four[0]),
				}
				if diff := cmp.Diff([]string{tt.ann, tt.eve, busyMany}, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
				close(s.leave)
				synctest.Wait()
				if again := s.call(eve, t, four[0]); again != "ok late" || !s.noneGivenUp() {
					t.Errorf("when they have ended: %s, %+v", again, &s.adapter.runner.abandoned)
				}
			})
		})
	}
}

// C3, C5: in a batch, what did not return, and what ended its goroutine, take none of the answers of the others.
func TestABatchGoesOnAfterWhatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStuck(t, Options{})
		request := `{"operations":[{"operation":"do_note"},{"operation":"block_note"},{"operation":"exit_note"},` +
			`{"operation":"exit_here"},{"operation":"get_note"}]}`
		reply := s.session.Call(t.Context(), "mcp_aql", []byte(request))
		want := []string{"ok done", gaveUp, leftGoroutine, leftGoroutine, "ok read"}
		if diff := cmp.Diff(strings.Join(want, "; "), outline(t, reply.JSON)); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		close(s.leave)
	})
}

// C5: a handler that ends its goroutine has an answer where it has a deadline. Where it runs in the goroutine of the
// call, that ends, and everything that the call held is given back.
func TestAHandlerThatEndsItsGoroutine(t *testing.T) {
	s := newStuck(t, Options{Concurrency: Serialized})
	if got := s.call(t.Context(), t, "exit_note"); got != leftGoroutine {
		t.Error(got)
	}
	ended := make(chan bool)
	go func() {
		returned := false
		defer func() { ended <- returned }()
		s.session.Call(context.Background(), "mcp_aql", []byte(`{"operation":"exit_here"}`))
		returned = true
	}()
	if <-ended {
		t.Error("the call returned")
	}
	if got := s.call(t.Context(), t, "do_note"); got != "ok done" {
		t.Error(got)
	}
	if n := strings.Count(s.log.String(), errGoexit.Error()); n != 2 {
		t.Errorf("the log has it %d times:\n%s", n, s.log)
	}
}

// C3: a handler that was given up keeps its request and its memory to itself: the race detector sees what other calls
// write while it goes on.
func TestWhatWasGivenUpSharesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, leave := make(chan *keeper, 1), make(chan struct{})
		adapter := newKeeperAdapter(t, func(k *keeper) {
			kept <- k
			<-leave
			k.Text += "!"
		})
		session := adapter.NewSession()
		for _, tt := range keptRequests() {
			request := []byte(tt.request)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if answer := session.Call(ctx, "mcp_aql", request).JSON; !bytes.Contains(answer, []byte("given up")) {
				t.Fatalf("%s", answer)
			}
			cancel()
			for i := range request {
				request[i] = '#'
			}
			if k := <-kept; k.Text != "plain" {
				t.Errorf("%s: %q", tt.name, k.Text)
			}
		}
		close(leave) // those that were given up write their results while other calls write theirs
		for range 100 {
			session.Call(t.Context(), "mcp_aql", []byte(`{"operation":"introspect"}`))
		}
	})
}
