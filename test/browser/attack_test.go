package browser

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/verify"
)

// attacker serves a page, and returns its addresses: at another site, and at another port of the same machine, which
// browsers take for the same site.
func attacker(t *testing.T, body string) map[string]string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!DOCTYPE html><title>kittens</title><body>%s</body>", body)
	}))
	t.Cleanup(server.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	return map[string]string{
		"another site": "http://evil.example:" + port + "/", "another port": "http://127.0.0.1:" + port + "/",
	}
}

// A page of an attacker sends the form of an approval, with everything but the token of the session. Nothing is done.
func TestForgedForm(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.ask(nil)
	s.logIn(b, "eve")
	item, err := s.inbox.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	form := fmt.Sprintf(`<form method="post" action=%q><input name="answer" value="approve"><input name="csrf" value="0">
<input name="revision" value=%q></form><script>document.forms[0].submit()</script>`, s.at(id), item.Revision())
	for name, address := range attacker(t, form) {
		b.visit(address)
		b.waitForText("This form came from another site")
		if state := s.stateOf(id); state != approve.Open {
			t.Errorf("%s: the item is %s", name, state)
		}
	}
}

// A script of an attacker sends what the console's own page would send, even with the token of the session, and reads
// what it can. Nothing is done, and it reads nothing.
func TestForgedFetch(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.ask(nil)
	s.logIn(b, "eve")
	item, err := s.inbox.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	token := run(b, chromedp.Evaluate[string](`document.querySelector('[name=csrf]').value`))
	script := fmt.Sprintf(`<script>
const form = new URLSearchParams({answer: 'approve', csrf: %q, revision: %q});
const read = (mode) => fetch(%[3]q, {mode, credentials: 'include'}).then((r) => r.text());
const told = () => new Promise((tell) => {
  const events = new EventSource(%[4]q, {withCredentials: true});
  events.onmessage = (message) => tell(message.data);
  events.onerror = () => tell('');
});
(async () => {
  for (const mode of ['no-cors', 'cors']) {
    for (const headers of [{}, {'X-Own': '1'}]) {
      await fetch(%[3]q, {method: 'POST', mode, credentials: 'include', body: form, headers}).catch(() => {});
    }
  }
  navigator.sendBeacon(%[3]q, form);
  const texts = await Promise.all([read('no-cors').catch(() => ''), read('cors').catch(() => ''), told()]);
  const tried = document.createElement('p');
  tried.id = 'tried';
  tried.textContent = texts.join('');
  document.body.append(tried);
})();
</script>`, token, item.Revision(), s.at(id), s.url+"events?seen=nothing")
	for name, address := range attacker(t, script) {
		b.visit(address)
		b.waitFor("#tried")
		if text := b.text("#tried"); text != "" {
			t.Errorf("%s: the script reads %s", name, text)
		}
		b.visit(s.at(id)) // behind what the script has sent
		b.waitFor(".state")
		if state := s.stateOf(id); state != approve.Open {
			t.Errorf("%s: the item is %s", name, state)
		}
	}
}

// A name of an attacker that leads to this machine (DNS rebinding) shows nothing of the console.
func TestRebinding(t *testing.T) {
	s, b := newSite(t), open(t)
	s.ask(nil)
	s.logIn(b, "eve")
	_, port, _ := strings.Cut(s.host(), ":")
	b.visit("http://evil.example:" + port + "/")
	b.waitForText("This is not an address of the console")
	b.hasNo("delete_note")
}

// A page of an attacker cannot have the console in a frame, over which it could lay something else.
func TestFraming(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.ask(nil)
	s.logIn(b, "eve")
	for name, address := range attacker(t, `<iframe src="`+html.EscapeString(s.at(id))+`"></iframe>`) {
		b.visit(address)
		tree, err := chromedp.Call(b.Context(), page.GetFrameTree, cdp.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		if len(tree.FrameTree.ChildFrames) != 1 {
			t.Fatalf("%s: there are %d frames", name, len(tree.FrameTree.ChildFrames))
		}
		if frame := tree.FrameTree.ChildFrames[0].Frame; frame.URL != "chrome-error://chromewebdata/" {
			t.Errorf("%s: the frame shows %s", name, frame.URL)
		}
	}
}

// A session that an attacker has made up, or that somebody else is logged in with, does not become that of a person.
func TestFixation(t *testing.T) {
	s, b := newSite(t), open(t)
	const planted = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	cookie := "aql-" + at.Port()
	b.visit(attacker(t, `<script>document.cookie = "`+cookie+`=`+planted+`; path=/"</script>`)["another port"])
	s.logIn(b, "eve")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.AddCookie(&http.Cookie{Name: cookie, Value: planted})
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if at := answer.Request.URL.Path; at != "/login" {
		t.Errorf("who has planted the cookie is at %s", at)
	}
	if seen := run(b, chromedp.Evaluate[string](`document.cookie`)); seen != "" {
		t.Errorf("scripts see the cookie %s", seen)
	}
}

// What others have written is text on every page, also where it arrives while the page is open.
func TestInjectedScript(t *testing.T) {
	s, b := newSite(t), open(t)
	const script = `</code></title><script>window.ran=1</script>'">` +
		`<img src=x onerror=window.ran=1><a href=javascript:ran=1>x`
	s.logIn(b, "eve")
	hostile := func(q *approve.Question) {
		q.Operation, q.Adapter, q.Message, q.Rule, q.Execution = script, script, script, script, script
		q.Reasons, q.Caller.Subject = []string{script}, script
		quoted := strings.ReplaceAll(script, `"`, `\"`)
		q.Params = `{"` + quoted + `":"` + quoted + `"}`
		q.Typing = approve.Typing{Param: script, Value: script}
	}
	id := s.ask(hostile)
	held := s.hold(func(of *verify.Subject) {
		of.Agent, of.Reasons, of.Says = "x"+script, []string{script}, script
	})
	b.waitForText("2 items at") // by an event
	harmless := func() {
		t.Helper()
		if run(b, chromedp.Evaluate[bool](`'ran' in window || document.querySelector('main script, main img') !== null`)) {
			t.Errorf("a script of somebody else has run, or is in %s", b.source())
		}
		if !strings.Contains(b.text("main"), "window.ran=1") {
			t.Errorf("what was written is not shown:\n%s", b.text("main"))
		}
	}
	harmless()
	for _, address := range []string{s.url, s.url + "?agent=" + url.QueryEscape("x"+script), s.at(id), s.at(held)} {
		b.visit(address)
		harmless()
	}
	s.showCode(b)
	harmless()
}
