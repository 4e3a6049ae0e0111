package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

// full is a record with everything in it.
func full() audit.Record {
	return audit.Record{
		Time: time.Date(2026, 11, 21, 8, 30, 0, 1500, time.UTC), ID: 0xabc, Event: audit.ConfirmationGranted,
		Adapter:   "notes",
		Operation: "delete_note", Endpoint: "mcp_aql_delete", DangerLevel: 2, Trust: "validated", Outcome: audit.Confirmed,
		Reason: "the user agreed", Rule: "deletes", TokenID: "1f2e3d4c", SessionID: "s1", RequestID: "r1",
		Caller:     identity.Caller{Subject: "ann", Issuer: "stdio", Scopes: []string{"x"}},
		Parameters: json.RawMessage(`{"note_id": "n1", "pin": "[REDACTED]"}`),
	}
}

// numbered are n records that tell each other apart.
func numbered(n int) []audit.Record {
	records := make([]audit.Record, n)
	for i := range records {
		records[i] = full()
		records[i].Time = records[i].Time.Add(time.Duration(i) * time.Second)
		records[i].ID = uint64(i + 1)
		records[i].RequestID = fmt.Sprint("r", i)
	}
	return records
}

func open(t testing.TB, path string, key []byte) *audit.File {
	t.Helper()
	f, err := audit.OpenFile(t.Context(), path, audit.FileOptions{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// written is the text of a chain of n records.
func written(t testing.TB, n int, key []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f := open(t, path, key)
	if err := f.Write(t.Context(), numbered(n)); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// verify verifies a file and returns its summary; it must be whole.
func verify(t testing.TB, path string, key []byte) audit.Summary {
	t.Helper()
	s, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sink is a sink whose failures and pace a test decides.
type sink struct {
	mu      sync.Mutex
	kept    []audit.Record
	writes  int
	fail    error         // what writing fails with
	entered chan struct{} // gets a value at each write, where it is set
	gate    chan struct{} // a write takes a value of it first, where it is set
	closed  bool
}

func (s *sink) Write(ctx context.Context, records []audit.Record) error {
	if s.entered != nil {
		select {
		case s.entered <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.fail != nil {
		return s.fail
	}
	s.kept = append(s.kept, records...)
	return nil
}

func (s *sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *sink) failWith(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// attempts is how often writing was tried.
func (s *sink) attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *sink) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *sink) records() []audit.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]audit.Record(nil), s.kept...)
}

// ids are the request ids of records.
func ids(records []audit.Record) []string {
	var ids []string
	for _, r := range records {
		ids = append(ids, r.RequestID)
	}
	return ids
}

// lockedBuffer is a buffer for a logger.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func logger(w *lockedBuffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}
