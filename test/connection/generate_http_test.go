package connection

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// post makes a request with a message, and the headers that it needs, rarely with others.
func (g *generator) post(body string) request {
	r := request{method: http.MethodPost, body: body, headers: []string{
		"Content-Type", pick(g, "application/json", "application/json", "application/json; charset=utf-8"),
		"Accept", pick(g, "application/json, text/event-stream", "application/json, text/event-stream", "*/*",
			"text/event-stream;q=0.5,application/json"),
	}}
	var m struct {
		Method string
		Params struct {
			Name, URI string
			Meta      map[string]any `json:"_meta"`
		}
	}
	json.Unmarshal([]byte(body), &m) //nolint:errcheck // a broken message has the headers of an empty one
	if g.modern {
		version, _ := m.Params.Meta["io.modelcontextprotocol/protocolVersion"].(string)
		if version == "" || g.oneIn(40) {
			version = "2026-07-28"
		}
		r.headers = append(r.headers, "Mcp-Protocol-Version", version, "Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			r.headers = append(r.headers, "Mcp-Name", name)
		}
	} else if m.Method != "initialize" || g.oneIn(10) {
		r.headers = append(r.headers, "Mcp-Session-Id", "{session}")
		if !g.oneIn(3) {
			r.headers = append(r.headers, "Mcp-Protocol-Version", pick(g, "2025-06-18", "2025-11-25", "2025-03-26"))
		}
	}
	if g.oneIn(6) {
		g.spoil(&r)
	}
	return r
}

