package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	driver "modernc.org/sqlite"
)

// creating is held while a file is created. It is a global of the process because POSIX locks are: when a process
// closes any descriptor of a file, SQLite loses its locks on that file through other descriptors.
var creating sync.Mutex

// prepareFile creates the file if it does not exist, readable by its owner only, and returns its absolute path and its
// identity.
func prepareFile(path string) (string, fs.FileInfo, error) {
	switch {
	case path == "":
		return "", nil, errors.New("a path is missing")
	case strings.HasPrefix(path, ":memory:"):
		return "", nil, errors.New("each connection would have a memory of its own; " +
			"open a file, or leave the location out to keep state in memory")
	case strings.HasPrefix(path, "file:"):
		return "", nil, errors.New("this is a URI; write the path of the file alone")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", nil, err
	}
	creating.Lock()
	defer creating.Unlock()
	switch file, err := os.OpenFile(absolute, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); {
	case err == nil:
		if err := file.Close(); err != nil {
			return "", nil, err
		}
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("its folder %q is missing: make it first", filepath.Dir(absolute))
	case errors.Is(err, fs.ErrExist):
	default:
		// Stat below reports an existing file in a directory that cannot be written.
		if _, missing := os.Stat(absolute); missing != nil {
			return "", nil, fmt.Errorf("it cannot be created: %w", reason(err))
		}
	}
	info, err := os.Stat(absolute)
	switch {
	case err != nil:
		return "", nil, reason(err)
	case info.IsDir():
		return "", nil, errors.New("it is a folder: name a file")
	case !info.Mode().IsRegular():
		return "", nil, errors.New("it is not a regular file")
	}
	return absolute, info, nil
}

// reason returns an error without the path, which the message has already.
func reason(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// openDatabase opens a file that exists. Its connections do not wait for locks, because waiting in SQLite does not end
// with a context: retry waits.
func openDatabase(path string) (*sql.DB, error) {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	file := url.URL{Path: path}
	options := url.Values{"mode": {"rw"}, "_busy_timeout": {"0"}, "_dqs": {"0"}, "_error_rc": {"1"}}
	connector, err := driver.NewConnector("file:" + file.EscapedPath() + "?" + options.Encode())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// checkFile fails if the path no longer names the file that was opened: changes to a file that other processes do not
// see would be lost.
func (s *Store) checkFile() error {
	now, err := os.Stat(s.path)
	if err != nil || !os.SameFile(now, s.identity) {
		return errMissing
	}
	return nil
}
