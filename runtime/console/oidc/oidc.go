// Package oidc lets people log in to a console with an OpenID provider (OpenID Connect Core 1.0), such as the one of
// their company:
//
//	login, err := oidc.New(oidc.Options{
//		Issuer: "https://login.example", ClientID: "console", ClientSecret: secret, Label: "Log in with Example",
//		Roles: map[identity.Role][]string{identity.Admin: {"platform"}, identity.Approver: {"ops", "support"}},
//	})
//	…
//	serve.Main(registry, serve.Options{
//		Console: func(ctx context.Context, address string, o setup.Options) (func() string, func(), error) {
//			o.Login = login
//			return console.Serve(ctx, address, o)
//		},
//	})
//
// It is the code flow with PKCE (RFC 7636). State, nonce and verifier are in the browser that has begun, and nowhere
// else. The groups of a person are those that the provider names, and the role follows from them.
package oidc

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/loopback"
)

// Options configures a login. Issuer, ClientID and Roles are required.
type Options struct {
	// Issuer is the address of the provider. Its configuration is read from there when the first person logs in.
	Issuer string
	// ClientID and ClientSecret are those of the console at the provider, which leads back to /login/back below the
	// address of the console. Without a secret it is a public client.
	ClientID, ClientSecret string
	// Label stands on the button. Default: Log in with, and the name of the provider's host.
	Label string
	// Scopes are asked for beside openid. Default: profile.
	Scopes []string
	// Groups is the claim of the ID token that has the groups of a person, a list of texts or one. Default: groups.
	Groups string
	// Roles are the groups whose members have a role. Who is in several has the greatest, and who is in none is not let
	// in. The group * is everybody whom the provider names.
	Roles map[identity.Role][]string
	// Client calls the provider; nil: one that waits for ten seconds.
	Client *http.Client
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// skew is how far the clock of the provider may be from that of the console.
const skew = time.Minute

// longestReading is how long the provider has to answer with its configuration, and afterFailure how long nobody asks
// for it again when it has not.
const longestReading, afterFailure = 10 * time.Second, 5 * time.Second

// everybody is the group of whom the provider names.
const everybody = "*"

// login is a way to log in.
type login struct {
	o Options

	mu       sync.Mutex
	provider *oidc.Provider // nil: its configuration was not read yet
	reading  *attempt       // the last one to read it; nil: there was none
}

// attempt is one call of the provider for its configuration, for which all wait who need it meanwhile.
type attempt struct {
	over chan struct{} // closed when it is
	err  error         // before that nobody reads it
	at   time.Time     // when it was over
}

// New returns the login. It fails if an option is missing or wrong.
func New(o Options) (setup.Login, error) {
	issuer, err := url.Parse(o.Issuer)
	switch {
	case err != nil || issuer.Host == "" ||
		issuer.Scheme != "https" && (issuer.Scheme != "http" || !loopback.Is(issuer.Host)):
		return nil, fmt.Errorf("setting up the OpenID login: the issuer %q is no address by HTTPS", o.Issuer)
	case o.ClientID == "":
		return nil, errors.New("setting up the OpenID login: it needs the ID of the console at the provider")
	case len(o.Roles) == 0:
		return nil, errors.New("setting up the OpenID login: it needs the groups that have a role; nobody could log in")
	}
	for role := range o.Roles {
		if _, err := identity.ParseRole(string(role)); err != nil {
			return nil, fmt.Errorf("setting up the OpenID login: %w", err)
		}
	}
	o.Label, o.Groups = cmp.Or(o.Label, "Log in with "+issuer.Host), cmp.Or(o.Groups, "groups")
	if o.Scopes == nil {
		o.Scopes = []string{"profile"}
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 10 * time.Second}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &login{o: o}, nil
}

func (l *login) Label() string { return l.o.Label }

// kept is what a browser keeps while its person is at the provider.
type kept struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Again    bool      `json:"again,omitempty"`
	Began    time.Time `json:"began"`
}

