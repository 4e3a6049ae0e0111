package mcpserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/loopback"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionless is the first protocol version in which HTTP has no sessions.
const sessionless = "2026-07-28"

// Handler returns a handler of streamable HTTP, for any path. It serves protocol version 2026-07-28 and later, which
// has no sessions, and earlier versions, which have them; a header of the request distinguishes them. Handler fails if
// a trusted origin is not an origin, if Bearer has no Verify, and as Err does.
func (s *Server) Handler() (http.Handler, error) {
	if s.err != nil {
		return nil, s.err
	}
	server := func(*http.Request) *mcp.Server { return s.mcp }
	options := mcp.StreamableHTTPOptions{
		Logger:                       s.log,
		MaxRequestBodyBytes:          s.options.MaxBodyBytes,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // hostAllowed protects, and lets AllowedHosts decide where a proxy is in front
	}
	stateful := mcp.NewStreamableHTTPHandler(server, &options)
	options.Stateless = true
	stateless := mcp.NewStreamableHTTPHandler(server, &options)

	origins := http.NewCrossOriginProtection()
	for _, origin := range s.options.TrustedOrigins {
		if err := origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("trusted origins: %w", err)
		}
	}
	if b := s.options.Bearer; b != nil && b.Verify == nil {
		return nil, errors.New("bearer tokens: set Bearer.Verify, which verifies them")
	}
	front := &web{Server: s, direct: newDirect(s), stateful: stateful, stateless: stateless}
	serve := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hostAllowed(r) {
			http.Error(w, "this host name is not allowed", http.StatusForbidden)
			return
		}
		front.ServeHTTP(w, r)
	}))
	if s.options.Bearer != nil {
		serve = s.require(s.options.Bearer, serve)
	}
	return s.hasDeadline(origins.Handler(serve)), nil
}

// hasDeadline bounds how long a body may take, also of a request that is refused before it is read. net/http ends the
// deadline with the body.
func (s *Server) hasDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 { // otherwise net/http reads already, to see whether the client disconnects
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.options.ClientTimeout)) // if it has one
		}
		next.ServeHTTP(w, r)
	})
}

// hostAllowed reports whether a request names a host that the server goes by.
func (s *Server) hostAllowed(r *http.Request) bool {
	if len(s.options.AllowedHosts) == 0 {
		return !loopback.Rebound(r)
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return slices.Contains(s.options.AllowedHosts, host) || slices.Contains(s.options.AllowedHosts, r.Host)
}
