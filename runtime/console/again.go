package console

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/internal/passkey"
	"github.com/aqltag/aqltag/runtime/passphrase"
)

// errNoPassphrase says that a form lacks what asksAgain demands.
var errNoPassphrase = errors.New("this takes your passphrase once more")

// longestFresh is how long it counts that a person has shown elsewhere who it is.
const longestFresh = 5 * time.Minute

// errNotFresh says that this was too long ago.
var errNotFresh = errors.New("this takes a login of the last five minutes; log in once more, and decide then")

// isFresh reports whether the person of a session has shown elsewhere who it is, a moment ago.
func (c *console) isFresh(v *visit) bool {
	since := c.now().Sub(v.At)
	return since >= 0 && since <= longestFresh
}

// again is how a form has somebody show once more who it is.
type again struct {
	Again     bool   // it takes the passphrase once more
	Elsewhere bool   // the person has logged in elsewhere, and has no passphrase
	LogIn     string // where to do that once more, and then see an item; empty: it was a moment ago
	Passkey   bool   // a passkey of the person does as well
}

// againOf returns how a form that asks again, or does not, has the person of a visit show who it is.
func (c *console) againOf(r *http.Request, asks bool, v *visit, item string) again {
	of := again{Again: asks, Elsewhere: v.Passphrase == 0}
	if of.Elsewhere && !c.isFresh(v) {
		of.LogIn = c.beginAddress(item, true)
	}
	if site := c.site(r); asks && site.Host != "" && !of.Elsewhere {
		person, err := c.passkeys.Of(r.Context(), v.Who, v.choice)
		if err != nil {
			c.o.Logger.WarnContext(r.Context(), "a form of the console offers no passkey", slog.Any("error", err))
		}
		of.Passkey = len(person.At(site.Host).Passkeys) > 0
	}
	return of
}

// asksAgain reports whether an approval of an item takes the passphrase once more. Browsers send a session to every
// port of its host, so it is not enough for what does great harm, lets an agent go on that is held, or has people
// authenticate anew by the policy.
func (c *console) asksAgain(item *approve.Item) bool {
	level := item.Danger.Level()
	switch {
	case desk.Holds(item), item.Needs.Reauthenticate:
		return true
	case item.Kind == approve.Continuation: // which is of no operation
		level = 0
	case level < 0: // of a later version
		return true
	}
	return level >= c.o.ReauthenticateFrom.Level()
}

// reauthenticate fails unless a form has the passphrase of the person whose session it is, or a passkey of the person
// has signed what the form does, which Does, Of and Revision of a deed say. Wrong passphrases are counted with those of
// log-ins. Who has logged in elsewhere must have shown there who it is, a moment ago.
func (c *console) reauthenticate(r *http.Request, v *visit, deed passkey.Deed) error {
	if v.Passphrase == 0 {
		if !c.isFresh(v) {
			return errNotFresh
		}
		return nil
	}
	if deed.Does != "" && r.PostFormValue("passkey") != "" && c.site(r).Host != "" {
		deed.Browser = v.key
		of, err := c.answer(r, deed)
		if err == nil {
			err = c.checkSigned(r, v.Who, v.choice, of)
		}
		if errors.Is(err, errSigned) {
			c.refusedAgain(r, v, err)
		}
		return err
	}
	typed := r.PostFormValue("passphrase")
	if typed == "" {
		return errNoPassphrase
	}
	_, err := c.checkPassphrase(r.Context(), v.Who, typed)
	if errors.Is(err, passphrase.ErrWrong) || errors.Is(err, passphrase.ErrTries) {
		c.refusedAgain(r, v, err)
	}
	return err
}

// refusedAgain logs that somebody has not shown who it is.
func (c *console) refusedAgain(r *http.Request, v *visit, err error) {
	c.o.Logger.WarnContext(r.Context(), "what a person of the console wanted was refused", slog.Any("error", err),
		slog.String("person", v.Who.Subject), slog.String("item", r.PathValue("id")))
}
