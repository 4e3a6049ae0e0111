package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// F63, operations §5.4: a form that was not filled in by the person in a page of the console decides nothing. Each row
// is the form of an approval that would count but for one change.
func TestForgedForms(t *testing.T) {
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			if r.Header.Del(name); value != "" {
				r.Header.Set(name, value)
			}
		}
	}
	for name, tt := range map[string]struct {
		form   func(url.Values)
		change func(*http.Request)
		status int
		state  approve.State
	}{
		"nothing is changed": {status: 303, state: approve.Approved},
		"from another site":  {change: header("Sec-Fetch-Site", "cross-site"), status: 403},
		"from a neighbour":   {change: header("Sec-Fetch-Site", "same-site"), status: 403},
		"from nowhere":       {change: header("Sec-Fetch-Site", ""), status: 403},
		"from the origin of another": {
			change: both(header("Sec-Fetch-Site", ""), header("Origin", "https://evil.example")), status: 403,
		},
		"from an origin without a name": {change: both(header("Sec-Fetch-Site", ""), header("Origin", "null")), status: 403},
		"by the console's own origin": {
			change: both(header("Sec-Fetch-Site", ""), header("Origin", "http://"+host)), status: 303, state: approve.Approved,
		},
		"by another name of the host":  {change: func(r *http.Request) { r.Host = "evil.example:9090" }, status: 403},
		"by another port":              {change: func(r *http.Request) { r.Host = "localhost:9091" }, status: 403},
		"without a token":              {form: func(f url.Values) { f.Del("csrf") }, status: 403},
		"with a token of nobody":       {form: func(f url.Values) { f.Set("csrf", strings.Repeat("0", 64)) }, status: 403},
		"without a session":            {change: header("Cookie", ""), status: 401},
		"with the session of nobody":   {change: header("Cookie", cookie+"=AAAAAAAAAAAAAAAAAAAAAAAAAA"), status: 401},
		"without a revision":           {form: func(f url.Values) { f.Del("revision") }, status: 400},
		"with the revision of another": {form: func(f url.Values) { f.Set("revision", "x") }, status: 409},
		"without an answer":            {form: func(f url.Values) { f.Del("answer") }, status: 400},
		"with another answer":          {form: func(f url.Values) { f.Set("answer", "Approve") }, status: 400},
		"with very much in it": {
			form: func(f url.Values) { f.Set("reason", strings.Repeat("x", 1<<20)) }, status: 400,
		},
		"with a long reason": {form: func(f url.Values) { f.Set("reason", strings.Repeat("x", 501)) }, status: 422},
		"as GET":             {change: func(r *http.Request) { r.Method = http.MethodGet }, status: 200},
		"as PUT":             {change: func(r *http.Request) { r.Method = http.MethodPut }, status: 405},
		"as JSON":            {change: header("Content-Type", "application/json"), status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			eve, item := s.person("eve"), s.ask(nil)
			form := eve.form(item.ID, "approve")
			if tt.form != nil {
				tt.form(form)
			}
			if tt.change == nil {
				tt.change = func(*http.Request) {}
			}
			answer := eve.post("/items/"+item.ID, form, tt.change)
			if answer.Code != tt.status {
				t.Errorf("the status is %d, want %d", answer.Code, tt.status)
			}
			if tt.state == "" {
				tt.state = approve.Open
			}
			if state := s.get(item.ID).State; state != tt.state {
				t.Errorf("the item is %s, want %s", state, tt.state)
			}
		})
	}
}

func both(one, two func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) { one(r); two(r) }
}

// Who sends a form slowly is cut off, so that nobody takes all connections of the console.
func TestSlowForms(t *testing.T) {
	s := newSite(t, nil)
	for name, r := range map[string]*http.Request{
		"a form":     httptest.NewRequest(http.MethodPost, "/login", strings.NewReader("name=eve")),
		"other data": httptest.NewRequest(http.MethodGet, "/login", strings.NewReader("name=eve")),
		"no data":    httptest.NewRequest(http.MethodGet, "/login", nil),
	} {
		r.Host = host
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		answer := &deadlines{ResponseWriter: httptest.NewRecorder()}
		s.ServeHTTP(answer, r)
		if got, want := len(answer.read), min(int(r.ContentLength), 1); got != want {
			t.Errorf("%s: %d deadlines, want %d", name, got, want)
		}
	}
}

// deadlines notes those of reading.
type deadlines struct {
	http.ResponseWriter
	read []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = append(d.read, at)
	return nil
}

