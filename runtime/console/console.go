// Package console is the place in a browser where people decide about what waits in the inbox of an adapter (see
// package approve), and let agents go that are held (see package verify):
//
//	handler, err := console.New(console.Options{
//		Name:  "todo",
//		Store: state, // the one of the adapter
//		Hosts: []string{"127.0.0.1:9090"},
//	})
//	…
//	err = http.ListenAndServe("127.0.0.1:9090", handler)
//
// Serve listens itself, for programs of which several share an address. Package serve starts it:
//
//	serve.Main(registry, serve.Options{Name: "todo", Console: console.Serve, …})
//
// People log in with the passphrase that they have chosen at a terminal (package operator), with a link from there that
// is good once, with a passkey (package console/webauthn), or with an OpenID provider (package console/oidc). Sessions
// are in the store, as digests, so that a person who has logged in at one replica is known to all. Every page works
// without script, but for passkeys.
//
// Serve it on a listener of its own: what clients of the adapter reach must not be the console as well.
package console

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/checks"
	"github.com/aqltag/aqltag/runtime/internal/invite"
	"github.com/aqltag/aqltag/runtime/internal/logout"
	"github.com/aqltag/aqltag/runtime/internal/loopback"
	"github.com/aqltag/aqltag/runtime/internal/passkey"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Options configures a console.
type Options = setup.Options

// console has what its handlers share.
type console struct {
	o       Options
	inbox   approve.Inbox
	holds   *verify.Box
	book    passphrase.Book
	invites invite.Book
	// eras say whose sessions were ended.
	eras logout.Book
	// passkeys are those of people, and what their browsers are asked to sign.
	passkeys passkey.Book
	pages    map[string]*template.Template
	// overview is what lists show, and watch tells pages of it that are open.
	overview *overview
	watch    *watch
	// deriving bounds how many passphrases are derived at a time: each takes a tenth of a second of a processor.
	deriving chan struct{}
	// reading bounds how many searches read the audit log at a time.
	reading chan struct{}
	// records is the audit log, for who reads it.
	records audit.Reader
	// checked logs which checks of health fail.
	checked checks.Log
	// feed has the calls of this process, and of others; nil: there is no page of calls.
	feed *feed
	// sections tells pages of executions and of health what has changed.
	sections *sectionEvents
}

// New returns the console as a handler for any mux.
func New(o Options) (http.Handler, error) {
	c, err := newConsole(o)
	if err != nil {
		return nil, fmt.Errorf("setting up the console: %w", err)
	}
	c.feed = newFeed(o)
	return c.handler(), nil
}

func newConsole(o Options) (*console, error) {
	if err := check(&o); err != nil {
		return nil, err
	}
	o.Logger, o.ReauthenticateFrom = cmp.Or(o.Logger, slog.Default()), cmp.Or(o.ReauthenticateFrom, gen.Dangerous)
	if o.Now == nil {
		o.Now = time.Now
	}
	holds, inbox, err := openInbox(&o)
	if err != nil {
		return nil, err
	}
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	all := newOverview(inbox, &o)
	return &console{
		o: o, inbox: inbox, holds: holds, overview: all, watch: &watch{overview: all},
		book: passphrase.Book{Store: o.Store, Place: approve.Console}, pages: pages,
		invites: invite.Book{Store: o.Store, Now: o.Now}, eras: logout.Book{Store: o.Store},
		passkeys: passkey.Book{Store: o.Store, Now: o.Now},
		deriving: make(chan struct{}, 2), reading: make(chan struct{}, 1),
		records: audit.Reader{Path: o.AuditFile, Key: o.AuditKey}, sections: newSectionEvents(),
	}, nil
}

// check fails if something is missing, or browsers would send passphrases over a network that others read.
func check(o *Options) error {
	switch {
	case o.Name == "" || o.Store == nil || len(o.Hosts) == 0:
		return errors.New("it needs the adapter's name, its store, and the hosts by which browsers reach it")
	case o.Path != "" && (!strings.HasPrefix(o.Path, "/") || strings.HasSuffix(o.Path, "/") ||
		strings.ContainsAny(o.Path, "{} ?#")):
		return fmt.Errorf("the path %q does not begin with a slash, ends with one, or has characters that no path has",
			o.Path)
	case o.ReauthenticateFrom != "" && o.ReauthenticateFrom.Level() < 0:
		return fmt.Errorf("passphrases are asked for once more from the danger level %q on: it is one of %v",
			o.ReauthenticateFrom, gen.Dangers())
	}
	for _, host := range o.Hosts {
		if !o.Secure && !loopback.Is(host) {
			return fmt.Errorf("the host %s is not this machine: serve the console there by HTTPS, and set Secure", host)
		}
	}
	return nil
}

// handler has the routes. What a GET is answered with changes nothing, except that who comes back from another login is
// let in.
func (c *console) handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(route string, h http.HandlerFunc) {
		method, path, _ := strings.Cut(route, " ")
		mux.HandleFunc(method+" "+c.o.Path+path, h)
	}
	handle("GET /{$}", c.known(c.showInbox))
	handle("GET /items/{id}", c.known(c.showItem))
	handle("GET /items/{id}/whole", c.known(c.showWhole))
	handle("POST /items/{id}", c.known(c.decide))
	handle("POST /items/{id}/code", c.known(c.showCode))
	c.handleExecutions(handle)
	c.handleAgents(handle)
	c.handleRecords(handle)
	if c.feed != nil {
		handle("GET /calls", c.known(c.showCalls))
		handle("GET /calls/events", c.showCallEvents)
	}
	if c.o.Health != nil {
		handle("GET /health", c.known(c.showHealth))
		handle("GET /health/events", c.showHealthEvents)
	}
	c.handleQuotas(handle)
	c.handlePolicy(handle)
	c.handleSigning(handle)
	handle("GET /events", c.showEvents)
	handle("GET /login", c.showLogin)
	handle("POST /login", c.logIn)
	handle("GET /link/{secret}", c.showLink)
	handle("POST /link/{secret}", c.useLink)
	if c.o.Login != nil {
		handle("GET "+beginPath, c.beginOther)
		handle("GET "+backPath, c.comeBack)
	}
	handle("POST /logout", c.known(c.logOut))
	handle("GET /assets/{name}", c.asset)
	handle("GET /", c.known(c.showNothing))
	return c.guard(mux)
}

func (c *console) now() time.Time { return c.o.Now() }
