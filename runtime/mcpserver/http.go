package mcpserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionless is the first protocol version on which every HTTP request stands alone.
const sessionless = "2026-07-28"

// Handler serves streamable HTTP at any path. Requests of protocol version 2026-07-28 and later, which know no sessions,
// and those of earlier versions, which do, are told apart by their header and served by the same tools. It fails on origins that
// are none, and where bearer tokens are asked for that nobody verifies.
func (s *Server) Handler() (http.Handler, error) {
	server := func(*http.Request) *mcp.Server { return s.mcp }
	options := mcp.StreamableHTTPOptions{
		Logger:                       s.log,
		SessionTimeout:               s.options.SessionTimeout,
		MaxRequestBodyBytes:          s.options.MaxBodyBytes,
		PropagateRequestCancellation: true,
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
		return nil, errors.New("bearer tokens: nobody verifies them; set Bearer.Verify")
	}
	serve := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.hostAllowed(r):
			http.Error(w, "this host name is not allowed", http.StatusForbidden)
		case r.Header.Get("Mcp-Protocol-Version") >= sessionless:
			stateless.ServeHTTP(w, r)
		case r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && s.full():
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many sessions are open; try again later", http.StatusServiceUnavailable)
		default:
			stateful.ServeHTTP(w, r)
		}
	}))
	if s.options.Bearer != nil {
		serve = s.require(s.options.Bearer, serve)
	}
	return origins.Handler(serve), nil
}

// full reports whether no further session may be opened.
func (s *Server) full() bool {
	open := 0
	for range s.mcp.Sessions() {
		open++
	}
	return open >= s.options.MaxSessions
}

func (s *Server) hostAllowed(r *http.Request) bool {
	if len(s.options.AllowedHosts) == 0 {
		return true
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return slices.Contains(s.options.AllowedHosts, host) || slices.Contains(s.options.AllowedHosts, r.Host)
}
