package mcpclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// bounded is a transport to one origin that sends a bearer token and limits the length of answers.
type bounded struct {
	origin *url.URL
	bearer string
	limit  int64
	hides  hidden

	mu        sync.Mutex
	redirects []string
	refused   error // why a redirect was not followed; nil: all were
}

func newBounded(endpoint string, options Options) (*bounded, error) {
	origin, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("reading the URL: %w", err)
	}
	return &bounded{origin: origin, bearer: options.Bearer, limit: int64(options.MaxAnswerBytes),
		hides: hiddenFor(endpoint, options.Bearer)}, nil
}

// errElsewhere means that a request was meant for another origin than the endpoint's.
var errElsewhere = errors.New("nothing is sent to another origin than the endpoint's")

func (b *bounded) owns(target *url.URL) bool {
	return target.Scheme == b.origin.Scheme && target.Host == b.origin.Host
}

// RoundTrip implements http.RoundTripper. It refuses requests to other origins.
func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	if !b.owns(request.URL) {
		return nil, errElsewhere
	}
	if b.bearer != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+b.bearer)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		response.Body = &limited{response.Body, b.limit, b.limit}
	}
	return response, err
}

// checkRedirect implements http.Client.CheckRedirect. It records redirects, and follows those within the origin that
// keep the method of the request.
func (b *bounded) checkRedirect(request *http.Request, via []*http.Request) error {
	first := via[0]
	sentence := fmt.Sprintf("%s redirects to %s", b.hides.text(shown(first.URL)), b.hides.text(shown(request.URL)))
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.redirects, sentence) && len(b.redirects) < 10 {
		b.redirects = append(b.redirects, sentence)
	}
	switch {
	case !b.owns(request.URL):
		b.refused = fmt.Errorf("%s: %w; give that URL if you mean it", sentence, errElsewhere)
	case request.Method != first.Method:
		b.refused = fmt.Errorf("%s, which makes %s of a %s", sentence, request.Method, first.Method)
	case len(via) >= 5:
		b.refused = fmt.Errorf("%s, after %d others", sentence, len(via)-1)
	default:
		return nil
	}
	return b.refused
}

// refusal returns why a redirect was not followed; nil: none was refused.
func (b *bounded) refusal() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Redirects implements conform.Redirector.
func (c *Client) Redirects() []string {
	if c.http == nil {
		return nil
	}
	c.http.mu.Lock()
	defer c.http.mu.Unlock()
	return slices.Clone(c.http.redirects)
}

// limited is the body of an answer of limited length.
type limited struct {
	io.ReadCloser
	left, limit int64
}

// Read fails beyond the limit.
func (l *limited) Read(into []byte) (int, error) {
	n, err := l.ReadCloser.Read(into)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("the server sent an answer of more than %d bytes", l.limit)
	}
	return n, err
}
