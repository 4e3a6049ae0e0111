package serve

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Calls should come where every check goes well, and the process does not end. Nobody is told why one fails but the
// log, once.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopping atomic.Bool
		log := new(safeBuffer)
		looks := 0
		var fault error
		h := newReadiness(func(context.Context) []aql.Check {
			looks++
			return []aql.Check{{Name: "store", Err: fault, Took: 2 * time.Millisecond}, {Name: "audit"}}
		}, slog.New(slog.NewTextHandler(log, nil)), &stopping)
		expect := func(code int, body string) {
			t.Helper()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
			if w.Code != code || w.Body.String() != body+"\n" {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, code, body)
			}
		}
		const well = `{"status":"ok","checks":{"audit":{"ok":true,"ms":0},"store":{"ok":true,"ms":2}}}`
		expect(200, well)
		fault = errors.New("secret of the state")
		expect(200, well) // an answer counts for a second
		time.Sleep(freshness)
		const ill = `{"status":"failing","checks":{"audit":{"ok":true,"ms":0},"store":{"ok":false,"ms":2}}}`
		expect(503, ill)
		time.Sleep(freshness)
		expect(503, ill)
		if n := strings.Count(log.String(), "secret of the state"); n != 1 || looks != 3 {
			t.Errorf("%d looks, %d times in the log:\n%s", looks, n, log)
		}
		fault = nil
		time.Sleep(freshness)
		expect(200, well)
		if !strings.Contains(log.String(), "ready again") {
			t.Errorf("the log: %s", log)
		}
		stopping.Store(true)
		expect(503, `{"status":"stopping"}`)
	})
}

// A process of an older version stays in rotation while a newer one takes its place: that executions are left to others
// is told, and does not make it unready. The answer does not name them, since anybody may ask.
func TestReadinessWithExecutionsForOthers(t *testing.T) {
	var log bytes.Buffer
	check := aql.Check{Name: "executions", Err: errors.New("due for an hour or longer: reindex")}
	h := newReadiness(func(context.Context) []aql.Check { return []aql.Check{{Name: "store"}, check} },
		slog.New(slog.NewTextHandler(&log, nil)), new(atomic.Bool))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	const want = `{"status":"degraded","checks":{"executions":{"ok":false,"ms":0},"store":{"ok":true,"ms":0}}}` + "\n"
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
	if said := log.String(); !strings.Contains(said, "the adapter is degraded") || !strings.Contains(said, "reindex") {
		t.Errorf("the log says %q", said)
	}
}

// Who asks while the state answers nobody, whatever it was told, waits no longer than their client.
func TestReadinessWhileTheStateIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		h := newReadiness(func(context.Context) []aql.Check { <-answers; return nil }, slog.Default(), new(atomic.Bool))
		ask := func(ctx context.Context) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
			return w
		}
		first := make(chan *httptest.ResponseRecorder, 1)
		go func() { first <- ask(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if w := ask(ctx); w.Code != http.StatusServiceUnavailable {
			t.Errorf("it is answered with %d %s", w.Code, w.Body)
		}
		close(answers)
		if w := <-first; w.Code != http.StatusOK {
			t.Errorf("who asked first is answered with %d %s", w.Code, w.Body)
		}
	})
}
