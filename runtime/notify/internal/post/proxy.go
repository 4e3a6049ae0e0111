package post

import (
	"errors"
	"net"
	"net/http"
	"net/url"
)

// Why nothing is sent through a proxy. What the environment says of it may have a password, wherever that was put by
// mistake, and is in no error.
var (
	errNoProxy    = errors.New("HTTPS_PROXY or HTTP_PROXY is not the URL of a proxy, such as http://proxy.example:3128")
	errProxyFails = errors.New("the proxy of HTTPS_PROXY or HTTP_PROXY cannot be reached")
)

// checkProxy fails if the proxy for an address, as http.ProxyFromEnvironment returns it, is none.
func checkProxy(proxy *url.URL, err error) error {
	switch {
	case err != nil:
		return errNoProxy
	case proxy == nil:
		return nil
	case proxy.Hostname() == "" || proxy.Path != "" && proxy.Path != "/" || proxy.RawQuery != "" || proxy.Fragment != "":
		return errNoProxy // a name or a password that is not encoded leaves a part of itself there
	}
	switch proxy.Scheme {
	case "http", "https", "socks5", "socks5h":
		return nil
	}
	return errNoProxy
}

// proxyOf is http.ProxyFromEnvironment with an error of our own.
func proxyOf(r *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(r)
	if err := checkProxy(proxy, err); err != nil {
		return nil, err
	}
	return proxy, nil
}

// withoutProxy returns an error of net/http without what it says of a proxy.
func withoutProxy(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "proxyconnect" {
		return errProxyFails
	}
	return err
}
