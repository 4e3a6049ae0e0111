//go:build unix

package deploy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A proxy is HAProxy with a configuration of the folder deploy, on an address of the test.
type proxy struct {
	*testing.T
	secure string
	log    output
}

// startProxy starts HAProxy. places are those of the configuration and of the test, in turn.
func startProxy(t *testing.T, configuration, dir string, places []string) *proxy {
	t.Helper()
	p := &proxy{T: t, secure: free(t)}
	file, err := checkProxy(t, configuration, dir, append([]string{":443", p.secure}, places...))
	if err != nil {
		t.Fatal(err)
	}
	program := need(t, "haproxy", "haproxy")
	command := exec.CommandContext(t.Context(), program, "-db", "-f", file)
	command.Stdout, command.Stderr = &p.log, &p.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
		for line := range strings.Lines(p.log.String()) {
			if t.Failed() && !strings.Contains(line, " 200 ") {
				t.Logf("HAProxy: %s", line)
			}
		}
	})
	return p
}

// checkProxy has HAProxy look at a configuration with places of the test, and returns its file.
func checkProxy(t *testing.T, configuration, dir string, places []string) (file string, err error) {
	t.Helper()
	text, err := os.ReadFile(configuration)
	if err != nil {
		return "", err
	}
	places = append(places, "bind :80", "bind "+free(t), "/dev/log", filepath.Join(dir, "log"))
	write(t, dir, 0o600, map[string]string{"here.cfg": strings.NewReplacer(places...).Replace(string(text))})
	file = filepath.Join(dir, "here.cfg")
	program := need(t, "haproxy", "haproxy")
	printed, err := exec.CommandContext(t.Context(), program, "-c", "-q", "-f", file).CombinedOutput()
	if err == nil && strings.Contains(string(printed), "WARNING") {
		err = errors.New("warnings")
	}
	if err != nil {
		err = fmt.Errorf("HAProxy does not accept %s: %w\n%s", configuration, err, printed)
	}
	return file, err
}

// agent returns an agent that calls a host behind the proxy, over TLS, when the proxy has found an adapter.
func (p *proxy) agent(host, token string, trusted *x509.CertPool) agent {
	p.Helper()
	a := agent{url: "https://" + host, token: token, client: p.client(trusted)}
	for { // the test's own deadline bounds it
		_, err := a.call(p.Context(), "read", "list_todos", nil)
		if err == nil || strings.HasPrefix(err.Error(), "40") {
			return a
		}
		if p.Context().Err() != nil {
			p.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// client returns a client that reaches every host at the proxy, over TLS.
func (p *proxy) client(trusted *x509.CertPool) *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: trusted, ServerName: "todo.example.org"},
		ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", p.secure)
		},
	}}
}

// certify makes the certificate of a host, as an ACME client leaves it, and returns what trusts it.
func certify(t *testing.T, dir, host string) *x509.CertPool {
	t.Helper()
	openssl := need(t, "openssl", "openssl")
	certificate := filepath.Join(dir, "fullchain.pem")
	command := exec.CommandContext(t.Context(), openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
		"ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN="+host, "-addext", "subjectAltName=DNS:"+host,
		"-keyout", filepath.Join(dir, "privkey.pem"), "-out", certificate)
	if printed, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	text, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		t.Fatal("the certificate is none")
	}
	return trusted
}
