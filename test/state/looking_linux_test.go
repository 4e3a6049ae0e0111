package state

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
)

// usage is what a process uses.
type usage struct {
	Heap       uint64 // bytes of what is in use, after a collection
	System     uint64 // bytes that the process has of the operating system
	Goroutines int
	Files      int
	CPU        time.Duration
}

// usageNow returns what this process uses.
func usageNow() (usage, error) {
	var u usage
	runtime.GC()
	runtime.GC() // what a sync.Pool has goes with the second one
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	u.Heap, u.System, u.Goroutines = memory.HeapAlloc, memory.Sys-memory.HeapReleased, runtime.NumGoroutine()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return usage{}, err
	}
	u.Files = len(files)
	var of syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &of); err != nil {
		return usage{}, err
	}
	u.CPU = time.Duration(of.Utime.Nano() + of.Stime.Nano())
	return u, nil
}

// showConsole serves the console of a state, and tells what it uses whenever it is asked.
func showConsole(location string) error {
	ctx := context.Background()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	defer state.Close()
	at, end, err := console.Serve(ctx, "127.0.0.1:0", console.Options{
		Name: "things", Store: state, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	defer end()
	fmt.Println(at())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		u, err := usageNow()
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(u); err != nil {
			return err
		}
	}
	return in.Err()
}

// consoleProcess is a process that serves the console of a state, with people in front of it.
type consoleProcess struct {
	*process
	at     string
	person *http.Client // is logged in
}

const secretWord = "correct horse battery"

// startConsole starts a process with the console of a state, and logs a person in.
func startConsole(t *testing.T, location string) *consoleProcess {
	t.Helper()
	state, err := openStore(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	book := passphrase.Book{Store: state, Rounds: 10}
	if err := book.Choose(t.Context(), identity.User("eve"), 0, secretWord); err != nil {
		t.Fatal(err)
	}
	p := start(t, "console", location)
	c := &consoleProcess{process: p, at: p.line(t)}
	cookies, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c.person = &http.Client{Jar: cookies, Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	form := url.Values{"name": {"eve"}, "passphrase": {secretWord}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.at+"login", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	c.person.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := c.person.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("logging in: %s", answer.Status)
	}
	return c
}

// uses returns what the process uses.
func (c *consoleProcess) uses(t *testing.T) (u usage) {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, "usage"); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(c.line(t)), &u); err != nil {
		t.Fatal(err)
	}
	return u
}

// load loads a page.
func (c *consoleProcess) load(t *testing.T, path string) string {
	t.Helper()
	answer, err := c.get(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
	return string(text)
}

func (c *consoleProcess) get(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at+strings.TrimPrefix(path, "/"), nil)
	if err != nil {
		return nil, err
	}
	return c.person.Do(r)
}

// follow opens the events of the inbox. The counter has how many have come, but for beats.
func (c *consoleProcess) follow(ctx context.Context) (status int, events *atomic.Int64, err error) {
	answer, err := c.get(ctx, "/events?seen=nothing")
	if err != nil {
		return 0, nil, err
	}
	events = new(atomic.Int64)
	if answer.StatusCode != http.StatusOK {
		return answer.StatusCode, events, answer.Body.Close()
	}
	go func() {
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data: {") {
				events.Add(1)
			}
		}
	}()
	return answer.StatusCode, events, nil
}

