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

// Tokens are for the owner of the process alone; who made the file for others decides for himself.
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

// A file that cannot be written is told when it is opened, not when the first token is to be kept.
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
	cmd := exec.Command(program)
	cmd.Dir = folder
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	p := startCommand(t, "obey", cmd)
	for path, want := range map[string]string{
		path:                             "cannot be",
		filepath.Join(folder, "another"): "it cannot be created: permission denied",
	} {
		p.say("open " + path)
		if heard := p.hear(); !strings.Contains(heard, want) {
			t.Errorf("%s\nwant: %s", heard, want)
		}
	}
	if err := errors.Join(os.Chmod(path, 0), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	p.say("open " + path)
	if heard := p.hear(); !strings.Contains(heard, "cannot be opened") {
		t.Error(heard)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	p.say("open " + path)
	if heard := p.hear(); !strings.Contains(heard, "cannot be written") {
		t.Error(heard)
	}
}
