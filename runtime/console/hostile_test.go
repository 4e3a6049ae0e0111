package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
)

// What is no form, or more than a browser sends, decides nothing. Each row is the body of an approval that would count
// in another form.
func TestFormsOfNoBrowser(t *testing.T) {
	const urlencoded = "application/x-www-form-urlencoded"
	whole := func(f url.Values) string { return f.Encode() }
	for name, tt := range map[string]struct {
		kind   string
		body   func(url.Values) string
		length int64 // less than zero: unknown
		status int
		state  approve.State
	}{
		"as browsers send it":  {kind: urlencoded, body: whole, status: 303, state: approve.Approved},
		"of an unknown length": {kind: urlencoded, body: whole, length: -1, status: 303, state: approve.Approved},
		"with a broken escape": {kind: urlencoded, status: 400, body: func(f url.Values) string {
			return f.Encode() + "&x=%zz"
		}},
		"with a broken name": {kind: urlencoded, status: 400, body: func(f url.Values) string {
			return "%=&" + f.Encode()
		}},
		"separated by semicolons": {kind: urlencoded, status: 400, body: func(f url.Values) string {
			return strings.ReplaceAll(f.Encode(), "&", ";")
		}},
		"with a broken type": {kind: urlencoded + "; x", body: whole, status: 400},
		"without a type":     {body: whole, status: 403},
		"as text":            {kind: "text/plain", body: whole, status: 403},
		"in parts": {kind: "multipart/form-data; boundary=b", status: 403, body: func(f url.Values) string {
			var parts strings.Builder
			for field, values := range f {
				fmt.Fprintf(&parts, "--b\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", field, values[0])
			}
			return parts.String() + "--b--\r\n"
		}},
		"in very many fields": {kind: urlencoded, status: 400, body: func(f url.Values) string {
			return f.Encode() + strings.Repeat("&x=1", 20_000)
		}},
		"in a field without end, of an unknown length": {
			kind: urlencoded, length: -1, status: 400,
			body: func(f url.Values) string { return f.Encode() + "&x=" + strings.Repeat("y", 1<<20) },
		},
		"behind a field without end": {kind: urlencoded, status: 400, body: func(f url.Values) string {
			return "x=" + strings.Repeat("y", 1<<20) + "&" + f.Encode()
		}},
		"in the address": {kind: urlencoded, body: func(url.Values) string { return "" }, status: 403},
		"empty":          {kind: urlencoded, body: func(url.Values) string { return "" }, status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			eve, item := s.person("eve"), s.ask(nil)
			form, path := eve.form(item.ID, "approve"), "/items/"+item.ID
			if name == "in the address" {
				path += "?" + form.Encode()
			}
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(tt.body(form)))
			if tt.length < 0 {
				r.ContentLength = tt.length
			}
			r.Header.Set("Content-Type", tt.kind)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			answer := eve.send(r)
			if answer.Code != tt.status {
				t.Errorf("the status is %d, want %d: %s", answer.Code, tt.status, answer.Body)
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

// No name that others choose, and no address, gets a line into the headers of an answer.
func TestHeadersAreTheConsolesOwn(t *testing.T) {
	const injected = "x\r\nSet-Cookie: aql-9090=planted\r\nLocation: https://evil.example/\r\n\r\n<script>"
	escaped := url.QueryEscape(injected)
	s := newSite(t, nil)
	s.knows(injected, secretWord)
	eve := s.person("eve")
	item := s.ask(func(q *approve.Question) {
		q.Operation, q.Adapter, q.Message, q.Rule, q.Execution = injected, injected, injected, injected, injected
		q.Reasons, q.Caller.Subject = []string{injected}, injected
	})
	own := map[string]bool{"Content-Type": true, "Location": true, "Set-Cookie": true, "Retry-After": true, "Allow": true}
	for header := range s.browser().get("/login").Header() {
		own[header] = true
	}
	for name, answer := range map[string]answer{
		"inbox": eve.get("/"), "item": eve.get("/items/" + item.ID), "filtered": eve.get("/?operation=" + escaped),
		"placed": eve.get("/?after=" + escaped), "decided before": eve.get("/?decided=" + escaped),
		"no item": eve.get("/items/" + url.PathEscape(injected)), "no page": eve.get("/" + url.PathEscape(injected)),
		"no asset": eve.get("/assets/" + url.PathEscape(injected)),
		"stranger": s.browser().get("/items/" + url.PathEscape(injected)),
		"log-in": s.browser().post("/login", url.Values{
			"name": {injected}, "passphrase": {secretWord}, "item": {injected},
		}),
		"decision":   eve.decide(item.ID, "approve"),
		"other host": eve.get("/", func(r *http.Request) { r.Host = "evil.example\r\nX-Planted: 1" }),
	} {
		for header, values := range answer.Header() {
			for _, value := range values {
				if !own[header] || strings.ContainsAny(value, "\r\n\x00") || strings.Contains(value, "planted") ||
					header == "Location" && !strings.HasPrefix(value, "/") {
					t.Errorf("%s is answered with %s: %q", name, header, value)
				}
			}
		}
	}
}

// Who guesses passphrases by the thousand has ten of them looked at in a minute, and keeps nobody else out: others log
// in, and the person whose passphrase it is decides at a terminal.
func TestGuessing(t *testing.T) {
	s := newSite(t, nil)
	s.knows("eve", secretWord)
	s.knows("bob", secretWord)
	codes := make(map[int]int)
	for i := range 1000 {
		guess := url.Values{"name": {"eve"}, "passphrase": {fmt.Sprintf("a wrong passphrase %d", i)}}
		codes[s.browser().post("/login", guess).Code]++
	}
	if codes[http.StatusForbidden] != 10 || codes[http.StatusTooManyRequests] != 990 {
		t.Errorf("the guesses are answered with %v", codes)
	}
	right := url.Values{"name": {"eve"}, "passphrase": {secretWord}}
	if answer := s.browser().post("/login", right); answer.Code != http.StatusTooManyRequests {
		t.Errorf("the right one is answered with %d, which tells who guesses that it is", answer.Code)
	}
	s.browser().logIn("bob")
	terminal, typed := passphrase.Book{Store: s.store}, func() (string, error) { return secretWord, nil }
	if _, err := terminal.Check(t.Context(), identity.User("eve"), typed); err != nil {
		t.Errorf("at a terminal: %v", err)
	}
}
