package console

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/internal/connections"
	"github.com/aqltag/aqltag/runtime/internal/loopback"
	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// tryEvery is how often a process tries to get an address that another one has.
	tryEvery = 2 * time.Second
	// The store has who serves the console. An entry is renewed every renewAt, and lasts for longestAt when its process is
	// killed.
	renewAt, longestAt = 10 * time.Second, 30 * time.Second
	// longestAnswer bounds how long a browser may take to receive a page. Events have longestWrite each.
	longestAnswer = time.Minute
	// mostConnections bounds the connections that are open at the same time: what the process can open is also needed for
	// the state and the audit log. One more closes another, as those of MCP do.
	mostConnections = 256
	// longestEnd bounds how long answers may take that are under way when the serving ends.
	longestEnd = 2 * time.Second
)

// Serve serves the console at an address of this machine, host:port, until end is called or ctx ends. It fails if the
// address or an option is wrong. At setup.Elsewhere it serves nothing, and only has the calls of this process be on the
// pages of the console that another one serves.
//
// Several processes can be given the same address and state, such as those that MCP clients start. One of them serves,
// the others log where, and when it ends another one serves within five seconds. url returns where people find the
// console, of this process or of the other; empty: nobody serves it yet. end waits until this process serves no more.
func Serve(ctx context.Context, address string, o Options) (url func() string, end func(), err error) {
	if address == setup.Elsewhere {
		end, err := publishCalls(ctx, o)
		return func() string { return "" }, end, err
	}
	s := &server{o: o, address: address, listen: new(net.ListenConfig).Listen}
	if err := s.begin(ctx); err != nil {
		return nil, nil, fmt.Errorf("serving the console at %s: %w", address, err)
	}
	return s.url, until(ctx, s.run), nil
}

// until runs f until the function that it returns is called, or ctx ends.
func until(ctx context.Context, f func(context.Context)) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(ctx)
	}()
	return func() { stop(); <-ended }
}

// server is a console at an address that several processes share.
type server struct {
	o       Options
	address string
	listen  func(ctx context.Context, network, address string) (net.Listener, error)
	feed    *feed        // of this process, whoever serves; nil: nobody sees its calls
	web     *http.Server // while this process serves
	failed  chan error   // gets why it serves no more
	// certificate is what it speaks HTTPS with; nil: it speaks HTTP.
	certificate *certificate

	at      atomic.Pointer[setup.Place]
	key     string        // of the place in the store
	version store.Version // of the entry, while this process serves
	told    string        // what was logged last about another process
	missed  bool          // the last try has found the address taken, and nobody in the store
}

// url returns where the console is.
func (s *server) url() string {
	if at := s.at.Load(); at != nil {
		return at.URL
	}
	return ""
}

// begin checks the address and the options, and takes the address if no other process has it.
func (s *server) begin(ctx context.Context) error {
	s.o.Logger = cmp.Or(s.o.Logger, slog.Default())
	host, port, err := net.SplitHostPort(s.address)
	switch {
	case err != nil:
		return errors.New("it is host:port, such as 127.0.0.1:9090")
	case s.o.Certificate != "" || s.o.Key != "":
		if s.certificate, err = newCertificate(s.o.Certificate, s.o.Key, s.o.Logger); err != nil {
			return err
		}
		s.o.Secure = true
	case s.o.AllowRemote && (!s.o.Secure || len(s.o.Hosts) == 0):
		return errors.New("behind a proxy people reach it by HTTPS only, and by names: set Secure and Hosts")
	case !s.o.AllowRemote && !loopback.Is(host):
		return errors.New("other machines can reach it, and would read passphrases on their way: listen on 127.0.0.1, and " +
			"let people reach that through a tunnel, or give it a certificate and its key (-console-cert, -console-key)")
	}
	s.feed = newFeed(s.o)
	err = s.take(ctx, port)
	if err == nil && s.web == nil {
		err = s.check()
	}
	if err == nil {
		s.tell(ctx)
	}
	return err
}

