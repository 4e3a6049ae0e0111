package audit_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// A logger of any level gets every record, with the names of the JSON form.
func TestSlog(t *testing.T) {
	denied := audit.Record{
		Time: full().Time, Event: audit.OperationDenied, Operation: "drop_all", DangerLevel: 4, Outcome: audit.Denied,
	}
	for _, tt := range []struct {
		name   string
		record audit.Record
		want   string
	}{
		{"confirmed", full(), `{"level":"INFO","msg":"audit","timestamp":"2026-11-21T08:30:00.000001500Z",` +
			`"event":"CONFIRMATION_GRANTED","record_id":"0000000000000abc",` +
			`"adapter_name":"notes","operation":"delete_note","endpoint":"mcp_aql_delete","danger_level":2,` +
			`"adapter_trust":"validated","outcome":"confirmed",` +
			`"reason":"the user agreed","rule":"deletes","token_id":"1f2e3d4c","request_id":"r1",` +
			`"client_context":{"session_id":"s1","user_id":"ann","issuer":"stdio"},` +
			`"parameters":{"note_id":"n1","pin":"[REDACTED]"}}`},
		{
			"denied", denied,
			`{"level":"WARN","msg":"audit","timestamp":"2026-11-21T08:30:00.000001500Z","event":"OPERATION_DENIED",` +
				`"operation":"drop_all","danger_level":4,"outcome":"denied"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var logged lockedBuffer
			options := slog.HandlerOptions{Level: slog.LevelError}
			options.ReplaceAttr = func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}
			s := audit.Slog(slog.New(slog.NewJSONHandler(&logged, &options)))
			if err := s.Write(t.Context(), []audit.Record{tt.record}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want+"\n", logged.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if err := audit.Slog(slog.New(failing{})).Write(t.Context(), numbered(1)); !errors.Is(err, errGone) {
		t.Errorf("a handler that fails: %v", err)
	}
}

type failing struct{ slog.Handler }

func (failing) Handle(context.Context, slog.Record) error { return errGone }

// A store holds the records of an adapter in the order of time, until their time has passed.
func TestStore(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	memory := &store.Memory{Now: func() time.Time { return now }}
	s := audit.Store(memory, time.Hour)
	records := numbered(12)
	if err := s.Write(t.Context(), records[6:]); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), records[:6]); err != nil {
		t.Fatal(err)
	}
	list := func() []store.Entry {
		t.Helper()
		entries, err := memory.List(t.Context(), "audit/notes/", "", 100)
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	var got, want []string
	for _, e := range list() {
		got = append(got, string(e.Value))
	}
	for _, r := range records {
		want = append(want, string(r.AppendJSON(nil)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if key := list()[0].Key; key != "audit/notes/01795249800000001500-0000000000000001" {
		t.Errorf("key %s", key)
	}
	if err := s.Close(); err != nil || len(list()) != 12 {
		t.Errorf("closing the sink closed the store: %v", err)
	}
	now = now.Add(time.Hour)
	if n := len(list()); n > 0 {
		t.Errorf("%d records are left", n)
	}
}

// A record is stored once, also when storing it seemed to fail.
func TestStoreOnce(t *testing.T) {
	memory := new(store.Memory)
	synctest.Test(t, func(t *testing.T) { // as there are pauses between the attempts
		l := audit.New(audit.Options{Sinks: []audit.Sink{audit.Store(inDoubt{memory}, 0)}, Logger: logger(new(lockedBuffer))})
		for range 5 {
			if err := l.Write(t.Context(), audit.Record{Adapter: "notes"}); err != nil {
				t.Fatal(err)
			}
		}
		closeLog(t, l)
	})
	entries, err := memory.List(t.Context(), "audit/", "", 100)
	if err != nil || len(entries) != 5 {
		t.Errorf("%d records, %v", len(entries), err)
	}
	s := audit.Store(memory, 0)
	other := numbered(1)[0]
	if err := s.Write(t.Context(), []audit.Record{other}); err != nil {
		t.Fatal(err)
	}
	other.Reason = "another"
	if err := s.Write(t.Context(), []audit.Record{other}); !errors.Is(err, store.ErrConflict) ||
		!strings.Contains(err.Error(), "another record has its place") {
		t.Errorf("a different record with the same time and id: %v", err)
	}
}

// inDoubt is a store whose connection breaks after each new entry.
type inDoubt struct{ store.Store }

func (s inDoubt) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	v, err := s.Store.Put(ctx, key, value, old, ttl)
	if err != nil {
		return v, err
	}
	return 0, errGone
}
