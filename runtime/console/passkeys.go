package console

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/internal/passkey"
	"github.com/aqltag/aqltag/runtime/words"
)

// longestPasskeyName bounds the name of a passkey, in characters.
const longestPasskeyName = 60

var errPasskeyName = fmt.Errorf("give the passkey a name, of up to %d characters", longestPasskeyName)

// passkeysPage has the passkeys of a person.
type passkeysPage struct {
	Host    string // for which passkeys can be made; empty: for none
	Has     bool   // the person has a passphrase here
	Rows    []passkeyRow
	Most    int
	Full    bool
	Name    string
	Error   string
	Passkey bool // the page has a form for the script
}

// passkeyRow is one passkey.
type passkeyRow struct {
	ID, Name, Host, Device string
	Here                   bool // it is for the name by which the page was opened
	Made, Used             moment
}

// device says where a passkey is, as far as is known: what the browser has said, and nobody has verified.
func device(of *passkey.Kept) string {
	text := "not said"
	switch of.Attachment {
	case "platform":
		text = "the device where it was made"
	case "cross-platform":
		text = "a key or another device"
	}
	if of.Synced {
		text += ", may be copied to others"
	}
	return text
}

// showPasskeys is GET /passkeys.
func (c *console) showPasskeys(w http.ResponseWriter, r *http.Request, v *visit) {
	c.writePasskeys(w, r, http.StatusOK, v, passkeysPage{})
}

func (c *console) writePasskeys(w http.ResponseWriter, r *http.Request, status int, v *visit, body passkeysPage) {
	now := c.now()
	body.Host, body.Has, body.Most = c.site(r).Host, v.Passphrase != 0, passkey.Most
	if body.Has {
		person, err := c.passkeys.Of(r.Context(), v.Who, v.choice)
		if err != nil {
			c.fail(w, r, err)
			return
		}
		for i := range person.Passkeys {
			one := &person.Passkeys[i]
			row := passkeyRow{
				ID: base64.RawURLEncoding.EncodeToString(one.ID), Name: words.Printable(one.Name), Host: one.Host,
				Device: device(one), Here: one.Host == body.Host, Made: momentOf(one.Made, now),
			}
			if !one.Used.IsZero() {
				row.Used = momentOf(one.Used, now)
			}
			body.Rows = append(body.Rows, row)
		}
	}
	body.Full = len(body.Rows) >= passkey.Most
	body.Passkey = body.Host != "" && body.Has && !body.Full
	c.write(w, r, status, "passkeys", "Passkeys", v, body)
}

// notPasskeys shows the passkeys, and why nothing has changed.
func (c *console) notPasskeys(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	of, ok := knownError(err, statuses, passkeyStatuses)
	if !ok {
		c.fail(w, r, err)
		return
	}
	c.o.Logger.WarnContext(r.Context(), "a passkey was not registered or removed", slog.Any("error", err),
		slog.String("person", v.Who.Subject))
	c.writePasskeys(w, r, of.status, v, passkeysPage{
		Name: r.PostFormValue("name"), Error: "Nothing was done. " + sentence(of.err),
	})
}

// addPasskey is POST /passkeys, with what a browser has made. The passphrase was typed before that, for the challenge.
func (c *console) addPasskey(w http.ResponseWriter, r *http.Request, v *visit) {
	if err := c.add(r, v); err != nil {
		c.notPasskeys(w, r, v, err)
		return
	}
	http.Redirect(w, r, c.o.Path+"/passkeys", http.StatusSeeOther)
}

func (c *console) add(r *http.Request, v *visit) error {
	site, name := c.site(r), strings.TrimSpace(r.PostFormValue("name"))
	switch {
	case site.Host == "":
		return errNoSite
	case v.Passphrase == 0:
		return errElsewhereOnly
	case name == "" || utf8.RuneCountInString(name) > longestPasskeyName || !utf8.ValidString(name):
		return errPasskeyName
	}
	of, err := c.answer(r, passkey.Deed{Browser: v.key, Does: toRegister})
	if err != nil {
		return err
	}
	record := c.recordPasskey(v, audit.PasskeyRegistered)
	return record.change(r.Context(), func() error {
		person, err := c.passkeys.Of(r.Context(), v.Who, v.choice)
		if err != nil {
			return err
		}
		made, err := c.o.Passkeys.Created(site, of.challenge, person.At(site.Host), of.text)
		if err != nil {
			return fmt.Errorf("%w: %w", errSigned, err)
		}
		switch _, known := person.Find(made.ID); {
		case len(person.Passkeys) >= passkey.Most:
			return passkey.ErrMost
		case known:
			return passkey.ErrKnown
		}
		if err := record.begin(r.Context(), name); err != nil {
			return err
		}
		return c.passkeys.Add(r.Context(), person, passkey.Kept{
			Passkey: made, Host: site.Host, Name: name, Made: c.now().UTC(),
		})
	})
}

// removePasskey is POST /passkeys/remove.
func (c *console) removePasskey(w http.ResponseWriter, r *http.Request, v *visit) {
	if err := c.remove(r, v); err != nil {
		c.notPasskeys(w, r, v, err)
		return
	}
	http.Redirect(w, r, c.o.Path+"/passkeys", http.StatusSeeOther)
}

func (c *console) remove(r *http.Request, v *visit) error {
	id, err := base64.RawURLEncoding.DecodeString(r.PostFormValue("of"))
	if err != nil || v.Passphrase == 0 {
		return passkey.ErrUnknown
	}
	record := c.recordPasskey(v, audit.PasskeyRemoved)
	return record.change(r.Context(), func() error {
		person, err := c.passkeys.Of(r.Context(), v.Who, v.choice)
		if err != nil {
			return err
		}
		one, ok := person.Find(id)
		if !ok {
			return passkey.ErrUnknown
		}
		if err := record.begin(r.Context(), one.Name); err != nil {
			return err
		}
		return c.passkeys.Remove(r.Context(), person, id)
	})
}
