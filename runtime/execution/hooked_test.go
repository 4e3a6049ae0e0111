package execution_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// hooked is a store as one process sees it: before and after its writes other things happen. A write goes through
// whatever its context is.
type hooked struct {
	store.Store
	before, after func(op, key string, value []byte) error
}

func (h *hooked) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (version store.Version, err error) {
	err = h.around("put", key, value, func() error {
		version, err = h.Store.Put(context.WithoutCancel(ctx), key, value, old, ttl)
		return err
	})
	return version, err
}

func (h *hooked) Delete(ctx context.Context, key string, old store.Version) error {
	return h.around("delete", key, nil, func() error { return h.Store.Delete(context.WithoutCancel(ctx), key, old) })
}

func (h *hooked) around(op, key string, value []byte, do func() error) error {
	if h.before != nil {
		if err := h.before(op, key, value); err != nil {
			return err
		}
	}
	err := do()
	if err == nil && h.after != nil {
		err = h.after(op, key, value)
	}
	return err
}

// behindState is a store as one process sees it: something is called when a record was written with a state.
func behindState(in store.Store, state execution.State, then func()) *hooked {
	return &hooked{Store: in, after: func(_, key string, value []byte) error {
		if written, id := stateIn(key, value); id != "" && written == state {
			then()
		}
		return nil
	}}
}

// newEngine returns an engine that does not work.
func newEngine(t *testing.T, in store.Store, operations map[string]*execution.Operation) *execution.Engine {
	t.Helper()
	e, err := execution.New(execution.Options{
		Store: in, Operations: operations, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// work makes an engine work until stop is called.
func work(t *testing.T, e *execution.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		if err := e.Work(ctx); err != nil {
			t.Error(err)
		}
	})
	return func() { cancel(); working.Wait() }
}
