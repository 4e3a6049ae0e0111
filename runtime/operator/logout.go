package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/logout"
	"github.com/aqltag/aqltag/runtime/words"
)

// Why nobody is logged out.
var (
	errNotEnded = errors.New("nothing is done: only an admin ends the sessions of other people")
	errNotKnown = errors.New("nothing is done: nobody of this name has a passphrase; say with -issuer who vouches for " +
		"a person who logs in elsewhere")
)

// logOut ends all sessions of a person in consoles.
func (d *Desk) logOut(ctx context.Context, f Flags, name string) error {
	who := identity.User(name)
	if f.Issuer != "" {
		who.Issuer = f.Issuer
	}
	own := who.Key() == d.Who.Key()
	if !own && !d.person.Role.Includes(identity.Admin) {
		return errNotEnded
	}
	if f.Issuer == "" { // a name is soon mistyped, and then the sessions go on
		switch known, err := d.book().Version(ctx, who); {
		case err != nil:
			return err
		case known == 0:
			return errNotKnown
		}
	}
	t, err := d.dialog("people are logged out")
	if err != nil {
		return err
	}
	defer t.Close()
	if err := d.logIn(ctx, t, true); err != nil {
		return err
	}
	if err := d.recordLogout(ctx, who, audit.Allowed); err != nil {
		return fmt.Errorf("nobody is logged out: recording that: %w", err)
	}
	if err := (logout.Book{Store: d.State}).End(ctx, who); err != nil {
		return errors.Join(err, d.recordLogout(context.WithoutCancel(ctx), who, audit.Failure))
	}
	if f.Issuer != "" { // which only the provider knows
		fmt.Fprintf(d.Stdout, "Whoever was logged in to the console as %q of %s is logged out everywhere.\n",
			words.Printable(who.Subject), words.Printable(who.Issuer))
		return nil
	}
	fmt.Fprintf(d.Stdout, "%s is logged out of the console everywhere.\n", words.Printable(who.Subject))
	return nil
}

// recordLogout records that the sessions of a person are to end, or have not.
func (d *Desk) recordLogout(ctx context.Context, who identity.Caller, outcome audit.Outcome) error {
	params, err := json.Marshal(map[string]string{"person": who.Subject, "issuer": who.Issuer})
	if err != nil {
		return err
	}
	return d.Audit.Write(ctx, audit.Record{
		Time: d.now(), Event: audit.SessionsEnded, Adapter: d.Program, Outcome: outcome, Rule: "terminal", Caller: d.Who,
		Parameters: params, Identifiers: []string{"person", "issuer"},
	})
}
