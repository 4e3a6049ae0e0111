package console

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/passkey"
	"github.com/aqltag/aqltag/runtime/store"
)

// What people sign with a passkey.
const (
	toLogIn    = "log in"
	toRegister = "register"
	toApprove  = "approve"
	toShow     = "show a code"
	toEnd      = "end"
)

// mostChallenges bounds how many challenges are asked for in a minute: by who logs in, all together, and by each person
// who has.
const mostLogIns, mostChallenges = 600, 60

// longestSigned bounds the answer of a passkey, in bytes.
const longestSigned = 32 << 10

// errSigned says that the answer of a passkey does not count. Why is in the log.
var errSigned = errors.New("the answer of the passkey does not count here, or came too late; try again, or type your " +
	"passphrase")

// hasPasskeys reports whether some name of the console is one that passkeys are offered for.
func hasPasskeys(o *Options) bool {
	return o.Passkeys != nil && slices.ContainsFunc(o.Hosts, func(host string) bool { return siteOf(o, host).Host != "" })
}

// domain is a name for which browsers make passkeys, in lower case and ASCII: its last part is not a number, so that it
// is no IP address.
var domain = regexp.MustCompile(`^(localhost|([a-z0-9-]{1,63}\.)+[a-z0-9-]{0,62}[a-z-][a-z0-9-]{0,62})$`)

// siteOf returns what passkeys are good for that are made at a host; without Host: browsers make none there, or the
// host may lead to another program.
func siteOf(o *Options, host string) setup.Site {
	host = strings.ToLower(host)
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if !o.Secure || !domain.MatchString(name) {
		return setup.Site{}
	}
	return setup.Site{Name: o.Name, Host: name, Origin: "https://" + host}
}

// site is siteOf for the host of a request.
func (c *console) site(r *http.Request) setup.Site {
	if c.o.Passkeys == nil {
		return setup.Site{}
	}
	return siteOf(&c.o, r.Host)
}

// handleSigning has the routes of what passkeys sign.
func (c *console) handleSigning(handle func(route string, h http.HandlerFunc)) {
	if !hasPasskeys(&c.o) {
		if c.o.Passkeys != nil {
			c.o.Logger.Warn("the console offers no passkeys: browsers have them for names that it has with HTTPS, such as " +
				"console.example, and for no IP address")
		}
		return
	}
	handle("POST /login/challenge", c.challengeLogIn)
	handle("POST /challenge", c.known(c.challenge))
	handle("GET /passkeys", c.known(c.showPasskeys))
	handle("POST /passkeys", c.known(c.addPasskey))
	handle("POST /passkeys/remove", c.known(c.removePasskey))
}

// challenged is the answer to a script that asks for a challenge.
type challenged struct {
	Options json.RawMessage `json:"options,omitempty"`
	Error   string          `json:"error,omitempty"`
}

