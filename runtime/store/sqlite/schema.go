package sqlite

import (
	_ "embed"
	"errors"
	"fmt"
)

// release is the version of the schema, which is the user_version of the file.
const release = 1

// application is the application_id of files of this package: "aqlS".
const application = 0x61716c53

//go:embed schema.sql
var schema string

// prepareSchema creates the tables in an empty file, and turns on its write-ahead log. It changes nothing in a file of
// another program.
func prepareSchema(c *connection) error {
	created, err := inspect(c)
	if err != nil {
		return err
	}
	if !created {
		if err := create(c); err != nil {
			return err
		}
	}
	var mode string
	if err := c.queryRow("PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the journal mode is %q and cannot be changed to WAL here: use a local filesystem", mode)
	}
	// Only a change shows whether the file can be written.
	if err := c.exec(begin); err != nil {
		return err
	}
	return errors.Join(c.exec("UPDATE versions SET last = last WHERE id = 1"), c.exec(rollback))
}

// create creates the tables, unless another process has done so meanwhile.
func create(c *connection) (err error) {
	if err := c.exec(begin); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = c.exec(rollback) // SQLite may have rolled back by itself
		}
	}()
	created, err := inspect(c)
	if err != nil {
		return err
	}
	if !created {
		for _, statement := range []string{
			schema,
			fmt.Sprintf("PRAGMA application_id = %d", application),
			fmt.Sprintf("PRAGMA user_version = %d", release),
		} {
			if err := c.exec(statement); err != nil {
				return err
			}
		}
	}
	return c.exec(commit)
}

// inspect reports whether the tables exist. It fails for a file of another program or of a later release.
func inspect(c *connection) (created bool, err error) {
	var app, version, tables int64
	const query = "SELECT (SELECT application_id FROM pragma_application_id)," +
		" (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)"
	if err := c.queryRow(query).Scan(&app, &version, &tables); err != nil {
		return false, err
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return false, nil
	case app != application:
		return false, errors.New("it is the database of another program: name another file")
	case version > release:
		return false, fmt.Errorf("it was written by a later release (form %d, this release knows %d): "+
			"use that release, or name another file", version, release)
	case version < release:
		return false, fmt.Errorf("its form %d is not known", version)
	}
	return true, nil
}
