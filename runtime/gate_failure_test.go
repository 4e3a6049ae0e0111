package aql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// broken is a store that can be made to fail, or to hang.
type broken struct {
	store.Memory
	fails atomic.Bool
	hangs atomic.Bool
	busy  atomic.Bool
	lost  atomic.Int32 // the answer to a change of a token or an item: 1: it is late, 2: the connection breaks
}

var errBroken = errors.New("dial tcp 10.0.0.1:6379: password s3cret refused at /src/redis.go:7")

func (b *broken) check(ctx context.Context) error {
	if b.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if b.fails.Load() {
		return errBroken
	}
	if b.busy.Load() {
		return fmt.Errorf("%w: all connections to 10.0.0.1 are in use", store.ErrBusy)
	}
	return nil
}

func (b *broken) Get(ctx context.Context, key string) (store.Entry, error) {
	if err := b.check(ctx); err != nil {
		return store.Entry{}, err
	}
	return b.Memory.Get(ctx, key)
}

func (b *broken) Put(ctx context.Context, key string, value []byte, old store.Version,
	ttl time.Duration) (store.Version, error) {
	if err := b.check(ctx); err != nil {
		return 0, err
	}
	version, err := b.Memory.Put(ctx, key, value, old, ttl)
	switch lost := b.lost.Load(); {
	case old == 0 || !strings.HasPrefix(key, "token/") && !strings.HasPrefix(key, "approve/"):
		return version, err
	case lost == 1:
		return 0, context.DeadlineExceeded
	case lost == 2:
		return 0, errBroken
	}
	return version, err
}

func (b *broken) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	if err := b.check(ctx); err != nil {
		return nil, err
	}
	return b.Memory.Take(ctx, claims)
}

// A store that fails, hangs or is busy never turns into "allowed": requests that need it are refused within the
// deadline, those that do not go on, and all is well again when it is back. What may be over in a moment is a refusal
// that says so, and no internal error (C12, REQ-TL-14).
func TestStoreFailuresFailClosed(t *testing.T) {
	const busy = `"RATE_LIMIT_EXCEEDED","message":"The state of this adapter is busy, so the operation was not run. ` +
		`Try again.","details":{`
	for name, breakIt := range map[string]func(*broken, bool){
		"fails":   func(b *broken, on bool) { b.fails.Store(on) },
		"hangs":   func(b *broken, on bool) { b.hangs.Store(on) },
		"is busy": func(b *broken, on bool) { b.busy.Store(on) },
	} {
		want := map[string]string{
			"fails": `"INTERNAL_ERROR","message":"Internal error: ` +
				`'state is unavailable, so the operation was not run; try again later'"`,
			"hangs":   busy,
			"is busy": busy,
		}
		isError := name == "fails"
		test := func(t *testing.T) {
			state := new(broken)
			f := newFixture(t, Options{
				State: state, StateTimeout: 20 * time.Millisecond,
				Quota: quota.Options{Limits: []quota.Limit{{Operation: "create_*", Limit: 100, Window: quota.Minute}}},
			})
			token := f.token(t, deleteN1)
			breakIt(state, true)
			confirmed := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+token+`"`, 1)
			for _, request := range []struct{ tool, text string }{
				{"mcp_aql_delete", deleteN1}, {"mcp_aql_delete", confirmed}, {"mcp_aql_create", createN},
			} {
				reply := f.session.Call(t.Context(), request.tool, []byte(request.text))
				checkOfficial(t, reply.JSON)
				if text := string(reply.JSON); reply.IsError != isError || !strings.Contains(text, want[name]) ||
					strings.Contains(text, "s3cret") || strings.Contains(text, "redis") {
					t.Errorf("%s: %s", request.text, text)
				}
			}
			if len(f.ran) > 0 {
				t.Fatalf("ran %v", f.ran)
			}
			if got := f.call("mcp_aql_read", getN1); !strings.HasPrefix(got, `{"success":true`) {
				t.Errorf("what needs no state: %s", got)
			}
			f.ran = nil
			breakIt(state, false)
			if got := f.confirm(t, confirmed); !got.Success || len(f.ran) != 1 {
				t.Errorf("when it is back: %+v", got)
			}
		}
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

// What an item of a batch says of its failure is true of that item, and not of those that ran before.
func TestFailureOfAnItemSpeaksOfTheItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := new(broken)
		f := newFixture(t, Options{State: state, StateTimeout: 20 * time.Millisecond, Mode: ModeSingle})
		for broken, want := range map[*atomic.Bool]string{
			&state.fails: `"message":"Internal error: 'state is unavailable, so the operation was not run; `,
			&state.busy:  `"message":"The state of this adapter is busy, so the operation was not run. `,
		} {
			f.ran = nil
			broken.Store(true)
			got := f.call("mcp_aql", `{"operations":[`+createN+`,`+deleteN1+`]}`)
			broken.Store(false)
			if len(f.ran) != 1 || !strings.Contains(got, want) || strings.Contains(got, "nothing") {
				t.Errorf("ran %v, answer %s", f.ran, got)
			}
		}
	})
}

