//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The file is readable by the owner of the process only, unless it existed with other permissions.
func TestFilesAreTheirOwnersAlone(t *testing.T) {
	existing := file(t, "")
	if err := os.Chmod(existing, 0o660); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{filepath.Join(t.TempDir(), "state.db"): 0o600, existing: 0o660} {
		s := open(t, path)
		if _, err := s.Put(t.Context(), "a", nil, 0, 0); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(path + suffix)
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("state.db%s: %v, %v; want %v", suffix, info.Mode(), err, want)
			}
		}
	}
}

// Opening a file that cannot be written fails, and not only the first change.
func TestReadOnly(t *testing.T) {
	// Root may write everything, so another user tries, with a program and in a folder that it can reach.
	folder, err := os.MkdirTemp("", "readonly")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	path := filepath.Join(folder, "state.db")
	s := open(t, path)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "program")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(program, text, 0o755), os.Chmod(path, 0o444), os.Chmod(folder, 0o555)); err != nil {
		t.Fatal(err)
	}
	expect := func(path, want string) {
		t.Helper()
		cmd := exec.Command(program, path, "name")
		cmd.Dir = folder
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		w := startCommand(t, cmd)
		if !w.lines.Scan() || !strings.HasPrefix(w.lines.Text(), "failed") || !strings.Contains(w.lines.Text(), want) {
			t.Errorf("%s\nwant: %s", w.lines.Text(), want)
		}
	}
	expect(path, "cannot be")
	expect(filepath.Join(folder, "another"), "it cannot be created: permission denied")
	if err := errors.Join(os.Chmod(path, 0), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	expect(path, "cannot be opened")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	expect(path, "cannot be written")
}
