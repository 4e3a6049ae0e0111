// Package loopback tells what only this machine can reach, and protects that from web pages whose name was rebound.
package loopback

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Rebound reports whether a request came to an address of this machine alone under the name of another one, as from a
// web page whose name was rebound. A request over a Unix socket did not.
func Rebound(r *http.Request) bool {
	return Local(r) && !Is(r.Host)
}

// Local reports whether a request came to an address of this machine alone. It is false where net/http does not say.
func Local(r *http.Request) bool {
	switch local := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr: // without the text of it, for speed
		return local.IP.IsLoopback()
	case net.Addr:
		return Is(local.String())
	}
	return false
}

// Is reports whether a host, with a port or without, is one of this machine alone, in upper or lower case.
func Is(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else {
		host = strings.Trim(host, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
