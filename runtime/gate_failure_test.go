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

	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// broken is a store that can be made to fail, or to hang.
type broken struct {
	store.Memory
	fails atomic.Bool
	hangs atomic.Bool
	busy  atomic.Bool
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
	return b.Memory.Put(ctx, key, value, old, ttl)
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
	const busy = `"RATE_LIMIT_EXCEEDED","message":"The state of this adapter is busy, so nothing was run. Try again.",` +
		`"details":{`
	for name, breakIt := range map[string]func(*broken, bool){
		"fails":   func(b *broken, on bool) { b.fails.Store(on) },
		"hangs":   func(b *broken, on bool) { b.hangs.Store(on) },
		"is busy": func(b *broken, on bool) { b.busy.Store(on) },
	} {
		want := map[string]string{
			"fails": `"INTERNAL_ERROR","message":"Internal error: ` +
				`'state is unavailable, so nothing was run; try again later'"`,
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
