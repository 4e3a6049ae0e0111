package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/google/go-cmp/cmp"
)

// reading is what a reading comes to.
type reading struct {
	Lines   []string
	Summary audit.Summary
	Fault   string
}

// readingOf returns what a reading by one of the functions of this package comes to.
func readingOf(by func(begin func() func([]byte) error) (audit.Summary, error)) (got reading) {
	var err error
	got.Summary, err = by(func() func([]byte) error {
		got.Lines = nil
		return func(line []byte) error {
			got.Lines = append(got.Lines, string(line))
			return nil
		}
	})
	if err != nil {
		got.Fault = err.Error()
	}
	return got
}

// add adds records to a chain that is rotated often.
func add(t *testing.T, path string, key []byte, count int) {
	t.Helper()
	file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{Key: key, MaxSize: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		record := audit.Record{Event: audit.OperationAllowed, Operation: fmt.Sprintf("more_%d", i), Outcome: audit.Allowed}
		if err := file.Write(t.Context(), []audit.Record{record}); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// forge replaces a text in a file, whose size and time stay as they are.
func forge(t *testing.T, path, old, next string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	forged := bytes.Replace(text, []byte(old), []byte(next), 1)
	if bytes.Equal(text, forged) {
		t.Fatalf("%s has no %s", path, old)
	}
	if err := os.WriteFile(path, forged, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// A Reader comes to what ReadFile comes to, whatever has happened to the files since it read them.
func TestReader(t *testing.T) {
	key := bytes.Repeat([]byte("k"), 32)
	for name, happens := range map[string]func(t *testing.T, path string, key []byte){
		"nothing":               func(*testing.T, string, []byte) {},
		"a record is added":     func(t *testing.T, path string, key []byte) { add(t, path, key, 1) },
		"files are added":       func(t *testing.T, path string, key []byte) { add(t, path, key, 20) },
		"the oldest is removed": func(t *testing.T, path string, _ []byte) { remove(t, path+".000001") },
		"a closed one is removed": func(t *testing.T, path string, _ []byte) {
			remove(t, path+".000002")
		},
		"a closed one is longer": func(t *testing.T, path string, _ []byte) {
			forge(t, path+".000001", `"op_1"`, `"op_111"`)
		},
		"a closed one is another file": func(t *testing.T, path string, _ []byte) {
			forge(t, path+".000001", `"op_1"`, `"op_9"`)
			if err := os.Chtimes(path+".000001", time.Now(), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		},
		"the last one is changed": func(t *testing.T, path string, _ []byte) {
			forge(t, path, `"danger_level":0`, `"danger_level":1`)
		},
		"two have changed places": func(t *testing.T, path string, _ []byte) {
			for _, to := range [][2]string{{".000001", ".x"}, {".000002", ".000001"}, {".x", ".000002"}} {
				if err := os.Rename(path+to[0], path+to[1]); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		for _, key := range [][]byte{nil, key} {
			t.Run(fmt.Sprintf("%s, key of %d bytes", name, len(key)), func(t *testing.T) {
				path := chained(t, key, 20)
				r := &audit.Reader{Path: path, Key: key}
				for i := range 3 {
					got := readingOf(func(begin func() func([]byte) error) (audit.Summary, error) {
						return r.Read(t.Context(), 0, begin)
					})
					want := readingOf(func(begin func() func([]byte) error) (audit.Summary, error) {
						return audit.ReadFile(t.Context(), path, audit.VerifyOptions{Key: key}, begin)
					})
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("reading %d: %s", i, diff)
					}
					if i == 0 {
						happens(t, path, key)
					}
				}
			})
		}
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// A change without a trace in size and time of a closed file is found out when it is verified again.
func TestReadersForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := chained(t, nil, 20)
		r := &audit.Reader{Path: path}
		read := func() error {
			_, err := r.Read(t.Context(), 0, func() func([]byte) error { return func([]byte) error { return nil } })
			return err
		}
		if err := read(); err != nil {
			t.Fatal(err)
		}
		forge(t, path+".000001", `"op_1"`, `"op_9"`)
		if err := read(); err != nil {
			t.Errorf("the file is verified each time: %v", err)
		}
		time.Sleep(10 * time.Minute)
		if _, broken := errors.AsType[*audit.BrokenError](read()); !broken {
			t.Error("the change is not found out")
		}
	})
}

// Who looks at the last lines gets these, and of older files that were verified none.
func TestReadersOfTheLast(t *testing.T) {
	path := chained(t, nil, 20)
	all := readingOf(func(begin func() func([]byte) error) (audit.Summary, error) {
		return audit.ReadFile(context.WithoutCancel(t.Context()), path, audit.VerifyOptions{}, begin)
	})
	r := &audit.Reader{Path: path}
	for i, most := range []int{len(all.Lines), len(all.Lines) / 2} {
		got := readingOf(func(begin func() func([]byte) error) (audit.Summary, error) {
			return r.Read(t.Context(), 3, begin)
		})
		if len(got.Lines) < 3 || len(got.Lines) > most {
			t.Errorf("reading %d visits %d lines, of %d at most", i, len(got.Lines), most)
		}
		if diff := cmp.Diff(all.Lines[len(all.Lines)-len(got.Lines):], got.Lines); diff != "" {
			t.Errorf("reading %d: %s", i, diff)
		}
		if diff := cmp.Diff(all.Summary, got.Summary); diff != "" {
			t.Errorf("reading %d: %s", i, diff)
		}
	}
}
