package console

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
)

// The addresses of another way to log in.
const (
	beginPath = "/login/other"
	backPath  = "/login/back"
)

// longestOther is how long a person may take to log in elsewhere.
const longestOther = 10 * time.Minute

// errElsewhere is the error of what comes back to a browser that has not begun to log in.
var errElsewhere = errors.New("this browser has not begun to log in")

// away is what a browser keeps while its person logs in elsewhere.
type away struct {
	Kept string `json:"kept"`
	Item string `json:"item,omitempty"` // that the person wants to see
	// Before is the key of the session that the browser has, which it does not send along when it comes back.
	Before string `json:"before,omitempty"`
}

// backPage leads on. Browsers do not send the cookie of a session along with what another site has led to, but with
// what a page of the console leads to.
type backPage struct{ To string }

// beginAddress returns where another way to log in begins, and then leads to an item; empty: to the inbox.
func (c *console) beginAddress(item string, again bool) string {
	query := url.Values{}
	if item != "" {
		query.Set("item", item)
	}
	if again {
		query.Set("again", "1")
	}
	if len(query) == 0 {
		return c.o.Path + beginPath
	}
	return c.o.Path + beginPath + "?" + query.Encode()
}

// awayCookie returns the cookie of who logs in elsewhere; empty: the one that removes it. Browsers send it along when
// the other site leads back.
func (c *console) awayCookie(value string) *http.Cookie {
	cookie := c.cookie(value)
	cookie.Name += "-away"
	cookie.SameSite = http.SameSiteLaxMode
	if value != "" {
		cookie.MaxAge = int(longestOther.Seconds())
	}
	return cookie
}

// backTo returns the address to which another site leads back. The host is one of Options.Hosts: see guard.
func (c *console) backTo(r *http.Request) string {
	scheme := "http://"
	if c.o.Secure {
		scheme = "https://"
	}
	return scheme + r.Host + c.o.Path + backPath
}

// beginOther is GET /login/other. It changes nothing here: what it begins is in the browser alone.
func (c *console) beginOther(w http.ResponseWriter, r *http.Request) {
	to, kept, err := c.o.Login.Begin(r.Context(), c.backTo(r), r.FormValue("again") != "")
	if err != nil {
		c.notBack(w, r, err)
		return
	}
	out := away{Kept: kept}
	if item := r.FormValue("item"); itemID.MatchString(item) {
		out.Item = item
	}
	if before, err := c.look(r); err == nil {
		out.Before = before.key
	}
	text, err := json.Marshal(out)
	if err != nil {
		c.notBack(w, r, err)
		return
	}
	http.SetCookie(w, c.awayCookie(base64.RawURLEncoding.EncodeToString(text)))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// comeBack is GET /login/back. It lets in who comes back to the browser that has begun, once.
func (c *console) comeBack(w http.ResponseWriter, r *http.Request) {
	var out away
	cookie, err := r.Cookie(c.awayCookie("").Name)
	if err != nil {
		c.notBack(w, r, &setup.RefusedError{Says: "Begin to log in again, in this browser.", Err: errElsewhere})
		return
	}
	http.SetCookie(w, c.awayCookie(""))
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		c.notBack(w, r, &setup.RefusedError{Says: "Begin to log in again, in this browser.", Err: err})
		return
	}
	person, err := c.o.Login.Finish(r.Context(), c.backTo(r), r.URL.Query(), out.Kept)
	switch {
	case err != nil:
		c.notBack(w, r, err)
		return
	case person.Who.Anonymous() || person.Who.Issuer == "" || person.Who.Issuer == identity.User("").Issuer:
		c.notBack(w, r, errors.New("the other login names nobody, or a user of this machine"))
		return
	}
	if strings.HasPrefix(out.Before, sessionPart) {
		if err := c.end(r.Context(), &visit{key: out.Before}); err != nil {
			c.fail(w, r, err)
			return
		}
	}
	s := session{
		Who: person.Who, Name: desk.CleanName(person.Name), Role: person.Role, Groups: person.Groups, At: person.At,
	}
	if _, ok := c.letIn(w, r, s, "another login"); !ok {
		return
	}
	to := c.o.Path + "/"
	if itemID.MatchString(out.Item) {
		to = setup.ItemAddress(c.o.Path, out.Item)
	}
	c.write(w, r, http.StatusOK, "back", "You are logged in", nil, backPage{To: to})
}

// notBack says why somebody is not let in.
func (c *console) notBack(w http.ResponseWriter, r *http.Request, err error) {
	c.o.Logger.WarnContext(r.Context(), "somebody was not let into the console by another login", slog.Any("error", err))
	if refused, ok := errors.AsType[*setup.RefusedError](err); ok {
		c.refuse(w, r, http.StatusForbidden, "You are not logged in", refused.Says)
		return
	}
	c.refuse(w, r, http.StatusBadGateway, "You are not logged in",
		"What should say who you are does not answer as it should. The log of the adapter says how. Try again in a moment.")
}
