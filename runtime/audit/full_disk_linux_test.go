package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// On a disk that is really full, records are refused and nothing is left behind; when there is room again, the chain
// goes on, in one file or several (C11). It needs the right to mount.
func TestFileOnAFullDisk(t *testing.T) {
	for _, size := range []int64{0, 20 << 10} {
		t.Run(fmt.Sprint("closed at ", size), func(t *testing.T) {
			fillDisk(t, audit.FileOptions{Key: secret, MaxSize: size})
		})
	}
}

func fillDisk(t *testing.T, opts audit.FileOptions) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	open := func() *audit.File {
		t.Helper()
		f, err := audit.OpenFile(t.Context(), path(dir), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	kept := func() int { return len(keptIn(t, path(dir))) }
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 100<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	f := open()
	acknowledged, failed := 0, 0
	write := func(f *audit.File) error {
		r := numbered(7)
		for i := range r {
			r[i].RequestID = fmt.Sprint(acknowledged + i)
		}
		err := f.Write(t.Context(), r)
		if err == nil {
			acknowledged += 7
		}
		return err
	}
	for failed < 5 {
		if err := write(f); errors.Is(err, syscall.ENOSPC) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	verify(t, path(dir), secret)
	if acknowledged == 0 || kept() != acknowledged {
		t.Errorf("%d records are there, %d are acknowledged", kept(), acknowledged)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for _, sink := range []*audit.File{f, open()} {
		if err := write(sink); err != nil {
			t.Error(err)
		}
	}
	verify(t, path(dir), secret)
	if kept() != acknowledged {
		t.Errorf("%d records are there, %d are acknowledged", kept(), acknowledged)
	}
}

func path(dir string) string { return filepath.Join(dir, "audit.jsonl") }
