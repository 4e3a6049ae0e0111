package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
)

// withConsole are options of an adapter with a console, and a state that people have a passphrase in.
func withConsole(t *testing.T, keys ...[]byte) (Options, *counted) {
	t.Helper()
	state := new(counted)
	var opened store.Store = state
	if keys != nil {
		var err error
		if opened, err = gate.SealedStore(state, keys...); err != nil {
			t.Fatal(err)
		}
	}
	if err := (passphrase.Book{Store: opened, Rounds: 1}).Choose(t.Context(), identity.User("eve"), 0,
		"correct horse battery"); err != nil {
		t.Fatal(err)
	}
	return Options{Stores: []store.Driver{state.driver()}, Operator: operator.Command{}, Console: console.Serve}, state
}

// counted is a store that counts the calls that come to it.
type counted struct {
	shared
	calls atomic.Int64
}

func (c *counted) driver() store.Driver {
	return store.Driver{Scheme: "test", Open: func(context.Context, string) (store.Store, error) { return c, nil }}
}

func (c *counted) Get(ctx context.Context, key string) (store.Entry, error) {
	if key != "console/watch" { // whether somebody looks at calls is asked at intervals, too
		c.calls.Add(1)
	}
	return c.shared.Get(ctx, key)
}

func (c *counted) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if !strings.HasPrefix(key, "console/at/") { // it is renewed at intervals, not by calls
		c.calls.Add(1)
	}
	return c.shared.Put(ctx, key, value, old, ttl)
}

func (c *counted) Delete(ctx context.Context, key string, old store.Version) error {
	c.calls.Add(1)
	return c.shared.Delete(ctx, key, old)
}

func (c *counted) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	c.calls.Add(1)
	return c.shared.List(ctx, prefix, after, limit)
}

func (c *counted) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	c.calls.Add(1)
	return c.shared.Take(ctx, claims)
}

var consoleInLog = regexp.MustCompile(`serving the console" url=(\S+)`)

// F63: what an agent asks for waits, a person approves it in the console, and it runs. Also where the state is sealed.
func TestConsole(t *testing.T) {
	key, file := []byte(strings.Repeat("k", 40)), filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, sealed := range map[string]bool{"plain": false, "sealed": true} {
		t.Run(name, func(t *testing.T) {
			var keys [][]byte
			flags := []string{"-state", "test://", "-human-only", "-console", "127.0.0.1:0"}
			if sealed {
				keys, flags = [][]byte{key}, append(flags, "-state-key", file)
			}
			options, _ := withConsole(t, keys...)
			c := run(t, options, flags...)
			defer c.end(t)
			at := consoleInLog.FindStringSubmatch(c.stderr.String())
			if at == nil {
				t.Fatalf("the log does not say where the console is:\n%s", c.stderr.String())
			}
			id := itemID.FindString(c.remove(t, ""))
			person := logIn(t, at[1])
			page := get(t, person, at[1]+"items/"+id)
			form := url.Values{"answer": {"approve"}, "csrf": {field(t, page, "csrf")}, "revision": {field(t, page, "revision")}}
			if page := post(t, person, at[1]+"items/"+id, form); !strings.Contains(page, "is approved") {
				t.Errorf("the vote is answered with\n%s", page)
			}
			var ran struct{ Success bool }
			if err := json.Unmarshal([]byte(c.remove(t, "")), &ran); err != nil || !ran.Success {
				t.Errorf("%+v, %v", ran, err)
			}
		})
	}
}