func (c *console) writeChallenge(w http.ResponseWriter, r *http.Request, options []byte, err error) {
	status, body := http.StatusOK, challenged{Options: options}
	if err != nil {
		status, body = http.StatusServiceUnavailable, challenged{Error: "The console cannot answer. Its log says why."}
		switch known, ok := knownError(err, statuses, passkeyStatuses); {
		case ok:
			status, body.Error = known.status, sentence(known.err)
		default:
			c.o.Logger.ErrorContext(r.Context(), "the console cannot ask for a signature", slog.Any("error", err))
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the browser is gone
}

// passkeyStatuses are those of answers about passkeys.
var passkeyStatuses = []known{
	{passkey.ErrMany, http.StatusTooManyRequests},
	{passkey.ErrMost, http.StatusConflict},
	{passkey.ErrKnown, http.StatusConflict},
	{passkey.ErrUnknown, http.StatusNotFound},
	{errElsewhereOnly, http.StatusForbidden},
	{errNoSite, http.StatusForbidden},
	{errNoDeed, http.StatusBadRequest},
	{errPasskeyName, http.StatusUnprocessableEntity},
}

var (
	errElsewhereOnly = errors.New("passkeys are for people with a passphrase of this console")
	errNoSite        = errors.New("browsers have no passkeys for this address: open the console by a name, with HTTPS")
	errNoDeed        = errors.New("it is not said what is to be signed")
)

// signCookie is the cookie of a browser whose person logs in with a passkey; empty: the one that removes it.
func (c *console) signCookie(value string) *http.Cookie {
	cookie := c.cookie(value)
	cookie.Name += "-sign"
	if value != "" {
		cookie.MaxAge = int(passkey.Lifetime.Seconds())
	}
	return cookie
}

// challengeLogIn is POST /login/challenge.
func (c *console) challengeLogIn(w http.ResponseWriter, r *http.Request) {
	site, secret := c.site(r), rand.Text()
	if site.Host == "" {
		c.writeChallenge(w, r, nil, errNoSite)
		return
	}
	deed := passkey.Deed{Browser: csrfToken(secret), Does: toLogIn}
	challenge, err := c.passkeys.Ask(r.Context(), deed, "login", mostLogIns)
	var options []byte
	if err == nil {
		options, err = c.o.Passkeys.Ask(site, challenge, nil)
	}
	if err == nil {
		http.SetCookie(w, c.signCookie(secret))
	}
	c.writeChallenge(w, r, options, err)
}

// challenge is POST /challenge of somebody who is logged in. The form is the one whose button was pressed.
func (c *console) challenge(w http.ResponseWriter, r *http.Request, v *visit) {
	site := c.site(r)
	deed := passkey.Deed{
		Browser: v.key, Does: r.PostFormValue("does"), Of: r.PostFormValue("of"), Revision: r.PostFormValue("revision"),
	}
	var err error
	switch {
	case site.Host == "":
		err = errNoSite
	case v.Passphrase == 0:
		err = errElsewhereOnly
	case deed.Does == toRegister: // with which more can be signed later
		err = c.reauthenticate(r, v, passkey.Deed{})
	case deed.Does != toApprove && deed.Does != toShow && deed.Does != toEnd || deed.Of == "" || deed.Revision == "":
		err = errNoDeed
	}
	var options []byte
	if err == nil {
		options, err = c.optionsOf(r, v, site, deed)
	}
	c.writeChallenge(w, r, options, err)
}

// optionsOf returns the options with which a browser answers a challenge.
func (c *console) optionsOf(r *http.Request, v *visit, site setup.Site, deed passkey.Deed) ([]byte, error) {
	registers, of := deed.Does == toRegister, c.passkeys.Of
	if registers {
		of = c.passkeys.Open
	}
	person, err := of(r.Context(), v.Who, v.choice)
	if err != nil {
		return nil, err
	}
	holder := person.At(site.Host)
	switch {
	case registers && len(person.Passkeys) >= passkey.Most:
		return nil, passkey.ErrMost
	case !registers && len(holder.Passkeys) == 0:
		return nil, passkey.ErrUnknown
	}
	challenge, err := c.passkeys.Ask(r.Context(), deed, v.Who.Key(), mostChallenges)
	if err != nil {
		return nil, err
	}
	if registers {
		return c.o.Passkeys.Create(site, challenge, holder)
	}
	return c.o.Passkeys.Ask(site, challenge, holder.Passkeys)
}

// signed is what is read of the answer of a passkey before it is verified.
type signed struct {
	text      []byte
	challenge []byte
	handle    []byte // of the person, where the passkey says it
}

// readSigned reads the answer of a passkey in a form.
func readSigned(r *http.Request) (signed, error) {
	var read struct {
		Response struct {
			ClientData string `json:"clientDataJSON"`
			Handle     string `json:"userHandle"`
		} `json:"response"`
	}
	var client struct {
		Challenge string `json:"challenge"`
	}
	of := signed{text: []byte(r.PostFormValue("passkey"))}
	if len(of.text) > longestSigned {
		return of, errSigned
	}
	err := json.Unmarshal(of.text, &read)
	var text []byte
	if err == nil {
		text, err = base64.RawURLEncoding.DecodeString(read.Response.ClientData)
	}
	if err == nil {
		err = json.Unmarshal(text, &client)
	}
	if err == nil {
		of.challenge, err = base64.RawURLEncoding.DecodeString(client.Challenge)
	}
	if err == nil {
		of.handle, err = base64.RawURLEncoding.DecodeString(read.Response.Handle)
	}
	if err != nil {
		return of, fmt.Errorf("%w: reading it: %w", errSigned, err)
	}
	return of, nil
}

// answer reads the answer of a passkey in a form, and uses up its challenge, which must be for a deed.
func (c *console) answer(r *http.Request, deed passkey.Deed) (signed, error) {
	of, err := readSigned(r)
	if err == nil {
		err = c.passkeys.Answer(r.Context(), of.challenge, deed)
	}
	if errors.Is(err, passkey.ErrOver) || errors.Is(err, passkey.ErrOther) {
		err = fmt.Errorf("%w: %w", errSigned, err)
	}
	return of, err
}

// checkSigned fails with errSigned unless a passkey of a person has signed, and notes that it has. The choice is of
// the person's passphrase. Of two who use one at the same time, each is checked against what the other has left.
func (c *console) checkSigned(r *http.Request, person identity.Caller, choice string, of signed) error {
	site := c.site(r)
	if site.Host == "" {
		return errNoSite
	}
	for r.Context().Err() == nil {
		who, err := c.passkeys.Of(r.Context(), person, choice)
		if err != nil {
			return err
		}
		now, err := c.o.Passkeys.Verify(site, of.challenge, who.At(site.Host), of.text)
		if err != nil {
			return fmt.Errorf("%w: %w", errSigned, err)
		}
		switch err = c.passkeys.Use(r.Context(), who, now); {
		case errors.Is(err, passkey.ErrUnknown):
			return fmt.Errorf("%w: %w", errSigned, err)
		case !errors.Is(err, store.ErrConflict):
			return err
		}
	}
	return r.Context().Err()
}

// logInSigned answers POST /login with the answer of a passkey.
func (c *console) logInSigned(w http.ResponseWriter, r *http.Request) {
	person, err := c.signedIn(r)
	http.SetCookie(w, c.signCookie(""))
	switch {
	case errors.Is(err, errSigned):
		c.o.Logger.WarnContext(r.Context(), "somebody was not let into the console by a passkey", slog.Any("error", err))
		c.writeLogin(w, r, http.StatusForbidden, loginPage{
			Item: r.PostFormValue("item"), User: r.PostFormValue("name"), typed: typedIn(r), Error: sentence(errSigned),
		})
	case err != nil:
		c.fail(w, r, err)
	default:
		c.goOn(w, r, person, "passkey")
	}
}

// signedIn returns the session of who has logged in with a passkey.
func (c *console) signedIn(r *http.Request) (session, error) {
	cookie, err := r.Cookie(c.signCookie("").Name)
	if err != nil || c.site(r).Host == "" {
		return session{}, fmt.Errorf("%w: this browser has not begun to log in", errSigned)
	}
	of, err := c.answer(r, passkey.Deed{Browser: csrfToken(cookie.Value), Does: toLogIn})
	if err != nil {
		return session{}, err
	}
	who, err := c.passkeys.Who(r.Context(), of.handle)
	if errors.Is(err, passkey.ErrUnknown) {
		return session{}, fmt.Errorf("%w: %w", errSigned, err)
	}
	if err != nil {
		return session{}, err
	}
	account, err := c.book.Account(r.Context(), who)
	switch {
	case err != nil:
		return session{}, err
	case account.Version == 0:
		return session{}, fmt.Errorf("%w: the person has no passphrase any more", errSigned)
	}
	return session{Who: who, Passphrase: account.Version}, c.checkSigned(r, who, account.Choice, of)
}
