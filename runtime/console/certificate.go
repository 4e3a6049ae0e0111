package console

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// errHalf says that of a certificate and its key one is missing.
var errHalf = errors.New("a certificate and its key belong together: give both files")

// stamp tells whether a file has changed.
type stamp struct {
	size int64
	at   time.Time
}

// certificate is what the server proves its names with. It is read again when its files change, so that a renewed one
// needs no restart.
type certificate struct {
	files [2]string // of the certificate and of its key
	log   *slog.Logger

	mu   sync.Mutex
	seen [2]stamp
	last *tls.Certificate
}

// newCertificate reads a certificate and its key.
func newCertificate(file, key string, log *slog.Logger) (*certificate, error) {
	if file == "" || key == "" {
		return nil, errHalf
	}
	c := &certificate{files: [2]string{file, key}, log: log}
	c.seen = c.stamps()
	var err error
	if c.last, err = c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *certificate) read() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	return &pair, nil
}

// stamps are those of the files by now. A file that is not there has none.
func (c *certificate) stamps() (all [2]stamp) {
	for i, file := range c.files {
		if info, err := os.Stat(file); err == nil {
			all[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return all
}

// get returns the certificate. While one that is replaced cannot be read, it is the one before.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.stamps(); now != c.seen {
		c.seen = now
		next, err := c.read()
		if err != nil {
			c.log.Warn("the certificate of the console has changed, and the one before stays", slog.Any("error", err))
			return c.last, nil
		}
		c.last = next
	}
	return c.last, nil
}

// hosts are the names that the certificate proves, for browsers, which leave the port of HTTPS out. Names with a star
// are none.
func (c *certificate) hosts(port string) []string {
	var all []string
	add := func(name string) {
		if port == "443" {
			bare := name
			if strings.Contains(name, ":") {
				bare = "[" + name + "]"
			}
			all = append(all, bare)
		}
		all = append(all, net.JoinHostPort(name, port))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.last.Leaf.DNSNames {
		if !strings.Contains(name, "*") {
			add(name)
		}
	}
	for _, ip := range c.last.Leaf.IPAddresses {
		add(ip.String())
	}
	return all
}
