package redis_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store/redis"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
)

// pair is a certificate that signed itself, for 127.0.0.1, and its key.
type pair struct{ cert, key []byte }

func newPair() (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return pair{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	return pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, err
}

// trustedPair is the same for all runs of the test, as a process reads the certificates of its system once.
var trustedPair = sync.OnceValues(newPair)

func files(t *testing.T, p pair, err error) (certFile, keyFile string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	if err := errors.Join(os.WriteFile(certFile, p.cert, 0o600), os.WriteFile(keyFile, p.key, 0o600)); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// The certificates of the system decide, and nothing goes to a server that does not have one of them.
func TestTLS(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the certificates of the system can be set on Linux alone")
	}
	start := func(certFile, keyFile string) (port string) {
		port = freePort(t)
		redistest.Start(t, "--tls-port", port, "--bind", "127.0.0.1", "--tls-auth-clients", "no",
			"--tls-cert-file", certFile, "--tls-key-file", keyFile, "--requirepass", "s3cret")
		return port
	}
	p, err := trustedPair()
	certFile, keyFile := files(t, p, err)
	t.Setenv("SSL_CERT_FILE", certFile)
	port := start(certFile, keyFile)
	p, err = newPair()
	strangeCert, strangeKey := files(t, p, err)
	recovers(t, open(t, "rediss://:s3cret@127.0.0.1:"+port))
	for location, says := range map[string]string{
		"rediss://:s3cret@127.0.0.1:" + start(strangeCert, strangeKey): "certificate",
		"rediss://:s3cret@localhost:" + port:                           "certificate",
		"redis://:s3cret@127.0.0.1:" + port:                            "the ",
	} {
		_, err := redis.Open(t.Context(), location)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", location, err, says)
			continue
		}
		silent(t, err)
	}
}
