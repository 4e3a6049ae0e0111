//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// On systems without flock, one process at a time may have the file open: claim keeps out the others.
const (
	exclusive = iota
	shared
)

// appending is no flag: some of these systems cannot truncate a file that is open for appending.
const appending = 0

// rotates says that files cannot be rotated: some of these systems cannot rename a file that is open.
const rotates = false

func lock(context.Context, *os.File, int) error { return nil }

func unlock(*os.File) {}

// claim reserves the file for this process by creating a second file, which release removes. If the process is killed,
// the second file remains, and a person must remove it.
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
