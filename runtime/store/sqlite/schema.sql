-- Keys are blobs, so that they compare as bytes. What has an expires_at, in Unix milliseconds, is gone from then on,
-- whether or not its row has been swept away.

CREATE TABLE entries (
	key        BLOB PRIMARY KEY,
	version    INTEGER NOT NULL,
	expires_at INTEGER,
	value      BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX entries_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE counters (
	key        BLOB PRIMARY KEY,
	expires_at INTEGER NOT NULL,
	state      BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX counters_expiry ON counters (expires_at);

-- The last version that was given out: it outlives the entries, so that no version comes again.
CREATE TABLE versions (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	last INTEGER NOT NULL
) STRICT;

INSERT INTO versions (id, last) VALUES (1, 0);
