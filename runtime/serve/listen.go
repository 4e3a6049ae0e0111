package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// socketScheme begins the address of a Unix socket: unix:/run/notes.sock.
const socketScheme = "unix:"

// listen listens on an address, and returns it for the log.
func listen(ctx context.Context, addr string) (net.Listener, string, error) {
	if path, ok := strings.CutPrefix(addr, socketScheme); ok {
		listener, err := listenSocket(ctx, path)
		return listener, addr, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, "", err
	}
	return listener, "http://" + listener.Addr().String() + "/mcp", nil
}

// socket is a Unix socket in the file system, which Close removes.
type socket struct {
	net.Listener
	path string
	made fs.FileInfo
}

// longestPath is the number of bytes that a socket's path has at most, on all systems.
const longestPath = 103

// listenSocket makes a Unix socket that only the user of this process can connect to. A socket of this name that nobody
// listens on, left by a process that was killed, is replaced.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	if path == "" {
		return nil, errors.New("the path of the socket is missing")
	}
	if _, err := isStale(ctx, path); err != nil {
		return nil, err
	}
	// The socket gets its mode before it gets its name: nobody else can connect meanwhile.
	folder, err := os.MkdirTemp(filepath.Dir(path), ".aql")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	hidden := filepath.Join(folder, "s")
	if max(len(hidden), len(path)) > longestPath {
		return nil, fmt.Errorf("the path %s is too long for a socket; choose one in another folder", path)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", hidden)
	if err != nil {
		return nil, err
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // of the name that it had first
	s := &socket{Listener: listener, path: path}
	err = os.Chmod(hidden, 0o600)
	if err == nil {
		s.made, err = os.Lstat(hidden)
	}
	if err == nil {
		err = name(ctx, hidden, path)
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return s, nil
}

// dialTimeout bounds how long the process at the other end of a socket may take to accept.
const dialTimeout = time.Second

// name gives a socket that listens its name, which no other file has: of several processes that start at the same time,
// one succeeds. A socket that nobody listens on is removed before.
func name(ctx context.Context, hidden, path string) error {
	err := os.Link(hidden, path)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	unlock, err := lockFile(path + ".lock") // so that what is removed is what was looked at
	if err != nil {
		return fmt.Errorf("replacing the socket %s: %w", path, err)
	}
	defer unlock()
	stale, err := isStale(ctx, path)
	if err != nil {
		return err
	}
	if stale {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return os.Link(hidden, path)
}

// isStale reports whether the file at the path of a socket that is to be made is a socket that nobody listens on. It
// returns an error if there is another file.
func isStale(ctx context.Context, path string) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSocket == 0:
		return false, fmt.Errorf("%s exists and is not a socket", path)
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	connection, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		_ = connection.Close() // it was opened to see whether it can be
		return false, fmt.Errorf("another process listens on %s", path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
		return false, nil
	case !errors.Is(err, syscall.ECONNREFUSED):
		return false, fmt.Errorf("finding out whether a process listens on %s: %w", path, err)
	}
	return true, nil
}

// Close ends the listening and removes the socket, unless another one has its name by now.
func (s *socket) Close() error {
	if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.made) {
		os.Remove(s.path)
	}
	return s.Listener.Close()
}
