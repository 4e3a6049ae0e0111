package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
)

// machine is one on which processes listen, without a network.
type machine struct {
	mu    sync.Mutex
	taken map[string]*port
}

// port is an address that a process listens on. Nobody calls.
type port struct {
	on      *machine
	address string
	closed  chan struct{}
	once    sync.Once
}

func (m *machine) listen(_ context.Context, _, address string) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken[address] != nil {
		return nil, &net.OpError{Op: "listen", Err: errInUse}
	}
	if m.taken == nil {
		m.taken = make(map[string]*port)
	}
	m.taken[address] = &port{on: m, address: address, closed: make(chan struct{})}
	return m.taken[address], nil
}

func (p *port) Accept() (net.Conn, error) {
	<-p.closed
	return nil, net.ErrClosed
}

func (p *port) Close() error {
	p.once.Do(func() {
		p.on.mu.Lock()
		defer p.on.mu.Unlock()
		delete(p.on.taken, p.address)
		close(p.closed)
	})
	return nil
}

func (p *port) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9090}
}

// log is what a process logs.
type log struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// running is a process that has the console.
type running struct {
	*server
	log log
	end func()
}

const shared = "127.0.0.1:9090"

// start starts a process with a state on a machine.
func start(t *testing.T, m *machine, state store.Store, change ...func(*Options)) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := new(running)
	r.server = &server{address: shared, listen: m.listen, o: Options{
		Name: "notes", Store: state, Logger: slog.New(slog.NewTextHandler(&r.log, nil)),
	}}
	for _, f := range change {
		f(&r.o)
	}
	if err := r.begin(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.run(ctx)
	}()
	r.end = sync.OnceFunc(func() { stop(); <-ended })
	t.Cleanup(r.end)
	return r
}

const (
	here      = "serving the console\" url=http://127.0.0.1:9090/"
	elsewhere = "another process serves the console\" url=http://127.0.0.1:9090/"
	nowhere   = "the console cannot be served, because another program has its address"
)

// Of processes with one address, one serves. The others log where, and when it ends, one of them serves within five
// seconds.
func TestOneProcessServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, state := new(machine), new(store.Memory)
		processes := []*running{start(t, m, state), start(t, m, state), start(t, m, state)}
		for len(processes) > 0 {
			var serving *running
			var waiting []*running
			for _, p := range processes {
				switch {
				case p.url() != "http://"+shared+"/":
					t.Fatalf("it is at %q:\n%s", p.url(), p.log.String())
				case strings.Contains(p.log.String(), here) && serving == nil:
					serving = p
				case strings.Contains(p.log.String(), elsewhere) && !strings.Contains(p.log.String(), here):
					waiting = append(waiting, p)
				default:
					t.Fatalf("a process logs:\n%s", p.log.String())
				}
			}
			if serving == nil {
				t.Fatal("nobody serves")
			}
			time.Sleep(time.Hour + time.Millisecond) // nothing changes, and nothing more is logged
			if lines := strings.Count(serving.log.String(), "\n"); lines > 2 {
				t.Errorf("%d lines:\n%s", lines, serving.log.String())
			}
			serving.end()
			if entries, err := state.List(t.Context(), setup.PlacePart, "", 9); err != nil || len(entries) != 0 {
				t.Errorf("the state still says where the console was: %v, %v", entries, err)
			}
			if serving.url() != "" {
				t.Errorf("what has ended is at %s", serving.url())
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			processes = waiting
		}
	})
}

// A process that was killed has left its entry behind. Whoever gets the address next replaces it.
func TestEntriesOfKilledProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, state := new(machine), new(store.Memory)
		left := []byte(`{"url":"http://127.0.0.1:9090/","process":1}`)
		if _, err := state.Put(t.Context(), keyOf("9090"), left, 0, longestAt); err != nil {
			t.Fatal(err)
		}
		p := start(t, m, state)
		if !strings.Contains(p.log.String(), here) {
			t.Errorf("it logs:\n%s", p.log.String())
		}
		entry, err := state.Get(t.Context(), keyOf("9090"))
		if err != nil || !entry.Exists() || bytes.Equal(entry.Value, left) {
			t.Errorf("the entry is %s, %v", entry.Value, err)
		}
	})
}

// An address that another program has is told of as such, but not while a process that has just taken it may still be
// about to say so.
func TestAddressesOfOtherPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(machine)
		other, err := m.listen(t.Context(), "tcp", shared)
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, m, new(store.Memory))
		if p.url() != "" || p.log.String() != "" {
			t.Errorf("at once it is at %q, and logs:\n%s", p.url(), p.log.String())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if p.url() != "" || strings.Count(p.log.String(), nowhere) != 1 {
			t.Errorf("then it is at %q, and logs:\n%s", p.url(), p.log.String())
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if p.url() == "" || !strings.Contains(p.log.String(), here) {
			t.Errorf("when it is free, it is at %q, and logs:\n%s", p.url(), p.log.String())
		}
	})
}

// A console whose listening fails is served again.
func TestServingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(machine)
		p := start(t, m, new(store.Memory))
		if err := m.taken[shared].Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if p.url() == "" || !strings.Contains(p.log.String(), "it is tried again") {
			t.Errorf("it is at %q, and logs:\n%s", p.url(), p.log.String())
		}
	})
}

