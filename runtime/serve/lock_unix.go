//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package serve

import (
	"errors"
	"os"
	"syscall"
)

// lockFile makes a file and locks it; unlock removes it. It fails if another process holds the lock. The lock of a
// process that was killed is free.
func lockFile(path string) (unlock func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && hasName(f, path) {
			return func() {
				os.Remove(path)
				_ = f.Close() // nothing was written
			}, nil
		}
		_ = f.Close() // nothing was written
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.New("another process is just doing that")
		case err != nil && !errors.Is(err, syscall.EINTR):
			return nil, err
		}
	}
}

// hasName reports whether a file has its name still: who held the lock before has removed it.
func hasName(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}
