package wire

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

// openSQLite makes a database in a file, as services have it.
func openSQLite(context.Context) (*sql.DB, func(), error) {
	dir, err := os.MkdirTemp("", "aqlbench")
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "tasks.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=busy_timeout(60000)")
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, err
	}
	return db, func() {
		_ = db.Close()
		_ = os.RemoveAll(dir)
	}, nil
}
