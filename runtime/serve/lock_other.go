//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lockFile makes a file, which unlock removes. It fails if there is one. Without flock, that of a process that was
// killed remains, and a person must remove it.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("another process is just doing that; if it is gone, remove %s", path)
	}
	if err != nil {
		return nil, err
	}
	_ = f.Close() // nothing was written
	return func() { os.Remove(path) }, nil
}
