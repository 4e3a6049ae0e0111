package console

import "net/http"

// typed is what a person had typed into the form of an item when their session had ended. The pages for logging in
// carry it on, so that nobody types it twice. A passphrase is no part of it.
type typed struct{ Reason, Typed string }

// typedIn returns what was typed into a form. Addresses have none of it: what others link to is not what a person says.
func typedIn(r *http.Request) typed {
	return typed{r.PostFormValue("reason"), r.PostFormValue("typed")}
}

// askToLogInAgain answers a form of somebody whose session has ended.
func (c *console) askToLogInAgain(w http.ResponseWriter, r *http.Request) {
	body := loginPage{
		Item: r.PathValue("id"), typed: typedIn(r),
		Note: "Your session has ended, and nothing was done. Log in again to go on.",
	}
	if body.typed != (typed{}) {
		body.Note += " What you typed is kept."
	}
	c.writeLogin(w, r, http.StatusUnauthorized, body)
}

// resume shows somebody who has logged in with a secret the item that they were about to decide about, with what they
// had typed. It reports whether there is such an item.
func (c *console) resume(w http.ResponseWriter, r *http.Request, secret string) bool {
	before, id := typedIn(r), r.PostFormValue("item")
	if before == (typed{}) || !itemID.MatchString(id) {
		return false
	}
	r.Header.Del("Cookie")
	r.AddCookie(&http.Cookie{Name: c.cookieName(), Value: secret})
	v, err := c.look(r)
	if err != nil {
		return false
	}
	item, err := c.item(r.Context(), id)
	if err != nil {
		return false
	}
	c.writeItem(w, r, http.StatusOK, v, &item, form{
		Reason: before.Reason, Typed: before.Typed,
		Note: "You are logged in again. Nothing was decided, and what you typed is in the form.",
	})
	return true
}
