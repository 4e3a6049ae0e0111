//go:build unix

package postgres_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/store/postgres"
)

const form = "the location of the PostgreSQL store is not understood; it has the form " +
	"postgres://user:password@host:port/database?parameter=value, with special characters written as %XX"

const misplaced = `the location of the PostgreSQL store has "@" in a place where it is not understood; ` +
	`in user names, passwords and parameters, write "@" as %40 and "/" as %2F`

const schemaRule = "the location of the PostgreSQL store: " +
	"aql_schema must be up to 63 lower-case letters, digits and _, " +
	"and not begin with a digit or pg_"

// Errors about a location do not quote it: a password that is not escaped can be anywhere in it.
func TestLocationsThatAreNotUnderstood(t *testing.T) {
	for name, test := range map[string]struct{ location, want string }{
		"another scheme": {"mysql://u:hunter2@h/d",
			"the location of a PostgreSQL store has the form postgres://user:password@host:port/database"},
		"keywords and values": {"host=h password=hunter2",
			"the location of a PostgreSQL store has the form postgres://user:password@host:port/database"},
		"a slash in the password":   {"postgres://u:hunter2/x@h/d", misplaced},
		"an at in the password":     {"postgres://u:hunter2@x@h/d", misplaced},
		"an at in a parameter":      {"postgres://h/d?password=hunter2@", misplaced},
		"a percent in the password": {"postgres://u:hunter2%@h/d", form},
		"a port that is none":       {"postgres://u:x@h:hunter2/d", form},
		"no host":                   {"postgres://u:hunter2", form},
		"a parameter without value": {"postgres://u:hunter2@h/d?sslmode",
			"the location of the PostgreSQL store: the value of the parameter sslmode is not understood"},
		"a mode that is none": {"postgres://u:hunter2@h/d?aql_schema=x&sslmode=hunter2",
			"the location of the PostgreSQL store: the value of the parameter sslmode is not understood"},
		"a number that is none": {"postgres://u:hunter2@h/d?connect_timeout=5&pool_max_conns=many",
			"the location of the PostgreSQL store: the value of the parameter pool_max_conns is not understood"},
		"two parameters that are wrong": {"postgres://u:hunter2@h/d?pool_max_conns=many&sslmode=x", form},
		"a schema with capitals":        {"postgres://u:hunter2@h/d?aql_schema=Aql", schemaRule},
		"a schema with a quote":         {"postgres://u:hunter2@h/d?aql_schema=a'b", schemaRule},
		"a schema of the server":        {"postgres://u:hunter2@h/d?aql_schema=pg_x", schemaRule},
		"a schema without a name":       {"postgres://u:hunter2@h/d?aql_schema=", schemaRule},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := postgres.Open(t.Context(), test.location)
			wantError(t, err, test.want)
		})
	}
}

func FuzzLocation(f *testing.F) {
	f.Add("hunter2", "sslmode=disable", "/d")
	f.Add("hun?ter#2", "aql_schema=x&pool_max_conns=x", "")
	f.Add("%", "&&=", "@")
	f.Fuzz(func(t *testing.T, password, parameters, path string) {
		const secret = "hunter2"
		location := "postgres://u:" + password + secret + "@localhost" + path + "?" + parameters
		if _, _, err := postgres.ParseLocation(location); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", location, err)
		}
	})
}