// T-62: where a policy has people authenticate anew, a session alone approves nothing. Who types the passphrase once
// more approves what then runs.
func TestPoliciesHavePeopleAuthenticateAnew(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "policy.yaml")
	const policy = "version: 1\nrules:\n" +
		"  - {name: anew, effect: confirm, operations: [delete_note], reauthenticate: true}\n"
	if err := os.WriteFile(rules, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	options, _ := withConsole(t)
	c := run(t, options, "-state", "test://", "-human-only", "-console", "127.0.0.1:0", "-policy", rules)
	defer c.end(t)
	at := consoleInLog.FindStringSubmatch(c.stderr.String())
	if at == nil {
		t.Fatalf("the log does not say where the console is:\n%s", c.stderr.String())
	}
	id, person := itemID.FindString(c.remove(t, "")), logIn(t, at[1])
	page := get(t, person, at[1]+"items/"+id)
	form := url.Values{"answer": {"approve"}, "csrf": {field(t, page, "csrf")}, "revision": {field(t, page, "revision")}}
	if page := post(t, person, at[1]+"items/"+id, form); !strings.Contains(page, "This takes your passphrase once more") {
		t.Errorf("a session alone is answered with\n%s", page)
	}
	if again := itemID.FindString(c.remove(t, "")); again != id {
		t.Errorf("the request waits as %s, and did as %s", again, id)
	}
	form.Set("passphrase", "correct horse battery")
	if page := post(t, person, at[1]+"items/"+id, form); !strings.Contains(page, "is approved") {
		t.Errorf("the passphrase is answered with\n%s", page)
	}
	var ran struct{ Success bool }
	if err := json.Unmarshal([]byte(c.remove(t, "")), &ran); err != nil || !ran.Success {
		t.Errorf("%+v, %v", ran, err)
	}
}

// jar keeps the cookies of a browser at one host.
type jar map[string]*http.Cookie

func (j jar) SetCookies(_ *url.URL, cookies []*http.Cookie) {
	for _, cookie := range cookies {
		j[cookie.Name] = cookie
	}
}

func (j jar) Cookies(*url.URL) []*http.Cookie {
	var all []*http.Cookie
	for _, cookie := range j {
		all = append(all, cookie)
	}
	return all
}

// logIn returns the browser of a person who has logged in.
func logIn(t *testing.T, at string) *http.Client {
	t.Helper()
	browser := &http.Client{Jar: jar{}}
	page := post(t, browser, at+"login", url.Values{"name": {"eve"}, "passphrase": {"correct horse battery"}})
	if !strings.Contains(page, "Waiting") {
		t.Fatalf("the login is answered with\n%s", page)
	}
	return browser
}

// field returns the value of a hidden field of a page.
func field(t *testing.T, page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("there is no field %s in\n%s", name, page)
	}
	return found[1]
}

func get(t *testing.T, browser *http.Client, address string) string {
	t.Helper()
	return send(t, browser, http.MethodGet, address, nil)
}

func post(t *testing.T, browser *http.Client, address string, form url.Values) string {
	t.Helper()
	return send(t, browser, http.MethodPost, address, form)
}

// send sends a request as a browser does for a page of the same site, and returns the page that it ends at.
func send(t *testing.T, browser *http.Client, method, address string, form url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// What a console lacks is said, with exit code 3.
func TestConsoleUsage(t *testing.T) {
	fails := func(context.Context, string, setup.Options) (func() string, func(), error) {
		return nil, nil, errors.New("the port is on fire")
	}
	for name, tt := range map[string]struct {
		change func(*Options)
		state  string
		at     string
		want   string
	}{
		"a service without one":      {func(o *Options) { o.Console = nil }, "test://", "127.0.0.1:0", "has no console"},
		"a service without operator": {func(o *Options) { o.Operator = nil }, "test://", "127.0.0.1:0", "has none"},
		"state in memory":            {func(*Options) {}, memory, "127.0.0.1:0", "memory is of one process alone"},
		"an address for others":      {func(*Options) {}, "test://", "0.0.0.0:0", "other machines can reach it"},
		"a console that fails":       {func(o *Options) { o.Console = fails }, "test://", "127.0.0.1:0", "on fire"},
	} {
		options, _ := withConsole(t)
		tt.change(&options)
		options.Name = "notes"
		var printed safeBuffer
		env := environment{
			stdin: strings.NewReader(""), stdout: io.Discard, stderr: &printed,
			lookup: lookup([]string{"MCP_AQL_CONSOLE=" + tt.at}),
		}
		code := env.run(t.Context(), registry(nil, nil), options, []string{"-state", tt.state})
		if code != exitUsage || !strings.Contains(printed.String(), "-console: ") ||
			!strings.Contains(printed.String(), tt.want) {
			t.Errorf("%s: code %d: %s", name, code, printed.String())
		}
	}
}

// A certificate is of a console, and has a key.
func TestConsoleCertificates(t *testing.T) {
	for want, flags := range map[string][]string{
		"are for -console, which is not given": {"-console-cert", "cert.pem", "-console-key", "key.pem"},
		"are of the process that serves":       {"-console", "elsewhere", "-console-key", "key.pem"},
		"belong together":                      {"-console", "127.0.0.1:0", "-console-cert", "cert.pem"},
		"reading the certificate": {
			"-console", "0.0.0.0:0", "-console-cert", t.TempDir() + "/cert.pem", "-console-key", "key.pem",
		},
	} {
		options, _ := withConsole(t)
		options.Name = "notes"
		var printed safeBuffer
		env := environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &printed, lookup: lookup(nil)}
		code := env.run(t.Context(), registry(nil, nil), options, append(flags, "-state", "test://"))
		if code != exitUsage || !strings.Contains(printed.String(), want) {
			t.Errorf("%v: code %d: %s", flags, code, printed.String())
		}
	}
}

