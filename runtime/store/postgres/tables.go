package postgres

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// form is the version of the tables. A release that changes the tables increases it.
const form = 1

// statements are the SQL statements, with the name of the schema.
type statements struct {
	schema string

	look, form, createSchema, createTables string

	get, create, replace, remove, list string
	sweepEntries, sweepCounters        string
	read, lock, write                  string
}

// durable, as a column that a change returns, makes its commit durable even if synchronous_commit is off.
const durable = `case when current_setting('synchronous_commit') = 'off'
	then set_config('synchronous_commit', 'on', true) end`

func newStatements(schema string) statements {
	in := func(text string) string { return strings.ReplaceAll(text, "SCHEMA", schema) } // schemaName needs no quotes
	const (
		live = `(expires_at is null or expires_at > clock_timestamp())`
		ttl  = `clock_timestamp() + $3::bigint * interval '1 millisecond'` // null without a ttl
		now  = `(extract(epoch from clock_timestamp()) * 1000000)::bigint`
		ends = `(extract(epoch from expires_at) * 1000000)::bigint`
	)
	return statements{
		schema: schema,
		form:   in(`select version from SCHEMA.form`),
		// From the catalogue: functions such as to_regclass may answer with the state before a lock was waited for.
		look: in(`
			select exists (select from pg_catalog.pg_namespace where nspname = 'SCHEMA'),
			       exists (select from pg_catalog.pg_tables where schemaname = 'SCHEMA' and tablename = 'form')`),
		createSchema: in(`create schema SCHEMA`),
		createTables: in(`
			create sequence SCHEMA.versions as bigint;
			create table SCHEMA.entries (
				key        bytea       primary key,
				value      bytea       not null,
				version    bigint      not null,
				expires_at timestamptz
			);
			create index entries_expire on SCHEMA.entries (expires_at) where expires_at is not null;
			create table SCHEMA.counters (
				key        bytea       primary key,
				value      bytea       not null,
				expires_at timestamptz not null
			);
			create index counters_expire on SCHEMA.counters (expires_at);
			create table SCHEMA.form (version integer not null);
			comment on table SCHEMA.form is 'version of the tables of this schema';
			insert into SCHEMA.form values (` + fmt.Sprint(form) + `)`),

		get: in(`select value, version from SCHEMA.entries where key = $1::bytea and ` + live),
		create: in(`
			insert into SCHEMA.entries as e (key, value, version, expires_at)
			values ($1::bytea, $2::bytea, nextval('SCHEMA.versions'), ` + ttl + `)
			on conflict (key) do update
				set value = excluded.value, version = excluded.version, expires_at = ` + ttl + `
				where e.expires_at <= clock_timestamp()
			returning version, ` + durable),
		replace: in(`
			update SCHEMA.entries
			set value = $2::bytea, version = nextval('SCHEMA.versions'), expires_at = ` + ttl + `
			where key = $1::bytea and version = $4::bigint and ` + live + `
			returning version, ` + durable),
		remove: in(`
			delete from SCHEMA.entries where key = $1::bytea and version = $2::bigint and ` + live + `
			returning ` + durable),
		list: in(`
			select key, value, version from SCHEMA.entries
			where key >= $1::bytea and key > $2::bytea and ($3::bytea is null or key < $3::bytea) and ` + live + `
			order by key limit $4::bigint`),

		// With the time of the statement, unlike that of the clock, the server can use the index.
		sweepEntries: in(`
			delete from SCHEMA.entries where key = any (array(
				select key from SCHEMA.entries where expires_at <= statement_timestamp()
				order by expires_at limit $1::bigint for update skip locked))`),
		sweepCounters: in(`
			delete from SCHEMA.counters where key = any (array(
				select key from SCHEMA.counters where expires_at <= statement_timestamp()
				order by expires_at limit $1::bigint for update skip locked))`),

		// An existing row is locked although nothing is changed: one statement takes all locks, in one order.
		lock: in(`
			insert into SCHEMA.counters as c (key, value, expires_at)
			select key, ''::bytea, clock_timestamp() from unnest($1::bytea[]) as key order by key
			on conflict (key) do update set value = c.value where false`),
		// At least one row, which has the time.
		read: in(`
			select c.key, c.value, ` + ends + `, ` + now + `
			from (values (1)) as one left join SCHEMA.counters as c on c.key = any ($1::bytea[])`),
		write: in(`
			update SCHEMA.counters as c
			set value = u.value, expires_at = clock_timestamp() + u.keep * interval '1 millisecond'
			from unnest($1::bytea[], $2::bytea[], $3::bigint[]) as u (key, value, keep)
			where c.key = u.key`),
	}
}

// prepareTables creates the tables if they do not exist, and fails if they are those of another release.
func (s *Store) prepareTables(ctx context.Context) error {
	_, tables, err := s.look(ctx, s.pool)
	if err == nil && !tables {
		// One transaction creates all of them or none.
		err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			return s.createTables(ctx, tx)
		})
	}
	if err != nil {
		return failed(ctx, opening, err)
	}
	var version int
	if err := s.pool.QueryRow(ctx, s.sql.form).Scan(&version); err != nil {
		return failed(ctx, opening, err)
	}
	if version != form {
		return fmt.Errorf("%s: the tables in the schema %s are of version %d, and this release knows version %d; "+
			"use the release that made them, or another schema", opening, s.sql.schema, version, form)
	}
	return nil
}

func (s *Store) createTables(ctx context.Context, tx pgx.Tx) error {
	// If several processes come at the same time, one creates the tables and the others wait.
	lock := fnv.New64a()
	io.WriteString(lock, "aql tables "+s.sql.schema)
	if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1::bigint)`, int64(lock.Sum64())); err != nil {
		return err
	}
	schema, tables, err := s.look(ctx, tx)
	if err != nil || tables {
		return err
	}
	if !schema { // a role that owns the schema may not have the right to create one
		if _, err := tx.Exec(ctx, s.sql.createSchema); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, s.sql.createTables)
	return err
}

// look reports whether the schema and its tables exist.
func (s *Store) look(ctx context.Context, at interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (schema, tables bool, err error) {
	err = at.QueryRow(ctx, s.sql.look).Scan(&schema, &tables)
	return schema, tables, err
}
