-- Times are microseconds since 1970, so that they sort. Lists and metadata are JSON.
CREATE TABLE IF NOT EXISTS todos (
	seq          INTEGER PRIMARY KEY,
	todo_id      TEXT    NOT NULL UNIQUE,
	title        TEXT    NOT NULL,
	notes        TEXT    NOT NULL,
	priority     TEXT    NOT NULL,
	status       TEXT    NOT NULL,
	due_at       INTEGER,
	tags         TEXT    NOT NULL,
	metadata     TEXT    NOT NULL,
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	completed_at INTEGER, -- NULL while the todo is open
	version      INTEGER NOT NULL DEFAULT 1
) STRICT;
