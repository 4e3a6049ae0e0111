//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Where there is no flock, one process at a time may have the file open: claim keeps the others out.
const (
	exclusive = iota
	shared
)

// appending is nothing: some of these systems do not let a file be cut off that is open for appending only.
const appending = 0

func lock(context.Context, *os.File, int) error { return nil }

func unlock(*os.File) {}

// claim takes the file for this process by making another beside it, which release removes. It stays when the process is
// killed; then someone has to remove it who knows that the process is gone.
func claim(path string) (release func(), err error) {
	name := path + ".lock"
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("another process has it open; if that process is gone, remove %s", name)
	}
	if err != nil {
		return nil, err
	}
	f.Close()
	return func() { os.Remove(name) }, nil
}

func syncFolder(string) error { return nil }
