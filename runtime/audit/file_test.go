package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// Records stay across processes (REQ-AU-06, REQ-SE-03): a chain goes on where it ended, whoever wrote it.
func TestFileGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	records := numbered(6)
	for i := range 3 {
		f := open(t, path, secret)
		if err := f.Write(t.Context(), records[2*i:2*i+2]); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Write(t.Context(), records[:1]); !errors.Is(err, audit.ErrClosed) {
			t.Errorf("writing after closing: %v", err)
		}
	}
	if s := verify(t, path, secret); s.Records != 6 {
		t.Errorf("%d records", s.Records)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// Several writers of one file take turns: every record is in it once, in one chain.
func TestFileIsShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var wg sync.WaitGroup
	for range 4 {
		f := open(t, path, nil)
		for range 2 {
			wg.Go(func() {
				for _, r := range numbered(25) {
					if err := f.Write(t.Context(), []audit.Record{r, r}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	if s := verify(t, path, nil); s.Records != 400 {
		t.Errorf("%d records, want 400", s.Records)
	}
}

// What a killed process has left unfinished is cut off, and the chain goes on; whether the next writer has the file
// open already or opens it.
func TestFileCutsOffWhatIsUnfinished(t *testing.T) {
	text := written(t, 3, nil)
	lines := bytes.SplitAfter(text, []byte("\n"))
	last := len(text) - len(lines[2])
	for _, tt := range []struct {
		name string
		tail []byte
		want uint64 // records that remain
	}{
		{"one byte", lines[2][:1], 2},
		{"half a line", lines[2][:len(lines[2])/2], 2},
		{"all but the line break", lines[2][:len(lines[2])-1], 2},
		{"a line and a half", slices.Concat(lines[2], lines[2][:100]), 3},
		{"zeros", make([]byte, 5000), 2},
	} {
		for _, opened := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, opened before: %v", tt.name, opened), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "audit.jsonl")
				if err := os.WriteFile(path, text[:last], 0o600); err != nil {
					t.Fatal(err)
				}
				var f *audit.File
				if opened {
					f = open(t, path, nil)
				}
				if err := os.WriteFile(path, slices.Concat(text[:last], tt.tail), 0o600); err != nil {
					t.Fatal(err)
				}
				if !opened {
					var said lockedBuffer
					var err error
					if f, err = audit.OpenFile(t.Context(), path, audit.FileOptions{Logger: logger(&said)}); err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					if !strings.Contains(said.String(), "cut off") {
						t.Errorf("logged: %q", said.String())
					}
				}
				if err := f.Write(t.Context(), numbered(1)); err != nil {
					t.Fatal(err)
				}
				if s := verify(t, path, nil); s.Records != tt.want+1 {
					t.Errorf("%d records, want %d", s.Records, tt.want+1)
				}
			})
		}
	}
	t.Run("in the first line", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		if err := os.WriteFile(path, text[:30], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open(t, path, nil).Write(t.Context(), numbered(1)); err != nil {
			t.Fatal(err)
		}
		if s := verify(t, path, nil); s.Records != 1 {
			t.Errorf("%d records", s.Records)
		}
	})
}

// Every other fault is an error, and the file is not changed.
func TestFileRepairsNothing(t *testing.T) {
	text := written(t, 3, nil)
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, tt := range []struct {
		name string
		text []byte
		key  []byte
		want string
	}{
		{"another file", []byte("dear diary\n"), nil, "its last record is damaged, or it is no audit file"},
		{"another file without a line break", []byte("dear diary"), nil, "it is not an audit file"},
		{"a changed record at the end", flip(text, len(text)-200), nil, "its last record: its hash is wrong"},
		{
			"a damaged record before an unfinished one", slices.Concat(lines[0], []byte("x\n"), lines[1][:20]), nil,
			"its last record is damaged",
		},
		{
			"a line without an end that is too long", slices.Concat(lines[0], bytes.Repeat([]byte("x"), 1<<24)), nil,
			"longer than 16 MiB",
		},
		{
			"a line that is too long", slices.Concat(lines[0], bytes.Repeat([]byte("x"), 1<<25), []byte("\n")), nil,
			"its last record is damaged",
		},
		{"a key where there was none", text, secret, "written without a key"},
		{"a short key", text, []byte("short"), "the key has 5 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			if err := os.WriteFile(path, tt.text, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := audit.OpenFile(t.Context(), path, audit.FileOptions{Key: tt.key})
			if err == nil {
				f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if !bytes.Equal(read(t, path), tt.text) {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		if _, err := audit.OpenFile(t.Context(), t.TempDir(), audit.FileOptions{}); err == nil {
			t.Error("opened")
		}
	})
	t.Run("no folder", func(t *testing.T) {
		if _, err := audit.OpenFile(
			t.Context(), filepath.Join(t.TempDir(), "a", "b"), audit.FileOptions{},
		); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("opened: %v", err)
		}
	})
}

// Records are refused if an open file was moved, cut off or has another end.
func TestFileNoticesWhatOthersDo(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(path string) error
		want string
	}{
		{"it is removed", os.Remove, "moved or removed"},
		{"it is moved", func(path string) error { return os.Rename(path, path+".1") }, "moved or removed"},
		{"it is replaced", func(path string) error {
			if err := os.Rename(path, path+".1"); err != nil {
				return err
			}
			return os.WriteFile(path, nil, 0o600)
		}, "moved or removed"},
		{"it is emptied", func(path string) error { return os.Truncate(path, 0) }, "cut off"},
		{"it is written anew, longer", func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			first, _, _ := bytes.Cut(text, []byte("\n"))
			return os.WriteFile(path, slices.Concat(text, first, []byte("\n")), 0o600)
		}, "changed"},
		{"someone else writes into it", func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("hello\n")
			return err
		}, "damaged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			f := open(t, path, nil)
			if err := f.Write(t.Context(), numbered(3)); err != nil {
				t.Fatal(err)
			}
			if err := tt.do(path); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := f.Write(t.Context(), numbered(1)); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %s", err, tt.want)
				}
			}
		})
	}
}

