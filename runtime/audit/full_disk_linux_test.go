package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// On a disk that is really full, records are refused and nothing is left behind; when there is room again, the chain
// goes on. It needs the right to mount.
func TestFileOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 100<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "audit.jsonl")
	f := open(t, path, secret)
	var kept uint64
	for {
		err := f.Write(t.Context(), numbered(7))
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kept += 7
	}
	if s := verify(t, path, secret); s.Records != kept || kept == 0 {
		t.Errorf("%d records are there, %d are acknowledged", s.Records, kept)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for _, sink := range []*audit.File{f, open(t, path, secret)} {
		if err := sink.Write(t.Context(), numbered(7)); err != nil {
			t.Error(err)
		}
	}
	if s := verify(t, path, secret); s.Records != kept+14 {
		t.Errorf("%d records are there, %d are acknowledged", s.Records, kept+14)
	}
}
