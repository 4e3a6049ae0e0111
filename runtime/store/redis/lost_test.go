package redis_test

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
)

// lossy is a way to a server on which one answer gets lost each time that lose is set. It returns the location of its
// own end.
func lossy(t *testing.T, server *redistest.Server, lose *atomic.Bool) string {
	socket := filepath.Join(filepath.Dir(server.Socket()), "lossy.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", server.Socket())
			if err != nil {
				near.Close()
				continue
			}
			go func() {
				defer far.Close()
				io.Copy(far, near)
			}()
			go func() {
				defer near.Close()
				answer := make([]byte, 64<<10)
				for {
					n, err := far.Read(answer)
					if err != nil || lose.CompareAndSwap(true, false) {
						return
					}
					near.Write(answer[:n])
				}
			}()
		}
	}()
	return "redis+unix://" + socket
}

// A change whose answer is lost is made once: it is in doubt, and not a conflict with itself, nor taken twice.
func TestChangeWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	server := redistest.Start(t)
	var lose atomic.Bool
	through, direct := open(t, lossy(t, server, &lose)), open(t, server.Location())
	ctx := t.Context()
	claims := []store.Claim{{Key: "c", N: 1, Limit: 100, Window: time.Hour}}
	// The scripts are known, and there is a connection.
	version, err := through.Put(ctx, "a", []byte("before"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := through.Take(ctx, claims); err != nil {
		t.Fatal(err)
	}
	if err := through.Delete(ctx, "b", 1); !errors.Is(err, store.ErrConflict) {
		t.Fatal(err)
	}
	// lost runs a change whose answer is lost, on a connection that was in use: a new one would lose the greeting.
	lost := func(name string, change func() error) {
		t.Helper()
		if _, err := through.Get(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		lose.Store(true)
		if err := change(); err == nil || errors.Is(err, store.ErrConflict) || lose.Load() {
			t.Errorf("%s: %v", name, err)
		}
	}
	lost("put", func() error {
		_, err := through.Put(ctx, "a", []byte("after"), version, 0)
		return err
	})
	e, err := direct.Get(ctx, "a")
	if err != nil || string(e.Value) != "after" || e.Version == version {
		t.Errorf("the entry: %+v, %v", e, err)
	}
	lost("take", func() error {
		_, err := through.Take(ctx, claims)
		return err
	})
	if counts, err := direct.Take(ctx, []store.Claim{{Key: "c", Limit: 100, Window: time.Hour}}); err != nil ||
		counts[0].Used != 2 {
		t.Errorf("the counter: %+v, %v; want 2", counts, err)
	}
	lost("delete", func() error { return through.Delete(ctx, "a", e.Version) })
	if e, err := direct.Get(ctx, "a"); err != nil || e.Exists() {
		t.Errorf("the entry after deleting: %+v, %v", e, err)
	}
}
