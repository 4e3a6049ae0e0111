package redis

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	schemeTCP    = "redis"
	schemeTLS    = "rediss"
	schemeSocket = "redis+unix"
)

// patience bounds how long a call waits for the server, if its context does not end earlier.
const patience = 5 * time.Second

var spaces = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$`)

// place is a parsed location.
type place struct {
	options *goredis.Options
	space   string
	shown   string // the location without user, password and options
}

// errForm replaces the errors of other packages about a location: they quote it, and with it the password.
var errForm = errors.New("it must have the form redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], " +
	"rediss:// in its place for TLS, or redis+unix:///PATH; " +
	"write characters of the password that are neither letters nor digits as % with two hex digits")

// errOption does not name the option, which can be a part of a password with a question mark.
var errOption = errors.New("its options can be space and, with redis+unix, db, each of them once; " +
	"a question mark of the password is written %3F")

// parse parses a location. Its errors do not quote it.
func parse(location string) (place, error) {
	u, err := url.Parse(location)
	if err != nil || u.Opaque != "" || u.Fragment != "" || u.RawFragment != "" || strings.HasSuffix(location, "#") {
		return place{}, errForm
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return place{}, errForm
	}
	p := place{space: "aql", options: &goredis.Options{
		// A change that may have been made must not be repeated: the second would conflict with the version of the first.
		MaxRetries:            -1,
		DialerRetries:         1,
		DialTimeout:           patience,
		ReadTimeout:           patience,
		WriteTimeout:          patience,
		ContextTimeoutEnabled: true,
		Protocol:              2, // the store does not use what the server pushes with 3
		PipelinePoolSize:      -1,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}}
	if u.User != nil {
		p.options.Username = u.User.Username()
		p.options.Password, _ = u.User.Password()
		if p.options.Password == "" && p.options.Username != "" {
			return place{}, errors.New("it names a user without a password: " +
				"write USER:PASSWORD@, or :PASSWORD@ for the default user")
		}
	}
	switch u.Scheme {
	case schemeSocket:
		if u.Host != "" || len(u.Path) < 2 {
			return place{}, errForm
		}
		p.options.Network, p.options.Addr = "unix", u.Path
	case schemeTCP, schemeTLS:
		host := cmp.Or(u.Hostname(), "localhost")
		p.options.Network, p.options.Addr = "tcp", net.JoinHostPort(host, cmp.Or(u.Port(), "6379"))
		if u.Scheme == schemeTLS {
			p.options.TLSConfig = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
		}
		if number := strings.TrimPrefix(u.Path, "/"); number != "" {
			if err := p.database(number); err != nil {
				return place{}, err
			}
		}
	default:
		return place{}, errForm
	}
	p.shown = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	for name, values := range query {
		switch {
		case len(values) > 1:
			return place{}, errOption
		case name == "db" && u.Scheme == schemeSocket:
			if err := p.database(values[0]); err != nil {
				return place{}, err
			}
		case name == "space" && spaces.MatchString(values[0]):
			p.space = values[0]
		case name == "space":
			return place{}, errors.New("its option space must be of up to 64 letters, digits and . _ : -, " +
				"with a letter or digit first")
		default:
			return place{}, errOption
		}
	}
	return p, nil
}

func (p *place) database(number string) error {
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return errors.New("its database must be a number, such as 0")
	}
	p.options.DB = int(n)
	return nil
}
