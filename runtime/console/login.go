package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
)

// longestName bounds the name with which somebody logs in, and longestPassphrase what is derived from, in bytes.
const longestName, longestPassphrase = 256, 4 << 10

// triesEvery is after how many seconds a passphrase is looked at again, when too many were wrong: each counts for up to
// a tenth longer than a minute (store.Claim).
const triesEvery = "66"

// itemID is what stands for an item in an address: no other text leads anywhere after the log-in.
var itemID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// loginPage asks who somebody is.
type loginPage struct {
	Item, User, Error, Note string
	Nobody                  bool   // has a passphrase
	Other, OtherTo          string // another way to log in, and where it begins; empty: there is none
	Passkey                 bool   // one can log in with a passkey
	typed
}

// askToLogIn leads to the log-in, and from there to the item that was asked for.
func (c *console) askToLogIn(w http.ResponseWriter, r *http.Request) {
	query := url.Values{}
	if id := r.PathValue("id"); itemID.MatchString(id) {
		query.Set("item", id)
	}
	if _, err := r.Cookie(c.cookieName()); err == nil {
		query.Set("ended", "1")
		http.SetCookie(w, c.cookie(""))
	}
	to := c.o.Path + "/login"
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// showLogin is GET /login.
func (c *console) showLogin(w http.ResponseWriter, r *http.Request) {
	if _, err := c.visitor(r); err == nil {
		http.Redirect(w, r, c.o.Path+"/", http.StatusSeeOther)
		return
	}
	body := loginPage{Item: r.FormValue("item")}
	switch {
	case r.FormValue("ended") != "":
		body.Note = "Your session has ended. Log in again to go on."
	case r.FormValue("out") != "":
		body.Note = "You are logged out."
	}
	c.writeLogin(w, r, http.StatusOK, body)
}

// writeLogin writes the form, and above it what was wrong with the one before.
func (c *console) writeLogin(w http.ResponseWriter, r *http.Request, status int, body loginPage) {
	if !itemID.MatchString(body.Item) {
		body.Item = ""
	}
	some, err := c.book.Any(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	body.Nobody, body.Passkey = !some, c.site(r).Host != ""
	if c.o.Login != nil {
		body.Other, body.OtherTo = c.o.Login.Label(), c.beginAddress(body.Item, false)
	}
	c.write(w, r, status, "login", "Log in", nil, body)
}

// logIn is POST /login. Every log-in begins a session of its own, and ends the one of the browser before it.
func (c *console) logIn(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("passkey") != "" && c.site(r).Host != "" {
		c.logInSigned(w, r)
		return
	}
	body := loginPage{Item: r.PostFormValue("item"), User: r.PostFormValue("name"), typed: typedIn(r)}
	who := identity.User(body.User)
	version, err := c.checkPassphrase(r.Context(), who, r.PostFormValue("passphrase"))
	switch {
	case errors.Is(err, passphrase.ErrWrong):
		c.o.Logger.Warn("somebody was not let into the console: the name or the passphrase is wrong")
		body.Error = "The name or the passphrase is wrong."
		c.writeLogin(w, r, http.StatusForbidden, body)
		return
	case errors.Is(err, passphrase.ErrTries):
		c.o.Logger.Warn("somebody was not let into the console: too many wrong passphrases")
		body.Error = "Too many wrong passphrases were typed. Wait a minute, then try again."
		w.Header().Set("Retry-After", triesEvery)
		c.writeLogin(w, r, http.StatusTooManyRequests, body)
		return
	case err != nil:
		c.fail(w, r, err)
		return
	}
	c.goOn(w, r, session{Who: who, Passphrase: version}, "passphrase")
}

// goOn lets somebody in, as letIn does, and leads to the item that was asked for.
func (c *console) goOn(w http.ResponseWriter, r *http.Request, s session, by string) {
	to := c.o.Path + "/"
	if item := r.PostFormValue("item"); itemID.MatchString(item) {
		to += "items/" + item
	}
	secret, ok := c.letIn(w, r, s, by)
	if !ok || c.resume(w, r, secret) {
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// letIn begins a session, and ends the one that the browser has; by says for the log how the person has logged in. The
// secret of the session is drawn here, so that nobody else has set it. It reports whether there is one; otherwise the
// request is answered.
func (c *console) letIn(w http.ResponseWriter, r *http.Request, s session, by string) (secret string, ok bool) {
	if before, err := c.visitor(r); err == nil {
		if err := c.end(r.Context(), before); err != nil {
			c.fail(w, r, err)
			return "", false
		}
	}
	secret, err := c.begin(r.Context(), s)
	if err != nil {
		c.fail(w, r, err)
		return "", false
	}
	c.o.Logger.InfoContext(r.Context(), "a person has logged in to the console", slog.String("person", s.Who.Subject),
		slog.String("by", by))
	http.SetCookie(w, c.cookie(secret))
	return secret, true
}

// checkPassphrase returns the version of the passphrase of a person that was typed. It fails with one of the errors of
// package passphrase.
func (c *console) checkPassphrase(ctx context.Context, who identity.Caller, typed string) (store.Version, error) {
	name := who.Subject
	if name == "" || len(name) > longestName || len(typed) > longestPassphrase || !utf8.ValidString(name) {
		return 0, passphrase.ErrWrong
	}
	select {
	case c.deriving <- struct{}{}:
		defer func() { <-c.deriving }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return c.book.Check(ctx, who, func() (string, error) { return typed, nil })
}

// logOut is POST /logout.
func (c *console) logOut(w http.ResponseWriter, r *http.Request, v *visit) {
	if err := c.end(r.Context(), v); err != nil {
		c.fail(w, r, err)
		return
	}
	http.SetCookie(w, c.cookie(""))
	http.Redirect(w, r, c.o.Path+"/login?out=1", http.StatusSeeOther)
}
