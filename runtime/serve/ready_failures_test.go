package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// failingState is a state that reads or writes nothing when it is told so.
type failingState struct {
	store.Memory
	reads, writes atomic.Bool // fail
}

var errHidden = errors.New("hidden.example: connection refused")

func (s *failingState) Get(ctx context.Context, key string) (store.Entry, error) {
	if s.reads.Load() {
		return store.Entry{}, errHidden
	}
	return s.Memory.Get(ctx, key)
}

func (s *failingState) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if s.writes.Load() {
		return 0, errHidden
	}
	return s.Memory.Put(ctx, key, value, old, ttl)
}

// fullDisk is a sink on whose disk there is no space when it is told so.
type fullDisk struct{ full atomic.Bool }

func (d *fullDisk) Write(context.Context, []audit.Record) error {
	if d.full.Load() {
		return &fs.PathError{Op: "write", Path: "/hidden/audit.log", Err: syscall.ENOSPC}
	}
	return nil
}

func (*fullDisk) Close() error { return nil }

// readyAnswer is all that /readyz may tell.
type readyAnswer struct {
	Status string `json:"status"`
	Checks map[string]struct {
		OK bool  `json:"ok"`
		MS int64 `json:"ms"`
	} `json:"checks"`
}

// Each thing that fails is named to whoever asks, who need not say who they are, and nothing else is told. What is fit
// stays so, and the log says why. A policy file with mistakes alone does not keep calls away.
func TestReadinessNamesWhatFails(t *testing.T) {
	const policy = "version: 1\ndefault: allow\n"
	build := gen.NewRegistry([]gen.Handler{{
		Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
		Description: "Builds something.", Request: (*struct{})(nil), Execution: &gen.Execution{
			Run: aql.RunFunc(func(context.Context, []any, any, *aql.Run) (any, error) { return nil, nil }),
		},
	}}, nil)
	for failing, tt := range map[string]struct {
		fail   func(s *failingState, log *audit.Log, disk *fullDisk, policy string) error
		status string
		code   int
		logged string
	}{
		"store": {func(s *failingState, _ *audit.Log, _ *fullDisk, _ string) error {
			s.reads.Store(true)
			return nil
		}, "failing", http.StatusServiceUnavailable, "hidden.example"},
		"audit": {func(_ *failingState, log *audit.Log, disk *fullDisk, _ string) error {
			disk.full.Store(true)
			if err := log.Write(context.Background(), audit.Record{}); err == nil {
				return errors.New("the record is kept")
			}
			return nil
		}, "failing", http.StatusServiceUnavailable, "no space left"},
		"worker": {func(s *failingState, _ *audit.Log, _ *fullDisk, _ string) error {
			s.writes.Store(true)
			return nil
		}, "failing", http.StatusServiceUnavailable, "check=worker"},
		"policy": {func(_ *failingState, _ *audit.Log, _ *fullDisk, policy string) error {
			return os.WriteFile(policy, []byte("version: 1\nhidden: [\n"), 0o600)
		}, "degraded", http.StatusOK, "stays in force"},
	} {
		t.Run(failing, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "policy.yaml")
			if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
				t.Fatal(err)
			}
			state, disk := new(failingState), new(fullDisk)
			log := audit.New(audit.Options{Sinks: []audit.Sink{disk}, Wait: true})
			lease := time.Hour // which no slow machine is late for
			if failing == "worker" {
				lease = 300 * time.Millisecond
			}
			r := start(t, build, Options{Adapter: aql.Options{
				State: state, Audit: log, Executions: aql.Executions{Lease: lease, Drain: time.Millisecond},
			}}, "-policy", file)
			defer r.stop()
			r.becomes(t, "ok", http.StatusOK, "")
			if err := tt.fail(state, log, disk, file); err != nil {
				t.Fatal(err)
			}
			r.becomes(t, tt.status, tt.code, failing)
			if log := r.stderr.String(); !strings.Contains(log, tt.logged) {
				t.Errorf("the log does not say %s:\n%s", tt.logged, log)
			}
		})
	}
}

// becomes asks /readyz until it answers with a status, and then of exactly one check that it fails; empty: of none.
func (r running) becomes(t *testing.T, status string, code int, failing string) {
	t.Helper()
	for {
		response, err := http.Get(r.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		var answer readyAnswer
		reader := json.NewDecoder(strings.NewReader(string(body)))
		reader.DisallowUnknownFields()
		if err := reader.Decode(&answer); err != nil || strings.Contains(string(body), "hidden") {
			t.Fatalf("%v: %s", err, body)
		}
		if answer.Status != status {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		for _, name := range []string{"store", "audit", "worker", "executions", "policy"} {
			if check, ok := answer.Checks[name]; !ok || check.OK != (name != failing) {
				t.Errorf("%s: %s", name, body)
			}
		}
		if response.StatusCode != code || len(answer.Checks) != 5 {
			t.Errorf("%s: %s", response.Status, body)
		}
		return
	}
}
