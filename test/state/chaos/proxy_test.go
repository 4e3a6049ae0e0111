package chaos

import (
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// direction is one of the two streams of a connection.
type direction int

const (
	up   direction = iota // to the server
	down                  // to the client
)

func (d direction) String() string { return [...]string{"to the server", "to the client"}[d] }

// proxy forwards the connections to a socket, and does to them what weather says. It cannot reorder the bytes of one
// connection, which TCP does not either; it reorders connections, by delivering what it has held in any order, also
// what a client sent that has gone since.
type proxy struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	random  *rand.Rand
	weather weather
	changed chan struct{} // closed when the weather changes
	tallies tallies
}

// weather is what a proxy does to connections.
type weather struct {
	delay  [2]time.Duration // by direction: each message is late by up to this
	hold   [2]bool          // messages wait until the weather changes
	cut    [2]int           // a connection breaks before the last of this many bytes; 0: none does
	again  [2]int           // how many more break like that
	refuse bool             // new connections are closed
}

// longestCut is how many bytes pass before a connection breaks, at most. Messages have some hundred.
const longestCut = 2000

// tallies count what was done to connections.
type tallies struct{ delayed, held, cut, refused atomic.Int64 }

// newProxy listens on a socket and forwards to another.
func newProxy(t testing.TB, socket, target string, seed uint64) *proxy {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &proxy{
		listener: listener, target: target, random: rand.New(rand.NewPCG(seed, 2)), changed: make(chan struct{}),
	}
	t.Cleanup(func() { listener.Close() })
	go p.accept()
	return p
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refuse := p.weather.refuse
		p.mu.Unlock()
		server, err := net.Dial("unix", p.target)
		if err != nil || refuse {
			if server != nil {
				server.Close()
				p.tallies.refused.Add(1)
			}
			client.Close()
			continue
		}
		l := &link{proxy: p}
		go l.forward(up, client.(*net.UnixConn), server.(*net.UnixConn))
		go l.forward(down, server.(*net.UnixConn), client.(*net.UnixConn))
	}
}

// set changes the weather.
func (p *proxy) set(change func(*weather)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.weather)
	close(p.changed)
	p.changed = make(chan struct{})
}

// link is a connection through a proxy.
type link struct {
	*proxy
	ends int // directions that have ended
}

// forward copies one direction of a connection. What was read is written even if its sender has gone.
func (l *link) forward(d direction, from, to *net.UnixConn) {
	messages := make(chan []byte, 1024)
	go func() {
		defer close(messages)
		for {
			buf := make([]byte, 16<<10)
			n, err := from.Read(buf)
			if n > 0 {
				messages <- buf[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	broken := false
	for message := range messages {
		if broken {
			continue
		}
		message, whole := l.pass(d, message)
		if _, err := to.Write(message); err != nil || !whole {
			broken = true
			from.Close()
			to.Close()
		}
	}
	to.CloseWrite()
	l.mu.Lock()
	l.ends++
	last := l.ends == 2
	l.mu.Unlock()
	if last {
		from.Close()
		to.Close()
	}
}

// pass waits until a message may be forwarded, and returns what may be. whole: the connection goes on after it.
func (l *link) pass(d direction, message []byte) (_ []byte, whole bool) {
	held := false
	for {
		l.mu.Lock()
		w, changed := l.weather, l.changed
		var late time.Duration
		if w.delay[d] > 0 {
			late = time.Duration(l.random.Int64N(int64(w.delay[d])))
			l.tallies.delayed.Add(1)
		} else if held {
			late = time.Duration(l.random.Int64N(int64(20 * time.Millisecond))) // so that connections change places
		}
		if n := w.cut[d]; n > 0 && !w.hold[d] {
			if len(message) >= n {
				l.weather.cut[d] = 0
				if l.weather.again[d] > 0 {
					l.weather.again[d]--
					l.weather.cut[d] = 1 + l.random.IntN(longestCut)
				}
				l.tallies.cut.Add(1)
				l.mu.Unlock()
				return message[:n-1], false
			}
			l.weather.cut[d] -= len(message)
		}
		l.mu.Unlock()
		if !w.hold[d] {
			time.Sleep(late)
			return message, true
		}
		if !held {
			l.tallies.held.Add(1)
		}
		held = true
		<-changed
	}
}