// A console that does not end, such as where the state answers nobody, keeps the process for the time of a shutdown.
func TestConsoleThatDoesNotEnd(t *testing.T) {
	options, _ := withConsole(t)
	options.ShutdownTimeout = 100 * time.Millisecond
	options.Console = func(context.Context, string, setup.Options) (func() string, func(), error) {
		return func() string { return "" }, func() { <-t.Context().Done() }, nil
	}
	c := run(t, options, "-state", "test://", "-console", "127.0.0.1:0")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	<-c.code
	if !strings.Contains(c.stderr.String(), "The console did not end in time") {
		t.Errorf("the log does not say so:\n%s", c.stderr)
	}
}

// Without -console there is none, whatever the service could have. With it, or with that of another process, calls cost
// no more of the state, as long as nobody looks.
func TestConsoleThatIsOff(t *testing.T) {
	spent := make(map[string][]int64)
	for _, place := range []string{"", "127.0.0.1:0", setup.Elsewhere} {
		options, state := withConsole(t)
		serves := options.Console
		options.Console = func(ctx context.Context, at string, o setup.Options) (func() string, func(), error) {
			if place == "" {
				t.Error("a console is served although nobody asked for it")
			}
			return serves(ctx, at, o)
		}
		flags := []string{"-state", "test://"}
		if place != "" {
			flags = append(flags, "-console", place)
		}
		c := run(t, options, flags...)
		for range 3 {
			before := state.calls.Load()
			c.remove(t, "")
			spent[place] = append(spent[place], state.calls.Load()-before)
		}
		c.end(t)
	}
	for place, calls := range spent {
		if !slices.Equal(calls, spent[""]) {
			t.Errorf("calls cost %v calls of the state without a console, and with -console %s %v", spent[""], place, calls)
		}
	}
}

// People who are told that something waits are referred to the console, unless the operator refers them elsewhere, and
// also while it is of no process yet.
func TestPeopleAreReferredToTheConsole(t *testing.T) {
	const fixed, own = "127.0.0.1:9090", "https://console.example.com"
	for name, tt := range map[string]struct {
		s    settings
		at   string
		want string
	}{
		"to where it is": {
			settings{console: "127.0.0.1:0", notify: "desktop"}, "http://127.0.0.1:9091/", "http://127.0.0.1:9091/",
		},
		"to where it will be": {settings{console: fixed, notify: "desktop"}, "", "http://127.0.0.1:9090/"},
		"to where it will be, by HTTPS": {
			settings{console: fixed, consoleCert: "cert.pem", notify: "desktop"}, "", "https://127.0.0.1:9090/",
		},
		"elsewhere": {
			settings{console: fixed, notify: "desktop", notifyLink: own}, "http://127.0.0.1:9090/", own,
		},
		"without a console":              {settings{notify: "desktop"}, "", ""},
		"not to that of another process": {settings{console: setup.Elsewhere, notify: "desktop"}, "", ""},
		"where nobody is told":           {settings{console: fixed}, "http://127.0.0.1:9090/", ""},
	} {
		o := Options{Name: "notes", Operator: operator.Command{}}
		o.Adapter.State = new(store.Memory)
		o.Console = func(context.Context, string, setup.Options) (func() string, func(), error) {
			return func() string { return tt.at }, func() {}, nil
		}
		if _, err := tt.s.openConsole(t.Context(), new(aql.Adapter), &o, nil, nil); err != nil || tt.s.notifyLink != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, tt.s.notifyLink, err, tt.want)
		}
	}
}

