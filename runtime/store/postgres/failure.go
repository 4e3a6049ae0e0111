package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
)

// opening is what Open was doing when it failed.
const opening = "opening the PostgreSQL store"

// failure is an error whose text can be shown to everyone: it names no host, user or password.
type failure struct {
	doing, why string
	cause      error
}

func (f *failure) Error() string { return f.doing + ": " + f.why }
func (f *failure) Unwrap() error { return f.cause }

// Is reports a failure of a server that has too much to do as store.ErrBusy.
func (f *failure) Is(target error) bool {
	var network net.Error
	return target == store.ErrBusy && (slices.Contains(busyCodes, codeOf(f.cause)) ||
		errors.Is(f.cause, context.DeadlineExceeded) || errors.As(f.cause, &network) && network.Timeout())
}

// failed wraps an error as a failure. It returns nil for nil.
func failed(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		err = connecting.Unwrap() // without the settings, which have the password
	}
	if ended := ctx.Err(); ended != nil { // which is the reason of the failure
		return &failure{doing: doing, why: reason(ended), cause: errors.Join(ended, err)}
	}
	return &failure{doing: doing, why: reason(err), cause: err}
}

func reason(err error) string {
	var refused *pgconn.PgError
	var network net.Error
	var name *net.DNSError
	var number syscall.Errno
	switch {
	case errors.As(err, &refused):
		if why, ok := reasons[refused.Code]; ok {
			return why + " (SQLSTATE " + refused.Code + ")"
		}
		return refused.Message + " (SQLSTATE " + refused.Code + ")"
	case errors.Is(err, context.Canceled):
		return "the call was given up"
	case errors.Is(err, context.DeadlineExceeded):
		return "the server did not answer in time"
	case errors.Is(err, puddle.ErrClosedPool):
		return "the store is closed"
	case errors.As(err, &name):
		return "the name of the server's host was not found"
	case errors.As(err, &number):
		return "the server cannot be reached: " + number.Error()
	case errors.As(err, &network) && network.Timeout():
		return "the server did not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "the server closed the connection"
	}
	return "the connection to the server failed"
}

// Codes of the server. Its messages are written for the author of a statement.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	readOnly             = "25006"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	tooManyConnections   = "53300"
)

// busyCodes are the codes of a server that has too much to do: no connection or memory is left, or a transaction that
// waited for others was ended.
var busyCodes = []string{
	tooManyConnections, serializationFailure, deadlockDetected,
	"53000", "53200", // resources, memory
	"55P03", "57014", // a wait for a lock, a statement that took too long
	"25P03", "25P04", // a transaction that took too long
}

var reasons = map[string]string{
	readOnly:           "the server takes no changes: it is read-only",
	adminShutdown:      "the server was stopped, or ended the connection",
	crashShutdown:      "the server was stopped, or ended the connection",
	"57P03":            "the server is not ready: it starts or stops",
	tooManyConnections: "the server has no connection left",
	"53100":            "the server's disk is full",
	"28P01":            "the server refused the user name or the password",
	"28000":            "the server refused the user name or the password",
	"3D000":            "there is no such database on the server",
	"42501": "the server does not permit it to this user; for the tables to be created, " +
		"the user must own their schema or be permitted to create it",
	"42P01": "the tables of the store are not there; they are created when a store is opened",
	"25P03": "the transaction took too long",
}

func codeOf(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// attempts bounds how often a call is made.
const attempts = 10

// try makes a call, and repeats it if it certainly had no effect. A call that only reads can be repeated after every
// failure of the connection.
func (s *Store) try(ctx context.Context, doing string, reads bool, call func() error) error {
	for n := 1; ; n++ {
		err := ctx.Err()
		if err == nil {
			err = call()
		}
		if err == nil {
			return nil
		}
		code := codeOf(err)
		if code == readOnly || code == adminShutdown || code == crashShutdown {
			s.pool.Reset() // the other connections fail as well, or another server has taken over
		}
		repeatable := code == serializationFailure || code == deadlockDetected || pgconn.SafeToRetry(err) ||
			reads && n < 3 && lost(err, code)
		if !repeatable || n == attempts || ctx.Err() != nil {
			return failed(ctx, doing, err)
		}
	}
}

// lost reports whether an error is the loss of an established connection.
func lost(err error, code string) bool {
	var connecting *pgconn.ConnectError
	return !errors.As(err, &connecting) && (code == "" || code == adminShutdown || code == crashShutdown)
}