// A write waits for the lock as long as its context lets it.
func TestFileWaitsForItsTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f := open(t, path, nil)
	release := audit.LockForTest(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { failed <- f.Write(ctx, numbered(1)) }()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "waiting for another process to unlock it") {
		t.Errorf("while another has it: %v", err)
	}
	go func() { failed <- f.Write(t.Context(), numbered(1)) }()
	release()
	if err := <-failed; err != nil {
		t.Error(err)
	}
	if s := verify(t, path, nil); s.Records != 1 {
		t.Errorf("%d records", s.Records)
	}
}

// A disk that is full, or fails, leaves no half of a batch behind: later writes go on behind the last good line.
func TestFileOnAFailingDisk(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault audit.DiskFault
	}{
		{"nothing fits", audit.DiskFault{Write: 0}},
		{"half a line fits", audit.DiskFault{Write: 300}},
		{"a line and a half fit", audit.DiskFault{Write: 1000}},
		{"syncing fails", audit.DiskFault{Write: -1, Sync: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			f, other := open(t, path, nil), open(t, path, nil)
			must := func(f *audit.File) {
				t.Helper()
				if err := f.Write(t.Context(), numbered(2)); err != nil {
					t.Fatal(err)
				}
			}
			must(f)
			heal := audit.Break(f, tt.fault)
			for range 3 {
				if err := f.Write(t.Context(), numbered(3)); !errors.Is(err, audit.ErrDisk) {
					t.Errorf("writing: %v", err)
				}
				if s := verify(t, path, nil); s.Records != 2 {
					t.Errorf("%d records are there after a failure, want 2", s.Records)
				}
			}
			heal()
			must(other)
			must(f)
			if s := verify(t, path, nil); s.Records != 6 {
				t.Errorf("%d records, want 6", s.Records)
			}
		})
	}
}

// Where cutting back fails too, nothing is written any more by this process: a record might be there twice. What is
// left is cut off by the next.
func TestFileThatCannotBeCutBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f := open(t, path, nil)
	if err := f.Write(t.Context(), numbered(2)); err != nil {
		t.Fatal(err)
	}
	heal := audit.Break(f, audit.DiskFault{Write: 100, Truncate: true})
	if err := f.Write(t.Context(), numbered(3)); !errors.Is(err, audit.ErrDisk) {
		t.Errorf("writing: %v", err)
	}
	heal()
	if err := f.Write(t.Context(), numbered(3)); err == nil || !strings.Contains(err.Error(), "cutting it off failed") {
		t.Errorf("writing again: %v", err)
	}
	if err := open(t, path, nil).Write(t.Context(), numbered(1)); err != nil {
		t.Error(err)
	}
	if s := verify(t, path, nil); s.Records != 3 {
		t.Errorf("%d records, want 3", s.Records)
	}
}