// spoil changes a header, the method or the body.
func (g *generator) spoil(r *request) {
	set := func(name, value string) {
		for i := 0; i+1 < len(r.headers); i += 2 {
			if r.headers[i] == name {
				r.headers = slices.Delete(slices.Clone(r.headers), i, i+2)
				break
			}
		}
		if value != "-" {
			r.headers = append(r.headers, name, value)
		}
	}
	switch g.IntN(11) {
	case 0:
		set(
			"Accept",
			pick(
				g,
				"-",
				"",
				"application/json",
				"text/event-stream",
				"text/html",
				"application/*, text/*",
				"*/*;q=0",
				"APPLICATION/JSON, TEXT/EVENT-STREAM",
				"application/json;q=0, text/event-stream",
				"application/json,text/event-stream, */*",
			),
		)
	case 1:
		set(
			"Content-Type",
			pick(g, "-", "", "text/plain", "application/json;", "APPLICATION/JSON", "application/json;charset=\"x",
				"application/jsonp", "application/json, text/plain"),
		)
	case 2:
		set("Mcp-Session-Id", pick(g, "-", "", "none", "{session}x", "{session}"))
	case 3:
		set("Mcp-Protocol-Version", pick(g, "-", "", "2026-07-28", "2025-06-18", "2024-11-05", "2027-01-01", "1", "x"))
	case 4:
		r.headers = append(
			r.headers,
			"Origin",
			pick(g, "http://127.0.0.1", "https://evil.example", "null", "http://127.0.0.1:81"),
		)
	case 5:
		r.headers = append(r.headers, "Sec-Fetch-Site", pick(g, "same-origin", "cross-site", "none", "same-site"))
	case 6: // the SDK refuses names of this machine in upper case
		r.headers = append(
			r.headers,
			"Host",
			pick(g, "localhost", "evil.example", "127.0.0.1:80", "[::1]:80", "EVIL.example", ""),
		)
	case 7:
		if g.burst { // no session ends while others call
			return
		}
		r.method = pick(
			g,
			http.MethodGet,
			http.MethodPut,
			http.MethodHead,
			http.MethodOptions,
			http.MethodDelete,
			http.MethodPatch,
		)
	case 8:
		set(pick(g, "Mcp-Method", "Mcp-Name"), pick(g, "-", "", "x", "tools/call", "mcp_aql_read", "MCP_AQL_READ"))
	case 9:
		r.headers = append(
			r.headers,
			pick(g, "Last-Event-ID", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Accept"),
			pick(g, "x", "0_0"),
		)
	default:
		r.cut = true
	}
}

// onHTTP makes a conversation over HTTP.
func (g *generator) onHTTP() conversation {
	g.modern = g.oneIn(2)
	g.asks = g.oneIn(2)
	c := conversation{elicit: g.oneIn(3)}
	sent, left := 0, false
	send := func(requests ...request) {
		sent += len(requests)
		c.steps = append(c.steps, step{requests: requests})
	}
	if !g.modern && !g.oneIn(10) || g.oneIn(10) {
		was := g.modern
		g.modern = false
		send(g.post(g.initialize()))
		if !g.oneIn(5) {
			send(g.post(g.notification("notifications/initialized", "")))
		}
		g.modern = was
	}
	for range 1 + g.IntN(8) {
		switch g.IntN(14) {
		case 0, 1: // several calls at once
			burst := make([]request, 1+g.IntN(5))
			g.burst = true
			for i := range burst {
				burst[i] = g.post(g.call())
			}
			g.burst = false
			send(burst...)
		case 2:
			thing := fmt.Sprintf("w%d", g.next)
			h := held{g.freshID(), thing}
			g.held = append(g.held, h)
			send(g.post(g.callOf(h.id, "mcp_aql_execute", g.operation("wait_thing", `"`+thing+`"`), pick(g, "", `"t"`))))
			switch g.IntN(4) {
			case 0:
				c.steps = append(c.steps, step{release: thing})
			case 1:
				c.steps, left = append(c.steps, step{leave: sent}), true
			case 2:
				send(g.post(g.notification("notifications/cancelled", g.params("", member{"requestId", h.id}))))
			default:
				send(
					g.post(pick(g, g.callOf(h.id, "mcp_aql_read", g.operation("get_thing", `"a"`), ""), g.request(h.id, "ping", ""))),
				)
				c.steps = append(c.steps, step{release: thing})
			}
		case 3:
			send(
				g.post(
					g.callOf(g.freshID(), "mcp_aql_execute", g.operation("report_thing", `"r"`), pick(g, `"p"`, "7", "null", "")),
				),
			)
		case 4:
			if g.oneIn(2) {
				send(g.post(g.callOf(g.freshID(), "ask", "{}", "")))
			} else {
				send(g.post(g.callOf(g.freshID(), "mcp_aql_delete", g.operation("delete_thing", `"d"`), "")))
			}
			c.steps = append(c.steps, step{answer: pick(g, `{"action":"accept","content":{"approve":true}}`,
				`{"action":"decline"}`, `{"action":"x"}`, `[]`)})
		case 5: // the stream of what the server has to say, of which there is one
			r := g.post("")
			r.method, r.headers = http.MethodGet, append(slices.Clone(r.headers[2:]), "Mcp-Session-Id", "{session}")
			send(r)
			if g.oneIn(2) {
				c.steps, left = append(c.steps, step{leave: sent}), true
			}
		case 6:
			if g.oneIn(3) {
				send(request{method: http.MethodDelete, headers: []string{"Mcp-Session-Id", "{session}"}})
			}
		case 7:
			// With the SDK a session that is idle but for a call is neither there nor gone, and a call whose client has left
			// is no activity; with ours it is until it ends.
			if !left && g.oneIn(4) {
				for _, h := range g.held {
					c.steps = append(c.steps, step{release: h.thing})
				}
				c.steps = append(c.steps, step{wait: pick(g, 29*time.Minute, 31*time.Minute)})
			}
		case 8:
			g.modern = g.modern != g.oneIn(4)
			send(g.post(g.message()))
		case 9:
			send(g.post(strings.Repeat(" ", g.IntN(3)) + g.call() + pick(g, "", " ", "\n", "\n\n", "{}", "x")))
		default:
			send(g.post(g.message()))
		}
	}
	return c
}
