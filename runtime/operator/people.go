package operator

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/words"
)

// personDocument is somebody with a passphrase, as -json prints it.
type personDocument struct {
	Name   string        `json:"name,omitempty"` // empty: it is not known
	Issuer string        `json:"issuer,omitempty"`
	Role   identity.Role `json:"role,omitempty"` // empty: it cannot be read, and the person may do nothing
	Digest string        `json:"digest"`
}

// people prints who decides here, and in which role.
func (d *Desk) people(ctx context.Context, f Flags) error {
	all, err := d.book().People(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 && !f.JSON {
		fmt.Fprintln(d.Stdout, "Nobody has a passphrase, and nobody has a role.")
	}
	table := tabwriter.NewWriter(d.Stdout, 0, 0, 2, ' ', 0)
	for _, p := range all {
		if f.JSON {
			err := d.printDocument(personDocument{
				Name: p.Who.Subject, Issuer: p.Who.Issuer, Role: p.Role, Digest: p.Digest,
			})
			if err != nil {
				return err
			}
			continue
		}
		name, role := words.Printable(p.Who.Subject), string(p.Role)
		if p.Who.Anonymous() {
			name = "name not kept, " + p.Digest
		}
		if role == "" {
			role = "none: what the state has of it is damaged, or of another key or version"
		}
		fmt.Fprintf(table, "%s\t%s\n", name, role)
	}
	return table.Flush()
}
