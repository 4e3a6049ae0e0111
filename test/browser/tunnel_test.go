package browser

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// tunnel is a proxy between a browser and a console, which can be out of order.
type tunnel struct {
	to   httputil.ReverseProxy
	mu   sync.Mutex
	held chan struct{}   // no byte of an answer arrives until it is closed
	on   context.Context // of answers
	cut  func()          // ends them, and answers nothing until mend is called
}

func newTunnel() *tunnel {
	u := &tunnel{held: make(chan struct{}), to: httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {}, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}}
	close(u.held)
	u.mend()
	return u
}

func (u *tunnel) mend() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.on, u.cut = context.WithCancel(context.Background())
}

// hold has no byte of an answer arrive until goOn is called.
func (u *tunnel) hold() (goOn func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	held := make(chan struct{})
	u.held = held
	return func() { close(held) }
}

func (u *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	on := u.on
	u.mu.Unlock()
	ctx, end := context.WithCancel(r.Context())
	defer end()
	defer context.AfterFunc(on, end)()
	if on.Err() != nil {
		panic(http.ErrAbortHandler)
	}
	u.to.ServeHTTP(&passing{w, ctx, u}, r.WithContext(ctx))
}

// passing is an answer on its way through a tunnel.
type passing struct {
	http.ResponseWriter
	ctx context.Context
	in  *tunnel
}

func (p *passing) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *passing) Write(text []byte) (int, error) {
	p.in.mu.Lock()
	held := p.in.held
	p.in.mu.Unlock()
	select {
	case <-held:
		return p.ResponseWriter.Write(text)
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
}

// A page says that it does not follow: when its connection has ended, and when nothing comes of it any more, although
// it seems to be open. It follows by itself when that is over, and says so no more.
func TestAPageThatHearsNothing(t *testing.T) {
	s, through := newSite(t), newTunnel()
	server := httptest.NewServer(through)
	t.Cleanup(server.Close)
	b := open(t, chromedp.ProxyServer(server.URL), chromedp.Flag("proxy-bypass-list", "<-loopback>"))
	s.logIn(b, "eve")
	s.ask(nil)
	b.waitForText("1 item at")

	goOn := through.hold()
	run(b, chromedp.Evaluate[any](`patience = 1000; hear()`))
	b.waitForText("This page does not follow at the moment.")
	s.ask(nil)
	run(b, chromedp.Evaluate[any](`patience = 3600000; hear()`))
	goOn()
	b.waitForText("2 items at")
	b.waitFor("#changed:empty")

	through.cut()
	b.waitForText("This page does not follow at the moment.")
	s.ask(nil)
	through.mend()
	b.waitForText("3 items at")
	b.waitFor("#changed:empty")
}