// fillInbox opens items, a hundred of each caller.
func fillInbox(t *testing.T, location string, from, to int) {
	t.Helper()
	inbox := openInbox(t, location)
	numbers := make(chan int)
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	for range 16 {
		all.Go(func() {
			for i := range numbers {
				q := approve.Question{
					Kind: approve.Confirmation, Adapter: "things", Operation: fmt.Sprintf("delete_thing_%d", i%7),
					Danger: gen.Destructive, Caller: aql.Caller{Subject: fmt.Sprintf("agent-%d", i/100), Issuer: "test"},
					Message: fmt.Sprintf("Delete thing 't%d'? This cannot be undone.", i), At: time.Now(),
					Reasons: []string{"Removes the thing and its history"}, Lifetime: time.Hour,
					Params: fmt.Sprintf(`{"id":"t%d","force":true,"why":%q}`, i, strings.Repeat("because ", 40)),
				}
				q.Binding[0], q.Binding[1] = byte(i), byte(i>>8)
				if _, _, err := inbox.Ask(t.Context(), q); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	for i := from; i < to; i++ {
		numbers <- i
	}
	close(numbers)
	all.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
}

var nextPage = regexp.MustCompile(`rel="next" href="([^"]*)"`)

// Issue 19: with ten thousand items a process has at most 50 MB more for the console, and what a page costs depends on
// what has changed, and on no number of a page. Pages and streams that are gone leave nothing behind.
func TestTenThousandItems(t *testing.T) {
	const most = 50 << 20
	many := 10_000
	if testing.Short() {
		many = 1000
	}
	location := filepath.Join(t.TempDir(), "state.db")
	fillInbox(t, location, 0, many)
	c := startConsole(t, location)
	unused := c.uses(t)
	first := c.load(t, "/")
	if !strings.Contains(first, fmt.Sprintf("%d items at", many)) {
		t.Fatalf("the page is %s", first)
	}
	used := c.uses(t)
	t.Logf("the first page takes %v of CPU; then %d KB are in use, of %d KB of the system, and before %d of %d",
		used.CPU-unused.CPU, used.Heap>>10, used.System>>10, unused.Heap>>10, unused.System>>10)

	const times = 100
	repeat := func(path string) time.Duration {
		before := c.uses(t).CPU
		for range times {
			c.load(t, path)
		}
		return (c.uses(t).CPU - before) / times
	}
	path, pages := "/", 1
	for page := first; ; pages++ {
		next := nextPage.FindStringSubmatch(page)
		if next == nil {
			break
		}
		path = html.UnescapeString(next[1])
		page = c.load(t, path)
	}
	near, far := repeat("/"), repeat(path)
	t.Logf("page 1 takes %v of CPU, page %d takes %v, one with a filter %v", near, pages, far,
		repeat("/?operation=delete_thing_3"))
	if pages != many/50 || far > 5*near {
		t.Errorf("page %d takes %v, and page 1 takes %v", pages, far, near)
	}

	following, stop := context.WithCancel(t.Context())
	defer stop()
	var streams []*atomic.Int64
	for range 10 {
		status, events, err := c.follow(following)
		if err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
		streams = append(streams, events)
	}
	began := time.Now()
	before := c.uses(t)
	fillInbox(t, location, many, 2*many)
	took := time.Since(began)
	soon(t, "the last item is counted", func() bool {
		return strings.Contains(c.load(t, "/"), fmt.Sprintf("%d items at", 2*many))
	})
	after := c.uses(t)
	for _, events := range streams {
		if n := events.Load(); n == 0 || float64(n) > 10*took.Seconds()+10 {
			t.Errorf("%d events came in %v", n, took)
		}
	}
	t.Logf("%d items came in %v: %d events for each page, %v of CPU; then %d KB in use, of %d KB of the system",
		many, took, streams[0].Load(), after.CPU-before.CPU, after.Heap>>10, after.System>>10)
	for _, u := range []usage{used, before, after} {
		if u.Heap > unused.Heap+most {
			t.Errorf("%d KB are in use, and before anybody looked it was %d KB", u.Heap>>10, unused.Heap>>10)
		}
	}
	if before.System > unused.System+most {
		t.Errorf("the process has %d KB, and before anybody looked it was %d KB", before.System>>10, unused.System>>10)
	}
}

// A thousand loaded pages and dropped streams leave no goroutine and no file behind. Of a thousand streams as many are
// told of changes as the console allows, and the others are refused; people go on meanwhile.
func TestNothingIsLeftOfThousandVisits(t *testing.T) {
	const visits = 1000
	location := filepath.Join(t.TempDir(), "state.db")
	fillInbox(t, location, 0, 100)
	c := startConsole(t, location)
	c.load(t, "/")
	c.person.CloseIdleConnections()
	before := c.uses(t)

	following, drop := context.WithCancel(t.Context())
	defer drop()
	var told, refused atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range visits / 50 {
				switch status, _, err := c.follow(following); {
				case err != nil:
					t.Error(err)
				case status == http.StatusOK:
					told.Add(1)
				case status == http.StatusTooManyRequests:
					refused.Add(1)
				default:
					t.Errorf("a stream is answered with %d", status)
				}
			}
		})
	}
	all.Wait()
	if told.Load() != 64 || refused.Load() != visits-64 {
		t.Errorf("%d streams are told of changes, and %d are refused", told.Load(), refused.Load())
	}
	if page := c.load(t, "/"); !strings.Contains(page, "100 items at") {
		t.Errorf("meanwhile the page is %s", page)
	}
	t.Logf("with all streams open: %+v, before: %+v", c.uses(t), before)
	drop()
	for range visits {
		c.load(t, "/")
		ctx, drop := context.WithCancel(t.Context())
		_, _, err := c.follow(ctx)
		if drop(); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	c.person.CloseIdleConnections()
	// The connections of the state, and who listens to it while somebody looks, are as many as ever.
	const spare = 8
	var after usage
	soon(t, "what the visits have used is free", func() bool {
		after = c.uses(t)
		return after.Goroutines <= before.Goroutines+spare && after.Files <= before.Files+spare
	})
	t.Logf("before %+v, after %+v", before, after)
}
