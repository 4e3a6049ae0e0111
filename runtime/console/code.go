package console

import (
	"context"
	"net/http"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/passkey"
	"github.com/aqltag/aqltag/runtime/verify"
)

// codePage has the code of a challenge.
type codePage struct {
	ID, Title, Challenge, Code string
	Reasons                    []string
	Expires                    moment
	said
}

// showCode is POST /items/{id}/code, with the passphrase once more. It is the one form that is answered with a page
// instead of a redirection: the code is in this answer, and nowhere else. To send the form again draws another code.
func (c *console) showCode(w http.ResponseWriter, r *http.Request, v *visit) {
	id := r.PathValue("id")
	person, err := c.person(r, v)
	if err == nil {
		err = c.reauthenticate(r, v, passkey.Deed{Does: toShow, Of: id, Revision: r.PostFormValue("revision")})
	}
	var inbox approve.Inbox
	if err == nil {
		inbox, err = c.near(r.Context(), id)
	}
	if err == nil && r.PostFormValue("passkey") != "" {
		err = isAt(r.Context(), inbox, id, r.PostFormValue("revision"))
	}
	var shown verify.Shown
	if err == nil {
		shown, err = person.Show(r.Context(), inbox, c.holds, id, c.now())
	}
	if err != nil {
		c.notDecided(w, r, v, id, form{}, err)
		return
	}
	c.write(w, r, http.StatusOK, "code", "Code for "+agent(&shown.Item), v, codePage{
		ID: shown.Item.ID, Title: "Code for " + agent(&shown.Item), Challenge: shown.Challenge.String(),
		Code:    shown.Code.Text(),
		Reasons: printable(shown.Item.Reasons), Expires: momentOf(shown.Expires, c.now()), said: c.saidOf(&shown.Item),
	})
}

// isAt fails with approve.ErrChanged unless an item is at a revision.
func isAt(ctx context.Context, inbox approve.Inbox, id, revision string) error {
	item, err := inbox.Get(ctx, id)
	if err == nil && item.Revision() != revision {
		err = approve.ErrChanged
	}
	return err
}