// open returns the provider, whose configuration is read once, and a context for calls of it. Anybody can have it
// called before it has answered: so there is one call at a time, and none for a moment after one that failed.
func (l *login) open(ctx context.Context) (context.Context, *oidc.Provider, error) {
	provider, a := l.read()
	if provider == nil {
		select {
		case <-a.over:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("waiting for the configuration of the OpenID provider: %w", ctx.Err())
		}
		if a.err != nil {
			return nil, nil, fmt.Errorf("reading the configuration of the OpenID provider: %w", a.err)
		}
		provider, _ = l.read()
	}
	return oidc.ClientContext(ctx, l.o.Client), provider, nil
}

// read returns the provider, or the attempt to read its configuration that counts now.
func (l *login) read() (*oidc.Provider, *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.provider != nil {
		return l.provider, nil
	}
	if a := l.reading; a != nil {
		select {
		case <-a.over:
			if since := l.o.Now().Sub(a.at); 0 <= since && since < afterFailure {
				return nil, a
			}
		default:
			return nil, a
		}
	}
	l.reading = &attempt{over: make(chan struct{})}
	go l.discover(l.reading)
	return nil, l.reading
}

// discover makes an attempt. It goes on when the request is over that began it: others may wait for it.
func (l *login) discover(a *attempt) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(context.Background(), l.o.Client), longestReading)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, l.o.Issuer)
	l.mu.Lock()
	defer l.mu.Unlock()
	a.err, a.at = err, l.o.Now()
	if err == nil {
		l.provider = provider
	}
	close(a.over)
}

// client returns the console as a client of the provider.
func (l *login) client(provider *oidc.Provider, back string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: l.o.ClientID, ClientSecret: l.o.ClientSecret, Endpoint: provider.Endpoint(), RedirectURL: back,
		Scopes: append([]string{oidc.ScopeOpenID}, l.o.Scopes...),
	}
}

// Begin implements setup.Login.
func (l *login) Begin(ctx context.Context, back string, again bool) (to, text string, err error) {
	_, provider, err := l.open(ctx)
	if err != nil {
		return "", "", err
	}
	k := kept{
		State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(),
		Again: again, Began: l.o.Now().UTC(),
	}
	data, err := json.Marshal(k)
	if err != nil {
		return "", "", fmt.Errorf("encoding what a browser keeps: %w", err)
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(k.Nonce), oauth2.S256ChallengeOption(k.Verifier)}
	if again { // then the ID token has auth_time (OpenID Connect Core 1.0 §3.1.2.1)
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return l.client(provider, back).AuthCodeURL(k.State, options...), string(data), nil
}

// claims are those of an ID token that are looked at here, beside those that the library verifies.
type claims struct {
	AuthTime *int64 `json:"auth_time"` // in seconds since 1970
	Party    string `json:"azp"`
}

// refused returns the error of who may not log in.
func refused(says string, err error) error {
	return &setup.RefusedError{Says: says, Err: fmt.Errorf("logging in with the OpenID provider: %w", err)}
}

// beginAgain is said where what came back is not what was begun.
const beginAgain = "What came back is not what this browser has begun, or is too old. Begin to log in again."

// Finish implements setup.Login.
func (l *login) Finish(ctx context.Context, back string, fields url.Values, text string) (setup.Person, error) {
	var k kept
	err := json.Unmarshal([]byte(text), &k)
	switch {
	case err != nil:
		return setup.Person{}, refused(beginAgain, err)
	case k.State == "" || k.Nonce == "" || k.Verifier == "" ||
		subtle.ConstantTimeCompare([]byte(k.State), []byte(fields.Get("state"))) != 1:
		return setup.Person{}, refused(beginAgain, errors.New("the state is another one"))
	case fields.Has("iss") && fields.Get("iss") != l.o.Issuer: // RFC 9207 §2.4
		return setup.Person{}, refused(beginAgain, errors.New("another issuer has answered"))
	case fields.Get("error") != "":
		return setup.Person{}, refused("The provider has not let you in.", fmt.Errorf("it says %q", fields.Get("error")))
	}
	token, err := l.redeem(ctx, back, fields.Get("code"), &k)
	if err != nil {
		return setup.Person{}, err
	}
	return l.person(token, &k)
}

// redeem returns the ID token that the provider gives for a code, after it was verified.
func (l *login) redeem(ctx context.Context, back, code string, k *kept) (*oidc.IDToken, error) {
	ctx, provider, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := l.client(provider, back).Exchange(ctx, code, oauth2.VerifierOption(k.Verifier))
	if err != nil {
		if _, answered := errors.AsType[*oauth2.RetrieveError](err); answered {
			return nil, refused(beginAgain, err)
		}
		return nil, fmt.Errorf("asking the OpenID provider for a token: %w", err)
	}
	raw, ok := answer.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the OpenID provider gives no ID token")
	}
	token, err := provider.Verifier(&oidc.Config{ClientID: l.o.ClientID, Now: l.o.Now}).Verify(ctx, raw)
	if err != nil {
		return nil, refused(beginAgain, err)
	}
	return token, nil
}