// Every answer has all headers, whatever it is.
func TestHeaders(t *testing.T) {
	s := newSite(t, nil)
	eve, item := s.person("eve"), s.ask(nil)
	for name, answer := range map[string]*httptest.ResponseRecorder{
		"inbox": eve.get("/"), "item": eve.get("/items/" + item.ID), "whole": eve.get("/items/" + item.ID + "/whole"),
		"style":  eve.get("/assets/console.css"),
		"script": eve.get("/assets/code.js"), "no asset": eve.get("/assets/nothing"), "no page": eve.get("/x"),
		"login": s.browser().get("/login"), "redirection": s.browser().get("/"),
		"refused":     eve.post("/items/"+item.ID, nil),
		"other host":  eve.get("/", func(r *http.Request) { r.Host = "evil.example" }),
		"other site":  eve.post("/login", nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }),
		"other verbs": eve.post("/assets/console.css", nil),
	} {
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
				"img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
				"require-trusted-types-for 'script'; trusted-types console",
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"X-Frame-Options": "DENY",
		} {
			if got := answer.Header().Get(header); got != want {
				t.Errorf("%s, %d: %s is %q", name, answer.Code, header, got)
			}
		}
	}
}

// Cookies are for the console alone: not for scripts, not for other sites, and over HTTPS for nothing but HTTPS.
func TestCookies(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := newSite(t, func(o *console.Options) { o.Secure = secure })
		s.knows("eve", secretWord)
		cookies := s.browser().post("/login", url.Values{"name": {"eve"}, "passphrase": {secretWord}}).Result().Cookies()
		if len(cookies) != 1 {
			t.Fatalf("secure: %t: %v", secure, cookies)
		}
		c, name := cookies[0], cookie
		if secure {
			name = "__Host-aql-9090"
		}
		if c.Name != name || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" ||
			c.Secure != secure || len(c.Value) < 26 {
			t.Errorf("secure: %t: %v", secure, c)
		}
	}
}

// A person is logged in at several consoles of a host: browsers send each of them the cookies of all ports and paths.
func TestConsolesOfOneHost(t *testing.T) {
	all := []*site{
		newSite(t, func(o *console.Options) { o.Hosts = []string{"127.0.0.1:9090"} }),
		newSite(t, func(o *console.Options) { o.Hosts = []string{"127.0.0.1:9091"} }),
		newSite(t, func(o *console.Options) { o.Hosts, o.Path = []string{"127.0.0.1:9091"}, "/notes/console" }),
	}
	hosts, paths := []string{"127.0.0.1:9090", "127.0.0.1:9091", "127.0.0.1:9091"}, []string{"", "", "/notes/console"}
	cookies := make(map[string]string)
	for i, s := range all {
		s.knows("eve", secretWord)
		b := &browser{s, cookies}
		b.post(paths[i]+"/login", url.Values{"name": {"eve"}, "passphrase": {secretWord}},
			func(r *http.Request) { r.Host = hosts[i] })
	}
	for i, s := range all {
		b := &browser{s, cookies}
		if answer := b.get(paths[i]+"/", func(r *http.Request) { r.Host = hosts[i] }); answer.Code != http.StatusOK {
			t.Errorf("the session at %s%s has ended: %d", hosts[i], paths[i], answer.Code)
		}
	}
}

// A console that would send passphrases in clear over a network, or has nothing to show, is none.
func TestOptions(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*console.Options)
		ok     bool
	}{
		"on this machine": {func(o *console.Options) {
			o.Hosts = []string{"127.0.0.1:9090", "[::1]:9090", "LOCALHOST"}
		}, true},
		"elsewhere by HTTPS": {func(o *console.Options) { o.Hosts, o.Secure = []string{"ops.example"}, true }, true},
		"elsewhere":          {func(o *console.Options) { o.Hosts = []string{"ops.example"} }, false},
		"at an address":      {func(o *console.Options) { o.Hosts = []string{"10.0.0.7:9090"} }, false},
		"under a name that begins as this machine": {func(o *console.Options) {
			o.Hosts = []string{"localhost.evil.example"}
		}, false},
		"without hosts":          {func(o *console.Options) { o.Hosts = nil }, false},
		"without a name":         {func(o *console.Options) { o.Name = "" }, false},
		"without a store":        {func(o *console.Options) { o.Store = nil }, false},
		"asking once more":       {func(o *console.Options) { o.ReauthenticateFrom = gen.Safe }, true},
		"asking from nowhere on": {func(o *console.Options) { o.ReauthenticateFrom = "deadly" }, false},
		"at a path":              {func(o *console.Options) { o.Path = "/console" }, true},
		"at a path with a slash": {func(o *console.Options) { o.Path = "/console/" }, false},
		"at a pattern":           {func(o *console.Options) { o.Path = "/{x}" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := console.Options{Name: "notes", Store: new(store.Memory), Hosts: []string{host}}
			tt.change(&o)
			if _, err := console.New(o); (err == nil) != tt.ok {
				t.Errorf("%v", err)
			}
		})
	}
}

