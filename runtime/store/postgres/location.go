package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// schemaParameter is the parameter that names the schema of the tables. It is not sent to the server.
const schemaParameter = "aql_schema"

var (
	schemaName    = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
	parameterName = regexp.MustCompile(`^[a-z_]{1,40}$`)
)

// parseLocation parses a location. Its errors do not quote the location: a password that is not escaped can be anywhere
// in it.
func parseLocation(location string) (config *pgxpool.Config, schema string, err error) {
	scheme, rest, _ := strings.Cut(location, "://")
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, "", errors.New("the location of a PostgreSQL store has the form " +
			"postgres://user:password@host:port/database")
	}
	if before, after, ok := strings.Cut(rest, "@"); ok && (strings.Contains(before, "/") || strings.Contains(after, "@")) {
		return nil, "", errors.New(`the location of the PostgreSQL store has "@" in a place where it is not understood; ` +
			`in user names, passwords and parameters, write "@" as %40 and "/" as %2F`)
	}
	base, parameters := splitParameters(location)
	schema = "aql"
	kept := parameters[:0:0]
	for _, parameter := range parameters {
		if value, ok := strings.CutPrefix(parameter, schemaParameter+"="); ok {
			schema = value
			continue
		}
		kept = append(kept, parameter)
	}
	if !schemaName.MatchString(schema) || strings.HasPrefix(schema, "pg_") {
		return nil, "", fmt.Errorf("the location of the PostgreSQL store: %s must be up to 63 lower-case letters, "+
			"digits and _, and not begin with a digit or pg_", schemaParameter)
	}
	config, err = pgxpool.ParseConfig(joinParameters(base, kept))
	if err != nil {
		return nil, "", explainParameters(base, kept)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTimeout
	}
	if _, given := config.ConnConfig.RuntimeParams[idleParameter]; !given && !byTransaction(config) {
		config.AfterConnect = boundTransactions
	}
	return config, schema, nil
}

// idleParameter is the setting of a session that bounds how long a transaction may wait for its next statement.
const idleParameter = "idle_in_transaction_session_timeout"

// byTransaction reports whether connections may come from a pool that assigns them by transaction: a setting would then
// be that of others.
func byTransaction(config *pgxpool.Config) bool {
	mode := config.ConnConfig.DefaultQueryExecMode
	return mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol
}

// boundTransactions has the server end a transaction whose process says nothing for a while, such as one that is
// frozen: what it has locked is free for others then. A server that does not know the setting goes without.
func boundTransactions(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "set "+idleParameter+" = '5s'")
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return nil
	}
	return err
}

// explainParameters returns the error for the parameter because of which a location was refused.
func explainParameters(base string, parameters []string) error {
	for i, parameter := range parameters {
		name, _, _ := strings.Cut(parameter, "=")
		others := append(parameters[:i:i], parameters[i+1:]...)
		if _, err := pgxpool.ParseConfig(joinParameters(base, others)); err == nil && parameterName.MatchString(name) {
			return fmt.Errorf("the location of the PostgreSQL store: the value of the parameter %s is not understood", name)
		}
	}
	return errors.New("the location of the PostgreSQL store is not understood; it has the form " +
		"postgres://user:password@host:port/database?parameter=value, with special characters written as %XX")
}

func splitParameters(location string) (base string, parameters []string) {
	start := strings.Index(location, "@") + 1 // a password may contain a question mark
	end := strings.Index(location[start:], "?")
	if end < 0 {
		return location, nil
	}
	return location[:start+end], strings.Split(location[start+end+1:], "&")
}

func joinParameters(base string, parameters []string) string {
	if len(parameters) == 0 {
		return base
	}
	return base + "?" + strings.Join(parameters, "&")
}
