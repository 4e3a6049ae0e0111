package setup

import (
	"context"
	"net/url"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
)

// Login is a way to log in besides passphrases, such as package console/oidc. It sends the browser to a page of its
// own, which sends it back.
type Login interface {
	// Label stands on the button that begins it, such as "Log in with Example".
	Label() string
	// Begin returns where the browser goes. From there it comes back to an address of the console. kept is a text that
	// this browser keeps meanwhile: what comes back with another one is of somebody else. again says that the person must
	// show who it is, even if that was done before.
	Begin(ctx context.Context, back string, again bool) (to, kept string, err error)
	// Finish returns who has come back, with the fields of the address and the text that the browser has kept. It fails
	// with a *RefusedError if that is nobody who may log in.
	Finish(ctx context.Context, back string, fields url.Values, kept string) (Person, error)
}

// Person is somebody who has logged in.
type Person struct {
	// Who is the person. The issuer is not that of Owner and User in package identity.
	Who identity.Caller
	// Name is for people to read, who know nobody by a number; empty: there is none. It is shown beside Who, without what
	// cannot be seen in it, and clipped. It identifies nobody, and gives no rights.
	Name   string
	Role   identity.Role
	Groups []string // which some items need
	// At is when the person has shown who it is; zero: that is not known, and it is asked to once more before it approves
	// what is dangerous.
	At time.Time
}

// RefusedError says why somebody may not log in.
type RefusedError struct {
	Says string // a sentence for the person
	Err  error  // for the log
}

func (e *RefusedError) Error() string { return e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }
