//go:build !unix

package wire

import (
	"context"
	"database/sql"
	"fmt"
)

func openPostgres(context.Context) (*sql.DB, func(), error) { return nil, nil, errSystem }

func openMariaDB(context.Context) (*sql.DB, func(), error) { return nil, nil, errSystem }

var errSystem = fmt.Errorf("%w: no server is started on this system", ErrMissing)
