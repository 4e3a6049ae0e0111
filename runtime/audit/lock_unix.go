//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// The two kinds of lock: one writer, or any number of readers.
const (
	exclusive = syscall.LOCK_EX
	shared    = syscall.LOCK_SH
)

// appending opens a file so that every write goes to its end, even if another process ignores the lock.
const appending = syscall.O_APPEND

// rotates says that files can be rotated.
const rotates = true

// lock waits for a lock on f until ctx ends. The kernel releases the lock when the process dies.
func lock(ctx context.Context, f *os.File, kind int) error {
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		switch err := syscall.Flock(int(f.Fd()), kind|syscall.LOCK_NB); {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("locking it: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for another process to unlock it: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

func unlock(f *os.File) {
	syscall.Flock(int(f.Fd()), syscall.LOCK_UN) //nolint:errcheck // closing the file unlocks it too
}

// claim does nothing: locks separate the writers.
func claim(string) (release func(), err error) { return func() {}, nil }

// syncFolder syncs a directory, so that the name of a new file is durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
