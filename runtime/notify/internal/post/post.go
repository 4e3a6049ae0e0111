// Package post sends a text to one address over HTTP, for channels that tell people something. The address is the
// operator's, and whoever answers there is not trusted: the answer is not read, redirects are not followed, and the
// address appears in no error.
package post

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/loopback"
)

// Address is where something is sent.
type Address struct {
	url    *url.URL
	client *http.Client
}

// Open returns an address. It fails unless that is https, or http on this machine, without a user in it.
func Open(location string) (*Address, error) {
	u, err := url.Parse(location)
	switch {
	case err != nil: // whose text has the location, which may be a secret
		return nil, errors.New("its address is not a URL")
	case u.Host == "" || u.Hostname() == "":
		return nil, errors.New("it needs an address, such as https://hooks.example.com/aql")
	case u.User != nil:
		return nil, errors.New("its address has a user or a password in it: give a secret in a file (-notify-key)")
	case u.Fragment != "":
		return nil, errors.New("its address has a fragment, which is not sent")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback.Is(u.Hostname())):
		return nil, fmt.Errorf("it needs an https:// address; http:// is for this machine, as in http://127.0.0.1:8080, and "+
			"%s is not", u.Host)
	}
	if _, err := proxyOf(&http.Request{URL: u}); err != nil {
		return nil, err
	}
	a := &Address{url: u}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: a.check}
	a.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: proxyOf, DialContext: dialer.DialContext, DisableKeepAlives: true,
			TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
	}
	return a, nil
}

// check refuses to connect where nobody receives notices: http to another machine, and networks in which machines ask
// their cloud who they are.
func (a *Address) check(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("it is at %q, which is no address of a network", address)
	}
	ip := to.Addr().Unmap()
	switch {
	case a.url.Scheme == "http" && !ip.IsLoopback():
		return errors.New("it is not this machine, and http:// is for that alone")
	case ip.IsUnspecified(), ip.IsLinkLocalUnicast(), ip.IsMulticast():
		return fmt.Errorf("%s is the address of no receiver", ip)
	}
	return nil
}

// Host returns the host of the address, with its port where it has one.
func (a *Address) Host() string { return a.url.Host }

// Local reports whether the address is on this machine.
func (a *Address) Local() bool { return loopback.Is(a.url.Hostname()) }

// Path returns the path of the address.
func (a *Address) Path() string { return a.url.Path }

// HasQuery reports whether the address has a query.
func (a *Address) HasQuery() bool { return a.url.RawQuery != "" }

// At returns an address with another path and no query, to which the same connections are made.
func (a *Address) At(path string) *Address {
	other := *a.url
	other.Path, other.RawPath, other.RawQuery = path, "", ""
	return &Address{url: &other, client: a.client}
}

// Error is an answer that says that what was sent did not arrive.
type Error struct {
	Host   string
	Status int
	after  time.Duration
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s answers %d %s", e.Host, e.Status, http.StatusText(e.Status))
	if e.Status >= 300 && e.Status < 400 {
		text += ", and redirects are not followed"
	}
	return strings.TrimRight(text, " ")
}

// RetryAfter returns how long the receiver wants to be left alone; zero: it has not said.
func (e *Error) RetryAfter() time.Duration { return e.after }

// Send posts a JSON text once. It fails unless the answer is 2xx.
func (a *Address) Send(ctx context.Context, body []byte, header map[string]string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is not a URL")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "aql-notify/1")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	answer, err := a.client.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok { // whose text has the address
			err = wrapped.Err
		}
		return fmt.Errorf("%s does not answer: %w", a.url.Host, withoutProxy(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 200 && answer.StatusCode < 300 {
		_, _ = io.CopyN(io.Discard, answer.Body, 4<<10) // so that the receiver can end in peace
		return nil
	}
	return &Error{Host: a.url.Host, Status: answer.StatusCode, after: retryAfter(answer.Header.Get("Retry-After"))}
}

// retryAfter reads the seconds of a header; zero: it has none. Dates are for clocks that agree.
func retryAfter(text string) time.Duration {
	const most = 24 * 60 * 60
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, most)) * time.Second
}
