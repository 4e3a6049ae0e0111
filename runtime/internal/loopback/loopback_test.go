package loopback

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHostsOfThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "localhost:9464": true, "127.0.0.1": true, "127.9.9.9:80": true, "::1": true, "[::1]": true,
		"[::1]:80": true, "LocalHost:80": true, "[::ffff:127.0.0.1]:80": true,
		"": false, "example.com": false, "localhost.example.com": false, "127.0.0.1.example.com:80": false,
		"10.0.0.1:80": false, "0.0.0.0": false, "[::]:80": false,
	} {
		if got := Is(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

// A request to an address of this machine is under another name only where a name was rebound. Other addresses have
// names that nobody here knows.
func TestRebound(t *testing.T) {
	for name, tt := range map[string]struct {
		address net.Addr
		host    string
		want    bool
	}{
		"its own name":       {&net.TCPAddr{IP: net.IPv6loopback}, "localhost:9464", false},
		"another name":       {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "evil.example:9464", true},
		"no name":            {&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "", true},
		"another address":    {&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, "metrics.example", false},
		"a Unix socket":      {&net.UnixAddr{Name: "/run/s", Net: "unix"}, "evil.example", false},
		"an unknown address": {nil, "evil.example", false},
	} {
		ctx := t.Context()
		if tt.address != nil {
			ctx = context.WithValue(ctx, http.LocalAddrContextKey, tt.address)
		}
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil)
		request.Host = tt.host
		if got := Rebound(request); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