// fullLog is an audit sink that keeps nothing while it is closed.
type fullLog struct {
	closed atomic.Bool
	leave  chan struct{}
}

func (l *fullLog) Write(context.Context, []audit.Record) error {
	if l.closed.Load() {
		<-l.leave
	}
	return nil
}

func (l *fullLog) Close() error { return nil }

// C12, REQ-TL-14: what is refused for a moment says whether the same request may be made again. Where its token was
// consumed, or may have been, it says that a new confirmation is needed: a token is never given back.
func TestRefusalsSayWhetherTheTokenIsUsedUp(t *testing.T) {
	const (
		spent       = "The confirmation may be used up: make the request again without a token."
		again       = "The state of this adapter is busy, so the operation was not run. Try again."
		busy        = "The state of this adapter is busy, so the operation was not run. " + spent
		unavailable = "Internal error: 'state is unavailable, so the operation was not run; " +
			"the confirmation may be used up: make the request again without a token, later'"
	)
	for _, tt := range []struct {
		name     string
		whenFull audit.Overflow
		stop     func(*broken, *fullLog)
		want     string
		used     bool // the same request is refused later
	}{
		{"the state is busy", audit.Block, func(b *broken, _ *fullLog) { b.busy.Store(true) }, again, false},
		{"the state is busy while the token is consumed", audit.Block,
			func(b *broken, _ *fullLog) { b.lost.Store(1) }, busy, true},
		{"the state fails while the token is consumed", audit.Block,
			func(b *broken, _ *fullLog) { b.lost.Store(2) }, unavailable, true},
		{"the audit log is busy", audit.Block, func(_ *broken, l *fullLog) { l.closed.Store(true) }, busy, true},
		{"the audit log is full", audit.Refuse, func(_ *broken, l *fullLog) { l.closed.Store(true) }, unavailable, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state, sink := new(broken), &fullLog{leave: make(chan struct{})}
				log := audit.New(audit.Options{
					Sinks: []audit.Sink{sink}, Queue: 4, WhenFull: tt.whenFull, Timeout: time.Hour, Refusals: -1,
				})
				f := newFixture(t, Options{State: state, StateTimeout: time.Second, Audit: log})
				confirmed := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+f.token(t, deleteN1)+`"`, 1)
				synctest.Wait() // what was recorded is kept
				tt.stop(state, sink)
				if sink.closed.Load() {
					if err := log.Write(t.Context(), make([]audit.Record, 4)...); err != nil { // the queue is full then
						t.Fatal(err)
					}
				}
				if got := f.confirm(t, confirmed); got.Error.Message != tt.want || len(f.ran) > 0 {
					t.Errorf("%+v, ran %v", got, f.ran)
				}
				state.busy.Store(false)
				state.lost.Store(0)
				close(sink.leave)
				synctest.Wait()
				got := f.confirm(t, confirmed)
				if used := got.Error.Code == "TOKEN_ALREADY_USED"; used != tt.used || used == (len(f.ran) == 1) {
					t.Errorf("the same request: %+v, ran %v", got, f.ran)
				}
				if got := f.confirm(t, deleteN1); got.Error.Code != string(codeConfirm) {
					t.Errorf("without the token: %+v", got)
				}
				if err := log.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// C3, C12: so does a call that was let through, and whose turn does not come.
func TestACallWithoutATurnSaysThatItsTokenIsUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		f := newFixture(t, Options{Concurrency: Serialized, Timeout: time.Minute, Intercept: []Interceptor{
			func(ctx context.Context, call Invocation, next Next) (any, error) {
				if call.Operation.Name == "create_note" {
					<-leave
				}
				return next(ctx)
			},
		}})
		f.now = time.Now()
		confirmed := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+f.token(t, deleteN1)+`"`, 1)
		if got := f.call("mcp_aql_create", createN); !strings.Contains(got, "given up") {
			t.Fatal(got)
		}
		const want = "Internal error: 'busy: an earlier operation has not ended, so the operation was not run; " +
			"the confirmation may be used up: make the request again without a token, later'"
		if got := f.confirm(t, confirmed).Error.Message; got != want {
			t.Error(got)
		}
		close(leave)
		synctest.Wait()
		if got := f.confirm(t, confirmed).Error.Code; got != "TOKEN_ALREADY_USED" {
			t.Errorf("the same request: %s", got)
		}
	})
}
