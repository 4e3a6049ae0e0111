package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// D1: a peer that takes as much more processor time as is wanted meets its target, and one that was not measured has
// none.
func TestTargets(t *testing.T) {
	cells := func(ratio float64) map[int]cell {
		all := make(map[int]cell)
		for _, n := range outstanding {
			all[n] = cell{cpu: 10 * ratio, ratio: ratio, latency: 40 * time.Microsecond}
		}
		return all
	}
	r := report{
		results: results{
			"stdio": {ours: cells(1), sdk: cells(8), mcpGo: cells(3.9)},
			"HTTP":  {ours: cells(1), bare: cells(0.5)},
		},
		stdio: allocated{20, 8193}, handler: allocated{21, 8192},
		memory: &memory{after: 31 << 20, session: 18 << 10},
	}
	var got []string
	for _, target := range r.targets() {
		if !strings.Contains(target.quantity, "8 at once") && !strings.Contains(target.quantity, "64 at once") {
			got = append(got, fmt.Sprintf("%s %s: %v", target.quantity, target.measured, target.met))
		}
	}
	want := []string{
		"stdio, 1 at once: SDK AddTool takes, of aql-tag's processor time 8.0×: true",
		"stdio, 1 at once: mcp-go takes, of aql-tag's processor time 3.9×: false",
		"HTTP, 1 at once: aql-tag takes, of net/http's 2.0×: false",
		"stdio: allocations of a call 20: true",
		"stdio: bytes that a call allocates 8193: false",
		"the HTTP handler: allocations of a call 21: false",
		"the HTTP handler: bytes that a call allocates 8192: true",
		"stdio, 1 at once: median time of a call 40µs: true",
		"stdio: resident memory after a million calls 31.0 MiB: false",
		"HTTP: memory of a session 18.0 KiB: true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The table takes the place of the one before, and a page without markers stays as it is.
func TestPut(t *testing.T) {
	page := "# Page\n\n" + begin + "\nold\n" + end + "\nmore\n"
	got, err := put(page, "| new |\n")
	if want := "# Page\n\n" + begin + "\n| new |\n\n" + end + "\nmore\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := put("# Page\n", "| new |\n"); err == nil {
		t.Error("a page without markers was accepted")
	}
}

// Ids follow each other in the bytes of a call, and an answer that is no result is an error.
func TestCalls(t *testing.T) {
	c := newCalls("", call(ours, transports()[0]), "\n")
	for want := range int64(3) {
		text, id := c.following()
		if id != firstID+want || !strings.Contains(string(text), fmt.Sprintf(`"id":%d,`, id)) {
			t.Errorf("call %d has the id %d: %s", want, id, text[:60])
		}
	}
	const answer = `{"jsonrpc":"2.0","id":1000000007,"result":{"content":[{"text":"{\"success\":true}"}]}}`
	if id, err := c.check([]byte(answer)); id != 1000000007 || err != nil {
		t.Error(id, err)
	}
	for _, wrong := range []string{`{"jsonrpc":"2.0","id":1000000007,"error":{}}`, "", answer + " "} {
		if _, err := c.check([]byte(wrong)); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

// Answers over HTTP are read whole, in chunks or with a length, and a session's id with them.
func TestAnswer(t *testing.T) {
	for name, tt := range map[string]struct{ text, body, session, err string }{
		"length": {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nmcp-session-id: s\r\n\r\nhello", "hello", "s", ""},
		"chunks": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "hello", "", ""},
		"refusal": {"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno", "no", "",
			"the server answered HTTP/1.1 400 Bad Request\r\nno"},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := net.Pipe()
			go func() {
				defer server.Close()
				fmt.Fprint(server, tt.text)
			}()
			c := &httpConnection{Conn: client, in: bufio.NewReader(client)}
			session, err := c.answer()
			if string(c.body) != tt.body || session != tt.session || (err == nil) != (tt.err == "") ||
				err != nil && err.Error() != tt.err {
				t.Errorf("body %q, session %q, error %v", c.body, session, err)
			}
		})
	}
}
