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

// creating is held while a file is created. It is the process's, as what it guards is: when a process closes any
// descriptor of a file, the locks that SQLite has on that file through other descriptors are gone.
var creating sync.Mutex

// prepareFile sees to it that there is a file to open, for its owner alone where it makes one, and returns its absolute
// path and what identifies it.
func prepareFile(path string) (string, fs.FileInfo, error) {
	switch {
	case path == "":
		return "", nil, errors.New("a path is missing")
	case strings.HasPrefix(path, ":memory:"):
		return "", nil, errors.New("each connection would have a memory of its own; open a file, or leave the location out to keep state in memory")
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
		// An existing file in a folder that cannot be written is told by the stat below.
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

// reason is an error without the path, which the message names already.
func reason(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// openDatabase makes connections to a file that exists. They never wait for locks, because waiting in SQLite does not end
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

// check fails where the path leads to another file than the one that was opened, or to none: what is written into a file
// that others no longer see would be no state at all.
func (s *Store) check() error {
	now, err := os.Stat(s.path)
	if err != nil || !os.SameFile(now, s.identity) {
		return errMissing
	}
	return nil
}