// A state that cannot be reached keeps nobody from the console, which says so itself.
func TestStateThatCannotBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(machine)
		serving, waiting := start(t, m, unreachable{}), start(t, m, unreachable{})
		time.Sleep(time.Minute)
		synctest.Wait()
		if !strings.Contains(serving.log.String(), here) ||
			!strings.Contains(serving.log.String(), "the state does not say") {
			t.Errorf("who serves logs:\n%s", serving.log.String())
		}
		if strings.Count(waiting.log.String(), "the state does not say who serves") != 1 {
			t.Errorf("who waits logs:\n%s", waiting.log.String())
		}
	})
}

// unreachable is a store that cannot be reached.
type unreachable struct{ store.Store }

var errUnreachable = errors.New("connection refused")

func (unreachable) Get(context.Context, string) (store.Entry, error) {
	return store.Entry{}, errUnreachable
}

func (unreachable) Put(context.Context, string, []byte, store.Version, time.Duration) (store.Version, error) {
	return 0, errUnreachable
}

func (unreachable) Delete(context.Context, string, store.Version) error { return errUnreachable }

// Two consoles on a real address: browsers reach the one that serves by that address, and by no other name. localhost
// may be another address, where another program listens.
func TestServe(t *testing.T) {
	state := new(store.Memory)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	url, end, err := Serve(t.Context(), "127.0.0.1:0", Options{Name: "notes", Store: state, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	at := strings.TrimSuffix(strings.TrimPrefix(url(), "http://"), "/")
	other, endOther, err := Serve(t.Context(), at, Options{Name: "notes", Store: state, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer endOther()
	if other() != url() {
		t.Errorf("the console is at %s, and the other process says %s", url(), other())
	}
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	for host, status := range map[string]int{
		at: http.StatusOK, "localhost:" + port: http.StatusForbidden, "evil.example:" + port: http.StatusForbidden,
		"127.0.0.1": http.StatusForbidden,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url()+"login", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != status {
			t.Errorf("%s is answered with %d, want %d", host, answer.StatusCode, status)
		}
	}
}

// A console at localhost says at which of its addresses it is.
func TestTheNameOfThisMachineIsAnAddress(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	url, end, err := Serve(t.Context(), "localhost:0", Options{Name: "notes", Store: new(store.Memory), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if !strings.HasPrefix(url(), "http://127.0.0.1:") && !strings.HasPrefix(url(), "http://[::1]:") {
		t.Errorf("the console is at %s", url())
	}
	answer, err := http.Get(url() + "login") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusOK {
		t.Errorf("it answers %d", answer.StatusCode)
	}
}

// Browsers leave the port of HTTP out.
func TestHosts(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:9090": "127.0.0.1:9090", "127.0.0.1:80": "127.0.0.1:80 127.0.0.1", "[::1]:80": "[::1]:80 [::1]",
	} {
		_, port, _ := net.SplitHostPort(address)
		if got := strings.Join(hosts(address, port), " "); got != want {
			t.Errorf("%s has the names %q, want %q", address, got, want)
		}
	}
}

// A process whose console is elsewhere tells the one that serves it what it is asked for, and says of no address that
// the console is there.
func TestCallsOfAConsoleElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state, hooks := new(store.Memory), new(observe.Hooks)
		url, end, err := Serve(t.Context(), setup.Elsewhere, Options{
			Name: "notes", Store: state, Observe: func(of *observe.Hooks) { hooks = of },
		})
		if err != nil || url() != "" {
			t.Fatalf("it is at %q, %v", url(), err)
		}
		console := publish(t, state)
		_, done := hooks.Operation(t.Context(), observe.Operation{Name: "get_note", Danger: "safe"})
		done(observe.OperationEnd{})
		console.look(t.Context())
		time.Sleep(3 * time.Second)
		all := console.look(t.Context())
		if len(all.replicas) != 2 || len(all.replicas[1].Calls) != 1 || all.replicas[1].Calls[0].Operation != "get_note" {
			t.Errorf("the replicas are %+v", all.replicas)
		}
		if places, err := setup.Places(t.Context(), state); err != nil || len(places) != 0 {
			t.Errorf("the state says that consoles are at %q, %v", places, err)
		}
		end()
		time.Sleep(longestLive + time.Second)
		if all := console.look(t.Context()); len(all.replicas) != 1 {
			t.Errorf("after its end the replicas are %+v", all.replicas)
		}
	})
}

// Addresses that others can reach, and such as are none, are refused, also if another process has the address.
func TestServeRefuses(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct{ address, name, want string }{
		{"9090", "notes", "it is host:port"},
		{":9090", "notes", "other machines can reach it"},
		{"0.0.0.0:9090", "notes", "other machines can reach it"},
		{"[::]:9090", "notes", "other machines can reach it"},
		{"console.example.com:9090", "notes", "other machines can reach it"},
		{"127.0.0.1:123456", "notes", "invalid port"},
		{"127.0.0.1:0", "", "it needs the adapter's name"},
		{taken.Addr().String(), "", "it needs the adapter's name"},
	} {
		_, _, err := Serve(t.Context(), tt.address, Options{Name: tt.name, Store: new(store.Memory)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.address, err, tt.want)
		}
	}
}
