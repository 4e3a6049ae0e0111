package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// chained writes records to a file that is rotated often, and returns its path.
func chained(t *testing.T, key []byte, records int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{Key: key, MaxSize: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		record := audit.Record{Event: audit.OperationAllowed, Operation: fmt.Sprintf("op_%d", i), Outcome: audit.Allowed}
		if err := file.Write(t.Context(), []audit.Record{record}); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// operations reads the records of a file, and returns their operations, without those about files.
func operations(ctx context.Context, path string, key []byte) (all []string, s audit.Summary, err error) {
	s, err = audit.ReadFile(ctx, path, audit.VerifyOptions{Key: key}, func() func([]byte) error {
		all = nil
		return func(line []byte) error {
			var record struct{ Operation string }
			if err := json.Unmarshal(line, &record); err != nil {
				return err
			}
			if record.Operation != "" {
				all = append(all, record.Operation)
			}
			return ctx.Err()
		}
	})
	return all, s, err
}

// Who reads a file gets the records that verify, of all its files, and none behind a break.
func TestReadFile(t *testing.T) {
	key := bytes.Repeat([]byte("k"), 32)
	for name, tt := range map[string]struct{ key []byte }{"plain": {}, "with a key": {key}} {
		t.Run(name, func(t *testing.T) {
			path := chained(t, tt.key, 20)
			all, s, err := operations(t.Context(), path, tt.key)
			if err != nil || len(all) != 20 || all[0] != "op_0" || all[19] != "op_19" || s.Files < 3 {
				t.Fatalf("%v, %+v, %v", all, s, err)
			}
			first := path + ".000001"
			text, err := os.ReadFile(first)
			if err != nil {
				t.Fatal(err)
			}
			forged := bytes.Replace(text, []byte("op_2\""), []byte("op_9\""), 1)
			if err := os.WriteFile(first, forged, 0o600); err != nil {
				t.Fatal(err)
			}
			all, s, err = operations(t.Context(), path, tt.key)
			broken, ok := errors.AsType[*audit.BrokenError](err)
			if !ok || broken.Fault != audit.Changed || broken.Line != 3 || len(all) != 2 || s.Records != 2 {
				t.Errorf("after a change: %v, %+v, %v", all, s, err)
			}
		})
	}
}

// Reading ends with the error of who reads.
func TestReadingEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	path := chained(t, nil, 3)
	stop()
	if all, _, err := operations(ctx, path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", all, err)
	}
}

// A copy of a file and of those closed before it verifies as they do.
func TestCopyFile(t *testing.T) {
	path := chained(t, nil, 20)
	var text bytes.Buffer
	if err := audit.CopyFile(t.Context(), &text, path); err != nil {
		t.Fatal(err)
	}
	of, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := audit.Verify(&text, audit.VerifyOptions{Head: of.Head})
	if err != nil || got.Records != of.Records {
		t.Errorf("%+v, %v; the file has %+v", got, err, of)
	}
	if err := audit.CopyFile(t.Context(), &text, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was copied")
	}
}
