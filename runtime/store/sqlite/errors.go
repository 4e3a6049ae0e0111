package sqlite

import (
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/store"
	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"
)

// primary is the primary result code of SQLite in an error; zero where there is none.
func primary(err error) int {
	var failed *driver.Error
	if errors.As(err, &failed) {
		return failed.Code() & 0xff
	}
	return 0
}

// busy reports whether the same could succeed in a moment.
func busy(err error) bool {
	switch primary(err) {
	case code.SQLITE_BUSY, code.SQLITE_PROTOCOL, code.SQLITE_LOCKED:
		return true
	}
	return false
}

// explain says what an error of SQLite means for whoever runs the process.
func explain(err error) error {
	switch primary(err) {
	case code.SQLITE_FULL:
		return fmt.Errorf("%w: the disk of the state file is full (%w)", store.ErrFull, err)
	case code.SQLITE_READONLY:
		return fmt.Errorf("the state file cannot be written: its file, folder or disk is read-only (%w)", err)
	case code.SQLITE_CANTOPEN, code.SQLITE_PERM:
		return fmt.Errorf("the state file, or a file beside it, cannot be opened (%w)", err)
	case code.SQLITE_NOTADB:
		return fmt.Errorf("the state file is not a database, or damaged: name another file, or restore it (%w)", err)
	case code.SQLITE_CORRUPT:
		return fmt.Errorf("the state file is damaged: restore it (%w)", err)
	case code.SQLITE_IOERR:
		return fmt.Errorf("the disk of the state file failed (%w)", err)
	}
	return err
}
