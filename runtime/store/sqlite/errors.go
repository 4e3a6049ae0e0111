package sqlite

import (
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/store"
	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"
)

// primary returns the primary result code of an SQLite error; zero for other errors.
func primary(err error) int {
	var failed *driver.Error
	if errors.As(err, &failed) {
		return failed.Code() & 0xff
	}
	return 0
}

// busy reports whether what failed may succeed in a moment.
func busy(err error) bool {
	switch primary(err) {
	case code.SQLITE_BUSY, code.SQLITE_PROTOCOL, code.SQLITE_LOCKED:
		return true
	}
	return false
}

// explain adds to an SQLite error what it means to the operator.
func explain(err error) error {
	if busy(err) {
		return fmt.Errorf("%w: the state file is locked (%w)", store.ErrBusy, err)
	}
	switch primary(err) {
	case code.SQLITE_FULL:
		return fmt.Errorf("%w: the disk of the state file is full (%w)", store.ErrFull, err)
	case code.SQLITE_READONLY:
		return fmt.Errorf("the state file cannot be written: its file, folder or disk is read-only (%w)", err)
	case code.SQLITE_CANTOPEN, code.SQLITE_PERM:
		return fmt.Errorf("the state file, or a file next to it, cannot be opened (%w)", err)
	case code.SQLITE_NOTADB:
		return fmt.Errorf("the state file is not a database, or damaged: name another file (%w)", err)
	case code.SQLITE_CORRUPT:
		return fmt.Errorf("the state file is damaged: restore it (%w)", err)
	case code.SQLITE_IOERR:
		return fmt.Errorf("the disk of the state file failed (%w)", err)
	}
	return err
}
