package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/internal/invite"
)

// linkPage asks whether somebody wants to log in by a link.
type linkPage struct {
	Who    string // whom it lets in
	Before string // who is logged in now; empty: nobody is
	To     string // where the form goes
}

// link returns the link of a secret, whose person has the same passphrase and role as when it was made. It fails with
// invite.ErrOver if it lets nobody in.
func (c *console) link(ctx context.Context, secret string) (invite.Link, error) {
	link, err := c.invites.Find(ctx, secret)
	if err != nil {
		return link, err
	}
	known, err := c.book.Account(ctx, link.Who)
	if err == nil && known.Version != link.Passphrase {
		err = invite.ErrOver
	}
	return link, err
}

// showLink is GET /link/{secret}. It leaves the link as it is: programs that look at addresses before people do, such
// as those of mail and chat, use up none.
func (c *console) showLink(w http.ResponseWriter, r *http.Request) {
	secret := r.PathValue("secret")
	link, err := c.link(r.Context(), secret)
	if err != nil {
		c.noLink(w, r, err)
		return
	}
	body := linkPage{Who: link.Who.Subject, To: c.o.Path + "/link/" + secret}
	if before, err := c.visitor(r); err == nil {
		body.Before = before.Who.Subject
	}
	c.write(w, r, http.StatusOK, "link", "Log in", nil, body)
}

// useLink is POST /link/{secret}.
func (c *console) useLink(w http.ResponseWriter, r *http.Request) {
	link, err := c.link(r.Context(), r.PathValue("secret"))
	if err == nil {
		err = c.invites.Use(r.Context(), link)
	}
	if err != nil {
		c.noLink(w, r, err)
		return
	}
	err = c.o.Audit.Write(r.Context(), audit.Record{
		Time: c.now(), Event: audit.LinkUsed, Adapter: c.o.Name, Outcome: audit.Success, Caller: link.Who,
	})
	if err != nil {
		c.o.Logger.ErrorContext(r.Context(), "the use of a link cannot be recorded", slog.Any("error", err))
		c.refuse(w, r, http.StatusServiceUnavailable, "You are not logged in",
			"This cannot be put on record, and the link is used up. The log of the adapter says why.")
		return
	}
	if _, ok := c.letIn(w, r, session{Who: link.Who, Passphrase: link.Passphrase}, "link"); ok {
		http.Redirect(w, r, c.o.Path+"/", http.StatusSeeOther)
	}
}

// noLink says that a link lets nobody in.
func (c *console) noLink(w http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, invite.ErrOver) {
		c.fail(w, r, err)
		return
	}
	c.refuse(w, r, http.StatusGone, "This link lets nobody in",
		"It was used, its ten minutes are over, or its person has another passphrase or role by now, or was logged out. "+
			"Log in with your passphrase, or have another link made.")
}