// take takes the address, unless another process has it.
func (s *server) take(ctx context.Context, port string) error {
	listener, err := s.listen(ctx, "tcp", s.address)
	switch {
	case errors.Is(err, errInUse):
		s.key = keyOf(port)
		return nil
	case err != nil:
		return err
	}
	own := listener.Addr().String()
	_, port, err = net.SplitHostPort(own)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	s.key = keyOf(port)
	o, scheme := s.o, "http://"
	if len(o.Hosts) == 0 {
		o.Hosts = s.hosts(own, port)
	}
	if len(o.Hosts) == 0 {
		return errors.Join(errors.New("the certificate proves no name by which browsers could reach it"), listener.Close())
	}
	if o.Secure {
		scheme = "https://"
	}
	c, err := newConsole(o)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	c.feed = s.feed
	s.serve(ctx, listener, c.handler())
	s.at.Store(&setup.Place{URL: scheme + o.Hosts[0] + o.Path + "/", Process: os.Getpid()})
	return nil
}

// check fails if the console could not be served at the address, which another process has now.
func (s *server) check() error {
	o := s.o
	if len(o.Hosts) == 0 {
		o.Hosts = []string{s.address}
	}
	_, err := newConsole(o)
	return err
}

// keyOf returns the key of the place at a port of this machine.
func keyOf(port string) string {
	machine, err := os.Hostname()
	if err != nil {
		machine = "localhost"
	}
	return setup.PlacePart + machine + "/" + port
}

// names are the hosts by which browsers reach the console, whichever process serves it.
func (s *server) names() []string {
	if len(s.o.Hosts) > 0 {
		return s.o.Hosts
	}
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return nil
	}
	return s.hosts(s.address, port)
}

// hosts are the names by which browsers reach an address.
func (s *server) hosts(address, port string) []string {
	if s.certificate != nil {
		return s.certificate.hosts(port)
	}
	return hosts(address, port)
}

// hosts are the names of an address of this machine for browsers, which leave the port of HTTP out. localhost is none:
// it may lead to another address, where anybody on this machine can listen and be taken for the console.
func hosts(address, port string) []string {
	if port == "80" {
		return []string{address, strings.TrimSuffix(address, ":"+port)}
	}
	return []string{address}
}

// endingKey is the key, in the contexts of requests, of the context that ends when the serving does.
type endingKey struct{}

// ending returns a channel that is closed when answers that would go on for long have to end; nil: never.
func ending(ctx context.Context) <-chan struct{} {
	if serving, ok := ctx.Value(endingKey{}).(context.Context); ok {
		return serving.Done()
	}
	return nil
}

// serve answers requests. Those that are under way when ctx ends go on.
func (s *server) serve(ctx context.Context, listener net.Listener, handler http.Handler) {
	base := context.WithValue(context.WithoutCancel(ctx), endingKey{}, ctx)
	s.web = &http.Server{
		Handler: connections.Track(handler), ConnState: connections.Changed, ConnContext: connections.Context,
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: longestAnswer, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelWarn),
		DisableGeneralOptionsHandler: true, BaseContext: func(net.Listener) context.Context { return base },
	}
	s.failed = make(chan error, 1)
	listener = connections.Limit(listener, mostConnections)
	if s.certificate != nil {
		s.web.TLSConfig = &tls.Config{GetCertificate: s.certificate.get, MinVersion: tls.VersionTLS12}
		go func(web *http.Server, failed chan<- error) { failed <- web.ServeTLS(listener, "", "") }(s.web, s.failed)
		return
	}
	go func(web *http.Server, failed chan<- error) { failed <- web.Serve(listener) }(s.web, s.failed)
}

