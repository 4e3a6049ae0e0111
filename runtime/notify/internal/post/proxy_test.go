package post

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A proxy is refused whose password was put where another part of the address belongs.
func TestProxies(t *testing.T) {
	for location, want := range map[string]error{
		"http://proxy.example.com:3128":           nil,
		"http://eve:pass@proxy.example.com:3128/": nil, "https://proxy.example.com": nil,
		"socks5://127.0.0.1:1080": nil, "socks5h://127.0.0.1:1080": nil, "ftp://eve:pass@proxy.example.com": errNoProxy,
		"http://http://eve:p%2Fss@proxy": errNoProxy, "http://eve/pass@proxy.example.com": errNoProxy, "http://": errNoProxy,
		"http://eve?pass@proxy.example.com": errNoProxy, "http://eve#pass@proxy.example.com": errNoProxy,
	} {
		u, err := url.Parse(location)
		if err := checkProxy(u, err); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", location, err, want)
		}
	}
	if err := checkProxy(nil, errors.New("invalid proxy address with a secret")); !errors.Is(err, errNoProxy) {
		t.Error(err)
	}
	if err := checkProxy(nil, nil); err != nil {
		t.Errorf("no proxy: %v", err)
	}
}

// What is said of a proxy that cannot be reached has no part of its address.
func TestProxiesThatFail(t *testing.T) {
	a := open(t, "https://hooks.example.com/aql")
	a.client.Transport.(*http.Transport).Proxy = func(*http.Request) (*url.URL, error) {
		return &url.URL{Scheme: "http", User: url.UserPassword("eve", "hunter2"), Host: "hunter2.invalid:0"}, nil
	}
	err := a.Send(t.Context(), []byte("{}"), nil)
	if !errors.Is(err, errProxyFails) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error is %v", err)
	}
}
