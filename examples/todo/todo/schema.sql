-- Times are microseconds since 1970, so that they sort. Lists and metadata are JSON.
CREATE TABLE IF NOT EXISTS todos (
	todo_id      TEXT    NOT NULL PRIMARY KEY,
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

-- Steps of imports that have written their todo: the result of a step may be lost with its process.
CREATE TABLE IF NOT EXISTS imported (
	step TEXT NOT NULL PRIMARY KEY
) STRICT;

-- Pages of any order are found in these, but for that by priority, whose index is for filters by it.
CREATE INDEX IF NOT EXISTS todos_title ON todos (title, todo_id);
CREATE INDEX IF NOT EXISTS todos_due_at ON todos (due_at, todo_id);
CREATE INDEX IF NOT EXISTS todos_created_at ON todos (created_at, todo_id);
CREATE INDEX IF NOT EXISTS todos_updated_at ON todos (updated_at, todo_id);
CREATE INDEX IF NOT EXISTS todos_priority ON todos (priority, todo_id);