// Where a console is served, the safety loop knows that people see codes there.
func TestTheLoopHasTheConsole(t *testing.T) {
	loop := new(aql.Loop)
	for at, want := range map[string]bool{"": false, "127.0.0.1:9090": true, setup.Elsewhere: true} {
		applied := settings{console: at}.apply(Options{Adapter: aql.Options{Loop: loop}}, nil)
		if got, ok := applied.Loop.(*aql.Loop); !ok || got.Console != want {
			t.Errorf("-console %q: the loop is %+v", at, applied.Loop)
		}
	}
	if loop.Console {
		t.Error("the loop of the service has changed")
	}
}

// A notice leads to the page of its item.
func TestNoticesLeadToTheConsole(t *testing.T) {
	bodies := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- string(body)
	}))
	defer receiver.Close()
	options, _ := withConsole(t)
	options.Notify = notify.Teller{Drivers: drivers}
	c := run(t, options, "-state", "test://", "-human-only", "-console", "127.0.0.1:0",
		"-notify", "webhook="+receiver.URL+"/hook", "-notify-key", "webhook="+keyFile(t))
	defer c.end(t)
	at := consoleInLog.FindStringSubmatch(c.stderr.String())
	if at == nil {
		t.Fatalf("the log does not say where the console is:\n%s", c.stderr.String())
	}
	id := itemID.FindString(c.remove(t, ""))
	if body, want := <-bodies, `"link":"`+at[1]+"items/"+id+`"`; !strings.Contains(body, want) {
		t.Errorf("the notice is %s, want %s in it", body, want)
	}
	if page := get(t, logIn(t, at[1]), at[1]+"items/"+id); !strings.Contains(page, "delete_note") {
		t.Errorf("the page is\n%s", page)
	}
}

// A client on the same machine that can open pages is referred to the console, unless the service has a page of its
// own.
func TestClientsAreReferredToTheConsole(t *testing.T) {
	at := ""
	options := Options{
		Name: "notes", Operator: operator.Command{},
		Console: func(context.Context, string, setup.Options) (func() string, func(), error) {
			return func() string { return at }, func() {}, nil
		},
	}
	options.Adapter.State = new(store.Memory)
	of := func(transport, place string, own mcpserver.Options) func(string) string {
		given := options
		given.MCP = own
		s := settings{transport: transport, console: place}
		if _, _, err := s.serveConsole(t.Context(), new(aql.Adapter), &given, nil, nil); err != nil {
			t.Fatal(err)
		}
		return given.MCP.ApprovalURL
	}
	page := of("stdio", "127.0.0.1:0", mcpserver.Options{})
	if got := page("ask_1"); got != "" {
		t.Errorf("while the console is nowhere: %s", got)
	}
	at = "http://127.0.0.1:9090/"
	if got := page("ask_1"); got != "http://127.0.0.1:9090/items/ask_1" {
		t.Errorf("the page is %s", got)
	}
	if of("http", "127.0.0.1:0", mcpserver.Options{}) != nil {
		t.Error("clients on other machines are referred to this one")
	}
	if of("stdio", setup.Elsewhere, mcpserver.Options{}) != nil {
		t.Error("clients are referred to a console of which only another process knows where it is")
	}
	own := of("stdio", "127.0.0.1:0", mcpserver.Options{ApprovalURL: func(string) string { return "own" }})
	if got := own("ask_1"); got != "own" {
		t.Errorf("with a page of its own: %s", got)
	}
}

// The groups of people are those that the operating system has for them. Whom it does not know is in none.
func TestGroupsOfPeople(t *testing.T) {
	owner := identity.Owner()
	known := !strings.HasPrefix(owner.Subject, "uid:")
	if groups, err := groupsOf(t.Context(), owner); err != nil || known && len(groups) == 0 {
		t.Errorf("%s is in %q, %v", owner.Subject, groups, err)
	}
	if groups, err := groupsOf(t.Context(), identity.User("nobody of this name")); err != nil || groups != nil {
		t.Errorf("somebody unknown is in %q, %v", groups, err)
	}
}