// What others have written is text on every page: in each field that has a place there.
func TestScriptIsText(t *testing.T) {
	const script = `<script>alert("x")</script>'"><img src=x onerror=alert(1)>`
	s := newSite(t, nil)
	eve := s.person("eve")
	item := s.ask(func(q *approve.Question) {
		q.Operation, q.Adapter, q.Message, q.Rule, q.Execution = script, script, script, script, script
		q.Reasons, q.Caller.Subject = []string{script}, script
		q.Params = `{"` + strings.ReplaceAll(script, `"`, `\"`) + `":"` + strings.ReplaceAll(script, `"`, `\"`) + `"}`
		q.Typing = approve.Typing{Param: script, Value: script}
		q.Needs = approve.Needs{Factors: []approve.Factor{{Count: 3}}, Reason: true}
	})
	form := eve.form(item.ID, "approve")
	form.Set("reason", script)
	form.Set("typed", script)
	if answer := eve.post("/items/"+item.ID, form); answer.Code != http.StatusSeeOther {
		t.Fatalf("the vote: %d %s", answer.Code, answer.Body)
	}
	held := s.hold(verify.Subject{Agent: script, Block: true, Reasons: []string{script}, Says: script})
	mallory := s.person(script)
	again := mallory.form(item.ID, "approve")
	again.Set("reason", script)
	again.Set("typed", "another"+script)
	again.Set("revision", s.revision(item.ID))
	query := make(url.Values)
	for _, name := range []string{"agent", "operation", "danger", "page", "decided"} {
		query.Set(name, script)
	}
	for name, answer := range map[string]*httptest.ResponseRecorder{
		"inbox": mallory.get("/"), "filtered": mallory.get("/?" + query.Encode()), "item": mallory.get("/items/" + item.ID),
		"whole": mallory.get("/items/" + item.ID + "/whole"),
		"held":  mallory.get("/items/" + held.ID), "decided": mallory.get("/?decided=" + item.ID),
		"mistyped": mallory.post("/items/"+item.ID, again),
		"code":     mallory.post("/items/"+held.ID+"/code", mallory.form(held.ID, "")),
		"login":    s.browser().post("/login", url.Values{"name": {script}, "passphrase": {"x"}, "item": {script}}),
		"no page":  mallory.get("/" + url.PathEscape(script)),
	} {
		t.Run(name, func(t *testing.T) {
			body := answer.Body.String()
			checkPage(t, body)
			for _, live := range []string{"<script>", "<img"} {
				if strings.Contains(body, live) {
					t.Errorf("%d has %s:\n%s", answer.Code, live, body)
				}
			}
			if name != "no page" && !strings.Contains(body, "&lt;script&gt;alert(") {
				t.Errorf("%d does not have the text at all:\n%s", answer.Code, body)
			}
		})
	}
}

// An agent chooses its name, and with it no sentence of the console.
func TestNamesOfAgentsAreNoSentences(t *testing.T) {
	s := newSite(t, nil)
	eve := s.person("eve")
	const name = "Nothing to do: the last agent was released by eve, and nobody"
	held := s.hold(verify.Subject{Agent: name, Block: true})
	for page, answer := range map[string]*httptest.ResponseRecorder{
		"inbox": eve.get("/"), "item": eve.get("/items/" + held.ID),
		"code": eve.post("/items/"+held.ID+"/code", eve.form(held.ID, "")),
	} {
		body := strings.ReplaceAll(answer.Body.String(), "<dd>"+name+"</dd>", "") // a fact, behind its title
		if quoted := "“" + name + "”"; !strings.Contains(body, quoted) ||
			strings.Contains(strings.ReplaceAll(body, quoted, ""), name) {
			t.Errorf("the %s has the name as its own words:\n%s", page, body)
		}
	}
}

// A store that cannot be read lets nobody in, and says nothing about itself.
func TestFailuresOfTheStoreAreNotShown(t *testing.T) {
	s := newSite(t, func(o *console.Options) { o.Store = broken{o.Store} })
	for _, answer := range []*httptest.ResponseRecorder{
		s.browser().post("/login", url.Values{"name": {"eve"}, "passphrase": {secretWord}}),
		s.browser().get("/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie, Value: "x"}) }),
	} {
		if answer.Code != http.StatusServiceUnavailable || strings.Contains(answer.Body.String(), "10.0.0.7") {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	}
}

// Replicas share the store, and nothing else: who has logged in at one is known to the other, and logs out of both.
func TestReplicasShareSessions(t *testing.T) {
	s := newSite(t, nil)
	b := s.person("eve")
	other, err := console.New(console.Options{Name: "notes", Store: s.store, Hosts: []string{host}, Now: s.clock})
	if err != nil {
		t.Fatal(err)
	}
	first := s.Handler
	for _, replica := range []http.Handler{first, other, first} {
		s.Handler = replica
		if answer := b.get("/"); answer.Code != http.StatusOK {
			t.Errorf("the status is %d", answer.Code)
		}
	}
	item := s.ask(nil)
	form := b.form(item.ID, "approve")
	s.Handler = other
	if answer := b.post("/items/"+item.ID, form); answer.Code != http.StatusSeeOther {
		t.Errorf("a form of one replica at the other: %d", answer.Code)
	}
	kept := b.cookies[cookie]
	b.post("/logout", form)
	s.Handler, b.cookies[cookie] = first, kept
	if answer := b.get("/"); answer.Code == http.StatusOK {
		t.Error("who has logged out of one replica is known to the other")
	}
}