// person returns whom an ID token names.
func (l *login) person(token *oidc.IDToken, k *kept) (setup.Person, error) {
	var c claims
	var all map[string]json.RawMessage
	err := errors.Join(token.Claims(&c), token.Claims(&all))
	switch {
	case err != nil:
		return setup.Person{}, refused(beginAgain, err)
	case subtle.ConstantTimeCompare([]byte(k.Nonce), []byte(token.Nonce)) != 1:
		return setup.Person{}, refused(beginAgain, errors.New("the nonce is another one"))
	case c.Party != "" && c.Party != l.o.ClientID, c.Party == "" && len(token.Audience) > 1:
		return setup.Person{}, refused(beginAgain, errors.New("the token is for another client"))
	case token.Subject == "":
		return setup.Person{}, refused(beginAgain, errors.New("the token names nobody"))
	}
	person := setup.Person{Who: identity.Caller{Subject: token.Subject, Issuer: token.Issuer}, Name: name(all)}
	if person.Groups, err = groups(all[l.o.Groups]); err != nil {
		return setup.Person{}, refused("The provider says in a way that is not understood in which groups you are.", err)
	}
	if c.AuthTime != nil {
		person.At = l.shown(time.Unix(*c.AuthTime, 0).UTC())
	}
	if k.Again && person.At.Before(k.Began.Add(-skew)) {
		return setup.Person{}, refused("The provider has not asked you once more who you are.",
			fmt.Errorf("auth_time is %v, and the login began at %v", person.At, k.Began))
	}
	if person.Role = l.role(person.Groups); person.Role == "" {
		return setup.Person{}, refused("You are in no group that may look at this console. Its operator says which ones do.",
			fmt.Errorf("%q is in none of the groups that have a role", token.Subject))
	}
	return person, nil
}

// shown returns when a person has shown who it is, on the clock of the console; zero: that cannot be.
func (l *login) shown(at time.Time) time.Time {
	now := l.o.Now().UTC()
	switch ahead := at.Sub(now); {
	case ahead > skew:
		return time.Time{}
	case ahead > 0:
		return now
	}
	return at
}

// role returns the greatest role of the members of groups; empty: they have none.
func (l *login) role(groups []string) identity.Role {
	var greatest identity.Role
	for role, members := range l.o.Roles {
		has := slices.ContainsFunc(members, func(group string) bool {
			return group == everybody || slices.Contains(groups, group)
		})
		if has && (greatest == "" || role.Includes(greatest)) {
			greatest = role
		}
	}
	return greatest
}

// name returns how the claims name a person for others to read (OpenID Connect Core 1.0 §5.1); empty: they do not.
func name(claims map[string]json.RawMessage) string {
	for _, claim := range []string{"preferred_username", "name"} {
		var text string
		if json.Unmarshal(claims[claim], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// groups returns the groups of a claim, which is a list of texts or one; nil: there is no such claim.
func groups(claim json.RawMessage) ([]string, error) {
	if len(claim) == 0 || string(claim) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(claim, &one) == nil {
		return []string{one}, nil
	}
	var all []string
	if err := json.Unmarshal(claim, &all); err != nil {
		return nil, fmt.Errorf("reading the groups: %w", err)
	}
	return all, nil
}
