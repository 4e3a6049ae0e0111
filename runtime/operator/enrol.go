package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// Why a person does not get a role.
var (
	errNoRole   = errors.New("enrol needs -role: viewer, approver or admin")
	errNotGiven = errors.New("nothing is done: only an admin gives other people roles, or somebody a greater one")
)

// decides reports whether a subcommand takes a role.
func decides(word string) bool {
	switch word {
	case "list", "show", "watch", "health", "passphrase", "people", "link", "executions", "audit":
		return false
	}
	return true
}

// enter finds out as what the person is at the desk.
func (d *Desk) enter(ctx context.Context) error {
	// Without a state nobody can be told apart from the owner of the process.
	d.person = desk.Person{Who: d.Who, Role: identity.Admin, Groups: d.Groups, Channel: approve.Terminal}
	if d.State == nil {
		return nil
	}
	known, err := d.book().Account(ctx, d.Who)
	d.person.Role = known.Role
	return err
}

// enrol gives a role to the person of a name, or to the one at the desk, and a passphrase if that person has none.
func (d *Desk) enrol(ctx context.Context, f Flags, names []string) error {
	role, err := identity.ParseRole(f.Role)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoRole, err)
	}
	who := d.Who
	if len(names) > 0 {
		who = identity.User(names[0])
	}
	own := who.Key() == d.Who.Key()
	known, err := d.book().Account(ctx, who)
	if err != nil {
		return err
	}
	t, err := d.dialog("a role is given")
	if err != nil {
		return err
	}
	defer t.Close()
	if err := d.logIn(ctx, t, !own); err != nil {
		return err
	}
	if !d.person.Role.Includes(identity.Admin) && (!own || !known.Role.Includes(role)) {
		return errNotGiven
	}
	typed := ""
	if known.Version == 0 {
		if typed, err = t.askNew(ctx, "New passphrase of "+words.Printable(who.Subject)); err != nil {
			return err
		}
	}
	if err := d.recordRole(ctx, who, role, audit.Allowed); err != nil {
		return fmt.Errorf("nobody is given a role: recording that: %w", err)
	}
	if err := d.book().Enrol(ctx, who, known.Version, typed, role); err != nil {
		return errors.Join(err, d.recordRole(ctx, who, role, audit.Failure))
	}
	fmt.Fprintf(d.Stdout, "%s is %s from now on, and logs in again where that was done before.\n",
		words.Printable(who.Subject), role)
	return nil
}

// recordRole records that a person is to get a role, or has not got it.
func (d *Desk) recordRole(ctx context.Context, who identity.Caller, role identity.Role, outcome audit.Outcome) error {
	params, err := json.Marshal(map[string]string{"person": who.Subject, "role": string(role)})
	if err != nil {
		return err
	}
	return d.Audit.Write(ctx, audit.Record{
		Time: d.now(), Event: audit.RoleGiven, Adapter: d.Program, Outcome: outcome, Rule: "terminal", Caller: d.Who,
		Parameters: params, Identifiers: []string{"person", "role"},
	})
}
