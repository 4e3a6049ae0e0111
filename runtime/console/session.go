package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// sessionPart begins the keys of sessions in the store.
	sessionPart = "console/session/"
	// longestSession is how long a person stays logged in, and longestIdle how long without looking at a page.
	longestSession, longestIdle = 8 * time.Hour, 30 * time.Minute
	// noteEvery is how often the store is told that a person has looked at a page.
	noteEvery = time.Minute
)

// session is what the store has of a session, under the digest of its secret.
type session struct {
	Who        identity.Caller `json:"who"`
	Passphrase store.Version   `json:"passphrase"` // with which the person has logged in; zero: with Options.Login
	// Name, Role, Groups and At are those of setup.Person. Who has a passphrase has them elsewhere.
	Name   string        `json:"name,omitempty"`
	Role   identity.Role `json:"role,omitempty"`
	Groups []string      `json:"groups,omitempty"`
	At     time.Time     `json:"at,omitzero"`
	Era    string        `json:"era,omitempty"` // of the person: in another one the session is over
	Since  time.Time     `json:"since"`
	Seen   time.Time     `json:"seen"`
}

// left returns how long the session lasts if the person does nothing.
func (s *session) left(now time.Time) time.Duration {
	return min(s.Since.Add(longestSession).Sub(now), s.Seen.Add(longestIdle).Sub(now))
}

// visit is a request of a person who is known.
type visit struct {
	session
	role    identity.Role
	choice  string // of the passphrase: see passphrase.Account
	csrf    string // stands in every form of the session
	key     string // of the session in the store
	version store.Version
}

// errNoSession says that the request is of nobody who is known.
var errNoSession = errors.New("there is no session, or it has ended")

// cookieName is bound to the host and to HTTPS by its prefix, where there is HTTPS (RFC 6265bis §4.1.3). Browsers keep
// the cookies of all ports of a host together, so it has the port, and the path: a log-in at one console does not end
// the session at another one.
func (c *console) cookieName() string {
	name := "aql"
	if c.o.Secure {
		name = "__Host-aql"
	}
	if _, port, err := net.SplitHostPort(c.o.Hosts[0]); err == nil {
		name += "-" + port
	}
	return name + strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, c.o.Path)
}

// cookie returns the cookie with a secret; empty: the one that removes it.
func (c *console) cookie(secret string) *http.Cookie {
	cookie := &http.Cookie{
		Name: c.cookieName(), Value: secret, Path: "/", Secure: c.o.Secure, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	return cookie
}

// sessionKey is the key of the session with a secret, and csrfToken what its forms have. Neither discloses the secret.
func sessionKey(secret string) string {
	sum := sha256.Sum256([]byte("session " + secret))
	return sessionPart + hex.EncodeToString(sum[:])
}

func csrfToken(secret string) string {
	sum := sha256.Sum256([]byte("form " + secret))
	return hex.EncodeToString(sum[:])
}

// begin begins a session, and returns its secret, which nobody but the browser keeps.
func (c *console) begin(ctx context.Context, s session) (string, error) {
	s.Since = c.now().UTC()
	s.Seen = s.Since
	var err error
	if s.Era, err = c.eras.Era(ctx, s.Who); err != nil {
		return "", err
	}
	secret := rand.Text()
	if _, err := c.keep(ctx, sessionKey(secret), &s, 0); err != nil {
		return "", fmt.Errorf("keeping a session: %w", err)
	}
	return secret, nil
}

// keep writes a session over a version.
func (c *console) keep(ctx context.Context, key string, s *session, old store.Version) (store.Version, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return 0, fmt.Errorf("encoding a session: %w", err)
	}
	return c.o.Store.Put(ctx, key, text, old, s.left(c.now()))
}

// look returns who sends a request. It fails with errNoSession if nobody knows, or the person has another passphrase or
// another role by now, or all its sessions were ended.
func (c *console) look(r *http.Request) (*visit, error) {
	cookie, err := r.Cookie(c.cookieName())
	if err != nil {
		return nil, errNoSession
	}
	v := &visit{key: sessionKey(cookie.Value), csrf: csrfToken(cookie.Value)}
	entry, err := c.o.Store.Get(r.Context(), v.key)
	if err != nil {
		return nil, fmt.Errorf("looking up a session: %w", err)
	}
	now := c.now()
	if !entry.Exists() || json.Unmarshal(entry.Value, &v.session) != nil || v.left(now) <= 0 || v.Who.Anonymous() {
		return nil, errNoSession
	}
	v.version = entry.Version
	switch era, err := c.eras.Era(r.Context(), v.Who); {
	case err != nil:
		return nil, err
	case era != v.Era:
		return nil, errNoSession
	}
	if v.Passphrase == 0 {
		v.role = v.Role
		if c.o.Login == nil || !v.role.Includes(identity.Viewer) {
			return nil, errNoSession
		}
		return v, nil
	}
	account, err := c.book.Account(r.Context(), v.Who)
	switch {
	case err != nil:
		return nil, err
	case account.Version != v.Passphrase:
		return nil, errNoSession
	}
	v.role, v.choice = account.Role, account.Choice
	return v, nil
}

// visitor is look for a page that a person looks at, which keeps the session.
func (c *console) visitor(r *http.Request) (*visit, error) {
	v, err := c.look(r)
	now := c.now()
	if err != nil || now.Sub(v.Seen) < noteEvery {
		return v, err
	}
	v.Seen = now.UTC()
	version, err := c.keep(r.Context(), v.key, &v.session, v.version)
	switch {
	case errors.Is(err, store.ErrConflict): // another page of the person notes it at the same time, or logs out
		return v, nil
	case err != nil:
		return nil, fmt.Errorf("keeping a session: %w", err)
	}
	v.version = version
	return v, nil
}

// end ends the session of a visit, whatever became of its entry since.
func (c *console) end(ctx context.Context, v *visit) error {
	for ctx.Err() == nil {
		entry, err := c.o.Store.Get(ctx, v.key)
		if err == nil && entry.Exists() {
			err = c.o.Store.Delete(ctx, v.key, entry.Version)
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, store.ErrConflict):
			return fmt.Errorf("ending a session: %w", err)
		}
	}
	return fmt.Errorf("ending a session: %w", ctx.Err())
}

// known lets people pass who have logged in. A form of theirs must have the token of their session.
func (c *console) known(next func(http.ResponseWriter, *http.Request, *visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := c.visitor(r)
		switch {
		case errors.Is(err, errNoSession) && r.Method == http.MethodPost:
			c.askToLogInAgain(w, r)
		case errors.Is(err, errNoSession):
			c.askToLogIn(w, r)
		case err != nil:
			c.fail(w, r, err)
		case r.Method == http.MethodPost && !hmac.Equal([]byte(v.csrf), []byte(r.PostFormValue("csrf"))):
			c.refuse(w, r, http.StatusForbidden, "This form is not of your session",
				"Nothing was done. Go back to the item, load it again, and decide then.")
		default:
			next(w, r, v)
		}
	}
}
