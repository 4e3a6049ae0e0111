package console

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
)

// pemFiles are those of a certificate in a test.
type pemFiles struct{ cert, key string }

// write writes a new certificate for names, and returns who trusts it.
func (f pemFiles) write(t *testing.T, names ...string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		f.cert: {Type: "CERTIFICATE", Bytes: der}, f.key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

func newFiles(t *testing.T) pemFiles {
	t.Helper()
	folder := t.TempDir()
	return pemFiles{filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")}
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// closing is a connection that says when it is closed.
type closing struct {
	net.Conn
	closed func()
}

func (c closing) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// trusting returns a browser that trusts certificates, and keeps no connection. The test ends when all are closed:
// closing one draws random numbers, and other tests set where these come from.
func trusting(t *testing.T, pool *x509.CertPool) *http.Client {
	var open sync.WaitGroup
	t.Cleanup(open.Wait)
	return &http.Client{
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				open.Add(1)
				return closing{conn, sync.OnceFunc(open.Done)}, nil
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get returns the status of a page; zero: the connection fails.
func get(t *testing.T, browser *http.Client, address string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := browser.Do(r)
	if err != nil {
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

// With a certificate the console is served by HTTPS under the names of that, also where other machines reach it. Its
// cookies are for HTTPS and this host alone, and a renewed certificate needs no restart.
func TestServeByHTTPS(t *testing.T) {
	files, state := newFiles(t), new(store.Memory)
	pool := files.write(t, "127.0.0.1", "*.example.com")
	const typed = "correct horse battery"
	err := passphrase.Book{Store: state, Rounds: 10}.Choose(t.Context(), identity.User("eve"), 0, typed)
	if err != nil {
		t.Fatal(err)
	}
	at, end, err := Serve(t.Context(), "0.0.0.0:0", Options{
		Name: "notes", Store: state, Logger: quiet, Certificate: files.cert, Key: files.key,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if !strings.HasPrefix(at(), "https://127.0.0.1:") {
		t.Fatalf("the console is at %s", at())
	}
	if got := get(t, trusting(t, pool), at()+"login"); got != http.StatusOK {
		t.Errorf("by HTTPS: %d", got)
	}
	if got := get(t, http.DefaultClient, "http"+strings.TrimPrefix(at(), "https")+"login"); got != http.StatusBadRequest {
		t.Errorf("by HTTP: %d", got)
	}
	form := url.Values{"name": {"eve"}, "passphrase": {typed}}.Encode()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at()+"login", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", strings.TrimSuffix(at(), "/"))
	answer, err := trusting(t, pool).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	cookies := answer.Cookies()
	if len(cookies) != 1 || !strings.HasPrefix(cookies[0].Name, "__Host-aql") || !cookies[0].Secure ||
		!cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Errorf("%d, the cookies are %v", answer.StatusCode, cookies)
	}
	renewed := files.write(t, "127.0.0.1", "console.example.com")
	if got := get(t, trusting(t, renewed), at()+"login"); got != http.StatusOK {
		t.Errorf("with the renewed certificate: %d", got)
	}
	if err := os.WriteFile(files.cert, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := get(t, trusting(t, renewed), at()+"login"); got != http.StatusOK {
		t.Errorf("with a certificate that is none: %d", got)
	}
}

// The names of a certificate are those of the console, unless they have a star.
func TestNamesOfCertificates(t *testing.T) {
	files := newFiles(t)
	files.write(t, "console.example.com", "*.example.com", "127.0.0.1", "::1")
	c, err := newCertificate(files.cert, files.key, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for port, want := range map[string][]string{
		"9090": {"console.example.com:9090", "127.0.0.1:9090", "[::1]:9090"},
		"443": {
			"console.example.com", "console.example.com:443", "127.0.0.1", "127.0.0.1:443", "[::1]", "[::1]:443",
		},
	} {
		if got := c.hosts(port); !slices.Equal(got, want) {
			t.Errorf("at port %s: %q, want %q", port, got, want)
		}
	}
}

// Where other machines reach it, a console speaks HTTPS itself, or a proxy before it does.
func TestServeBeyondThisMachine(t *testing.T) {
	files, nameless := newFiles(t), newFiles(t)
	files.write(t, "127.0.0.1")
	nameless.write(t, "*.example.com")
	for name, tt := range map[string]struct {
		o    Options
		want string
	}{
		"with a certificate":             {Options{Certificate: files.cert, Key: files.key}, ""},
		"with a certificate alone":       {Options{Certificate: files.cert}, "belong together"},
		"with a key alone":               {Options{Key: files.key}, "belong together"},
		"with a file that is not there":  {Options{Certificate: files.cert + "x", Key: files.key}, "reading the certificate"},
		"with the key of another":        {Options{Certificate: files.cert, Key: nameless.key}, "reading the certificate"},
		"with a certificate of no names": {Options{Certificate: nameless.cert, Key: nameless.key}, "proves no name"},
		"behind a proxy": {
			Options{AllowRemote: true, Secure: true, Hosts: []string{"console.example.com"}}, "",
		},
		"behind a proxy that speaks HTTP": {
			Options{AllowRemote: true, Hosts: []string{"console.example.com"}}, "set Secure and Hosts",
		},
		"behind a proxy without names": {Options{AllowRemote: true, Secure: true}, "set Secure and Hosts"},
		"said to be secure": {
			Options{Secure: true, Hosts: []string{"console.example.com"}}, "other machines can reach it",
		},
		"without anything": {Options{}, "other machines can reach it"},
	} {
		tt.o.Name, tt.o.Store, tt.o.Logger = "notes", new(store.Memory), quiet
		_, end, err := Serve(t.Context(), "0.0.0.0:0", tt.o)
		if err == nil {
			end()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