// run serves, or waits for the address, until ctx ends.
func (s *server) run(ctx context.Context) {
	if s.feed != nil {
		published := make(chan struct{})
		defer func() { <-published }()
		go func() {
			defer close(published)
			s.feed.run(ctx)
		}()
	}
	for {
		pause := tryEvery
		if s.web != nil {
			pause = renewAt
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			s.leave(ctx)
			return
		case err := <-s.failed:
			timer.Stop()
			s.o.Logger.Error("serving the console failed; it is tried again", slog.Any("error", err))
			s.web, s.failed = nil, nil
			s.at.Store(nil)
			continue
		case <-timer.C:
		}
		if s.web == nil {
			_, port, _ := net.SplitHostPort(s.address)
			if err := s.take(ctx, port); err != nil && ctx.Err() == nil {
				s.say(slog.LevelWarn, "serving the console failed; it is tried again", slog.Any("error", err))
				continue
			}
		}
		s.tell(ctx)
	}
}

// tell tells the store that this process serves the console, or finds there who does.
func (s *server) tell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, tryEvery)
	defer cancel()
	if s.web == nil {
		s.find(ctx)
		return
	}
	at := s.at.Load()
	s.say(slog.LevelInfo, "serving the console", slog.String("url", at.URL))
	text, err := json.Marshal(at)
	if err == nil {
		err = s.keep(ctx, text)
	}
	if err != nil && ctx.Err() == nil {
		s.o.Logger.Warn("the state does not say where the console is, for other processes", slog.Any("error", err))
	}
}

// keep writes the entry of this process, whoever has written it before.
func (s *server) keep(ctx context.Context, text []byte) (err error) {
	s.version, err = write(ctx, s.o.Store, s.key, text, s.version, longestAt)
	return err
}

// write writes an entry, which is probably at a version, at whatever version it is. It returns the new one.
func write(
	ctx context.Context, to store.Store, key string, text []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	for {
		version, err := to.Put(ctx, key, text, old, ttl)
		if !errors.Is(err, store.ErrConflict) {
			return version, err
		}
		before, err := to.Get(ctx, key)
		if err != nil {
			return old, err
		}
		old = before.Version
	}
}

// find looks up in the store who serves the console. A process that has just taken the address may not be there yet.
// Hosts that this process would not serve either are not believed: people type passphrases where they are led.
func (s *server) find(ctx context.Context) {
	entry, err := s.o.Store.Get(ctx, s.key)
	var at setup.Place
	switch {
	case err != nil:
		s.say(slog.LevelWarn, "the state does not say who serves the console", slog.Any("error", err))
	case entry.Exists() && json.Unmarshal(entry.Value, &at) == nil && setup.IsOf(at.URL, s.names()):
		s.missed = false
		s.at.Store(&at)
		s.say(slog.LevelInfo, "another process serves the console", slog.String("url", at.URL),
			slog.Int("process", at.Process))
	case !s.missed:
		s.missed = true
	default:
		s.at.Store(nil)
		s.say(slog.LevelWarn, "the console cannot be served, because another program has its address, or the console of "+
			"another state; it is tried again", slog.String("address", s.address))
	}
}

// say logs what is new.
func (s *server) say(level slog.Level, message string, of ...slog.Attr) {
	if now := fmt.Sprint(message, of); now != s.told {
		s.told = now
		s.o.Logger.LogAttrs(context.Background(), level, message, of...)
	}
}

// leave ends the serving of this process.
func (s *server) leave(ctx context.Context) {
	if s.web == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestEnd)
	defer cancel()
	if s.version != 0 { // so that nobody is sent to a console that is gone
		if err := s.o.Store.Delete(ctx, s.key, s.version); err != nil && !errors.Is(err, store.ErrConflict) {
			s.o.Logger.Warn("the state still says that the console is here", slog.Any("error", err))
		}
	}
	if err := s.web.Shutdown(ctx); err != nil {
		_ = s.web.Close() // what is under way is cut off
	}
	s.at.Store(nil)
}
