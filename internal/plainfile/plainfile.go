// Package plainfile reads and writes files that people name on a command line. It never waits for a named pipe that
// nobody else has open, and puts no file in the place of a device, a pipe or a link.
package plainfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ErrNotFile means that a name leads to a folder, a named pipe, a socket or a device.
var ErrNotFile = errors.New("not a file")

// patience is how long Read waits for a process that holds a pipe open and writes nothing.
const patience = 5 * time.Minute

// Read reads a file, or what other processes write to a pipe until all have closed it: a named pipe, or the <(COMMAND)
// of a shell. It fails on what is neither, on more than most bytes, on a named pipe that nobody has opened to write,
// and when the context ends.
func Read(ctx context.Context, name string, most int64) ([]byte, error) {
	return read(ctx, name, most, patience)
}

func read(ctx context.Context, name string, most int64, wait time.Duration) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	pipe := info.Mode()&fs.ModeNamedPipe != 0
	if !pipe && !info.Mode().IsRegular() {
		return nil, notFile(name, info)
	}
	if pipe {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		defer context.AfterFunc(ctx, func() {
			file.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // where pipes have no deadlines, Read waits
		})()
	}
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		return nil, fmt.Errorf("reading %s: %w", name, context.Cause(ctx))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%s is a named pipe, and nobody wrote to it for %v", name, wait)
	case err != nil:
		return nil, err
	case pipe && len(content) == 0:
		return nil, fmt.Errorf("%s is a named pipe that nobody writes to", name)
	case int64(len(content)) > most:
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return content, nil
}

// Write gives a file new content, and makes it if there is none. A device or pipe gets the content. Write fails on a
// named pipe that nobody has opened to read.
func Write(name string, content []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, mode)
	if errors.Is(err, syscall.ENXIO) {
		return fmt.Errorf("%s is a named pipe that nobody reads", name)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// Replaceable fails if there is something other than a file under a name, which a command that renames a file over it
// would take away.
func Replaceable(name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	return notFile(name, info)
}

// Readable fails if a name leads to something other than a file, which to read could take for ever. There may be
// nothing, and links are followed.
func Readable(name string) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	return notFile(name, info)
}

func notFile(name string, info fs.FileInfo) error {
	return fmt.Errorf("%s is %s, %w", name, kind(info.Mode()), ErrNotFile)
}

// kind says what is no regular file, such as "a named pipe".
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
