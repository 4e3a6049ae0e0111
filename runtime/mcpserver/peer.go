package mcpserver

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// peer returns the name of who sends a request, for the bounds of each caller: the owner of the token, or else the
// address. It is empty for those who cannot be told apart: over a Unix socket, and on this machine, where a proxy may
// be in front of all.
func (s *Server) peer(r *http.Request) string {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil && info.UserID != "" {
		return info.UserID
	}
	if s.options.Peer != nil {
		return s.options.Peer(r)
	}
	colon := strings.LastIndexByte(r.RemoteAddr, ':')
	if colon < 0 {
		return ""
	}
	host := strings.Trim(r.RemoteAddr[:colon], "[]")
	address, err := netip.ParseAddr(host)
	if err != nil || address.IsLoopback() {
		return ""
	}
	if address = address.Unmap(); address.Is4() {
		return strings.TrimPrefix(host, "::ffff:")
	}
	network, err := address.Prefix(64) // which one customer of a network provider has
	if err != nil {
		return ""
	}
	return network.Addr().String()
}

type peerKey struct{}

// withPeer has the SDK's handlers know who sends a request.
func withPeer(r *http.Request, peer string) *http.Request {
	if peer == "" {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), peerKey{}, peer))
}

func peerOf(ctx context.Context) string {
	peer, _ := ctx.Value(peerKey{}).(string)
	return peer
}
