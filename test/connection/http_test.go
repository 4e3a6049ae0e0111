package connection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// exchange is one request and what a server answers.
type exchange struct {
	mu      sync.Mutex
	header  http.Header
	sent    http.Header // the header as it was when the status was written
	status  int
	body    bytes.Buffer
	done    bool
	fault   string
	seen    int  // messages that were compared
	told    bool // the status was compared
	ended   bool // the end was compared
	leave   context.CancelFunc
	skipped bool // the plain server did not get the request
	code    int  // the error of JSON-RPC that ours answers then; 0: none
	left    bool // the client or the session is gone: what is written then does not matter
	stream  bool // it is a GET
	worded  bool // errors of the SDK are put in our words
	late    bool // it is compared when both servers have answered
	batch   bool // so is this; its answers come in any order
}

func (x *exchange) Header() http.Header { return x.header }
func (x *exchange) Flush()              { x.WriteHeader(http.StatusOK) }

func (x *exchange) WriteHeader(status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.status == 0 {
		x.status, x.sent = status, x.header.Clone()
	}
}

func (x *exchange) Write(p []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.body.Write(p)
}

// cutBody is a body whose client goes away before its end.
type cutBody struct{ io.Reader }

func (b cutBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// site is a client of one server over HTTP.
type site struct {
	handler   http.Handler
	worded    bool // errors of the SDK are put in our words
	session   string
	exchanges []*exchange
}

// newRequest makes a request of a client. Header Host is that of the request.
func (s *site) newRequest(ctx context.Context, r request) *http.Request {
	var body io.Reader = strings.NewReader(r.body)
	if r.cut {
		body = cutBody{body}
	}
	local := net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, local)
	request, err := http.NewRequestWithContext(ctx, r.method, "http://127.0.0.1/mcp", body)
	if err != nil {
		panic(err) // the generator writes methods as they have to be
	}
	request.ContentLength = int64(len(r.body))
	for i := 0; i+1 < len(r.headers); i += 2 {
		if r.headers[i] == "Host" {
			request.Host = r.headers[i+1]
			continue
		}
		request.Header.Add(r.headers[i], strings.ReplaceAll(r.headers[i+1], "{session}", s.session))
	}
	return request
}

// send sends a request.
func (s *site) send(ctx context.Context, r request) {
	x := &exchange{header: make(http.Header), worded: s.worded}
	s.exchanges = append(s.exchanges, x)
	ctx, x.leave = context.WithCancel(ctx)
	request := s.newRequest(ctx, r)
	go func() {
		defer func() {
			v := recover()
			x.mu.Lock()
			defer x.mu.Unlock()
			x.done = true
			if v != nil {
				x.fault = fmt.Sprintf("panic: %v", v)
			}
		}()
		s.handler.ServeHTTP(x, request)
		x.WriteHeader(http.StatusOK)
	}()
}

// news returns what came of an exchange since it was compared last, and the questions in it.
func (x *exchange) news() (all, questions []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fault != "" {
		all = append(all, x.fault)
	}
	if x.status != 0 && !x.told {
		x.told = true
		all = append(all, x.head())
	}
	received := x.messages()
	for _, m := range received[x.seen:] {
		m, id := anonymous(m)
		all = append(all, m)
		if id != "" {
			questions = append(questions, id)
		}
	}
	x.seen = len(received)
	if x.done && !x.ended {
		x.ended = true
		all = append(all, "end")
	}
	return all, questions
}

// head is the status and the header of an answer. Whether messages come as JSON or as events is up to the server.
func (x *exchange) head() string {
	media, _, _ := mime.ParseMediaType(x.sent.Get("Content-Type"))
	if x.status == http.StatusOK && media == "text/event-stream" {
		media = "application/json"
	}
	return fmt.Sprintf("status %d, %s, session %v, allow %q", x.status, media, x.sent.Get("Mcp-Session-Id") != "",
		x.sent.Values("Allow"))
}

// messages returns the messages of an answer: those that have come whole.
func (x *exchange) messages() []string {
	media, _, _ := mime.ParseMediaType(x.sent.Get("Content-Type"))
	text := x.body.String()
	var all []string
	switch {
	case media == "text/event-stream":
		for {
			event, rest, whole := strings.Cut(text, "\n\n")
			if !whole {
				return all
			}
			text = rest
			for line := range strings.Lines(event) {
				if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok && data != "" {
					all = append(all, canonical([]byte(x.words(data))))
				}
			}
		}
	case !x.done || text == "":
	case media == "application/json":
		if length := x.sent.Get("Content-Length"); length != "" && length != fmt.Sprint(len(text)) {
			all = append(all, fmt.Sprintf("Content-Length %s of %d bytes", length, len(text)))
		}
		all = append(all, canonical([]byte(x.words(text))))
	default:
		all = append(all, strings.TrimSpace(x.words(text)))
	}
	return all
}

// sdkTexts are texts of the SDK that repeat what was sent, or are of Go, by how they begin, and ours in their place.
var sdkTexts = []struct{ start, ours string }{
	{"Forbidden: invalid Host header ", "this host name is not allowed"},
	{"malformed Last-Event-ID ", "malformed Last-Event-ID"},
	{"malformed payload: ", "the body is not a message of JSON-RPC"},
	{"failed to read body: ", "failed to read body"},
	{"JSON RPC not handled: ", "the method is not supported"},
	{"invalid request: missing required ", "the request has no params"},
	{"invalid request: unexpected id ", "the method is that of a notification, which has no id"},
	{"invalid request: missing id ", "the method is that of a request, which has an id"},
}

// words is the row of the table that says: errors do not repeat what was sent, and name nothing of Go.
func (x *exchange) words(text string) string {
	if !x.worded {
		return text
	}
	for _, t := range sdkTexts {
		if strings.HasPrefix(text, t.start) {
			return t.ours
		}
	}
	message, err := jsonrpc.DecodeMessage([]byte(text))
	response, ok := message.(*jsonrpc.Response)
	if err != nil || !ok || response.Error == nil {
		return text
	}
	if e := new(jsonrpc.Error); errors.As(response.Error, &e) && strings.HasPrefix(e.Message, "JSON RPC not handled: ") {
		e.Message = "the method is not supported"
	}
	if encoded, err := jsonrpc.EncodeMessage(inOurWords(response)); err == nil {
		return string(encoded)
	}
	return text
}

// visit is one conversation over HTTP with both servers.
type visit struct {
	ours, theirs server
	mine, their  *site
	questions    []string
}

// overHTTP plays a conversation over HTTP.
func overHTTP(tb testing.TB, c conversation) string {
	ctx, stop := context.WithCancel(context.Background())
	v := &visit{ours: newOurs(tb, c.elicit), theirs: newTheirs(tb, c.elicit)}
	defer func() {
		v.do(ctx, step{answer: `{"action":"cancel"}`}) // a session that waits for an answer does not close
		v.ours.releaseAll()
		v.theirs.releaseAll()
		stop()
		settle()
		v.ours.close()
		v.theirs.close()
		settle()
	}()
	for _, side := range []struct {
		server
		site **site
	}{{v.ours, &v.mine}, {v.theirs, &v.their}} {
		handler, err := side.handler()
		if err != nil {
			return err.Error()
		}
		*side.site = &site{handler: handler, session: "none", worded: side.server == v.theirs}
	}
	for i, st := range c.steps {
		if fault := v.do(ctx, st); fault != "" {
			return fmt.Sprintf("step %d: %s", i, fault)
		}
	}
	return ""
}

// do does one step and compares what comes of it.
func (v *visit) do(ctx context.Context, st step) string {
	switch {
	case st.requests != nil:
		for _, r := range st.requests {
			v.send(ctx, r)
		}
	case st.release != "":
		v.ours.release(st.release)
		v.theirs.release(st.release)
	case st.answer != "":
		for _, id := range v.questions {
			v.send(ctx, request{
				method: http.MethodPost, body: `{"jsonrpc":"2.0","id":` + id + `,"result":` + st.answer + "}",
				headers: []string{
					"Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Mcp-Session-Id", "{session}",
				},
			})
		}
		v.questions = nil
	case st.leave > 0:
		if st.leave <= len(v.mine.exchanges) {
			v.mine.exchanges[st.leave-1].left = true
			v.mine.exchanges[st.leave-1].leave()
			v.their.exchanges[st.leave-1].leave()
		}
	default:
		time.Sleep(st.wait)
	}
	settle()
	return v.compare()
}

// send sends a request to both servers. For one to which a row of the table applies the plain server answers what the
// row says.
//
// The end of a session during a call is a row of its own: the SDK ends the session, with its event stream, when the
// call has ended, and drops its answer; ours ends both at once.
func (v *visit) send(ctx context.Context, r request) {
	late := false
	if r.method == http.MethodDelete {
		for _, x := range v.mine.exchanges {
			if (!x.done || x.left) && !x.stream { // the call of a client that left may go on
				x.left, late = true, true
			}
		}
	}
	v.mine.send(ctx, r)
	mine := v.mine.exchanges[len(v.mine.exchanges)-1]
	mine.late, mine.stream = late, r.method == http.MethodGet
	mine.batch = strings.HasPrefix(strings.TrimLeft(r.body, " \t\r\n"), "[")
	if !late && v.closing() && namesSession(r) {
		mine.left = true
		v.their.send(ctx, r)
		return
	}
	for _, row := range onHTTP {
		status, code := row.apply(v, v.their.newRequest(ctx, r), r)
		if status > 0 {
			x := &exchange{skipped: true, status: status, code: code, done: true, leave: func() {}}
			v.their.exchanges = append(v.their.exchanges, x)
			return
		}
	}
	v.their.send(ctx, r)
}

// closing reports whether a server waits for a call before it ends a session. The plain one waits for each call, and
// ours for one that the SDK answers; either may end the session at a message that cannot be written. What they answer
// to requests of the session meanwhile is not compared.
func (v *visit) closing() bool {
	for i, x := range v.their.exchanges {
		if mine := v.mine.exchanges[i]; mine.late && (!mine.done || !x.done) {
			return true
		}
	}
	return false
}

// namesSession reports whether a request names a session.
func namesSession(r request) bool { return slices.Contains(r.headers, "Mcp-Session-Id") }

// compare compares what came of all exchanges since the last time.
func (v *visit) compare() string {
	synctest.Wait()
	var fault strings.Builder
	for i, mine := range v.mine.exchanges {
		their := v.their.exchanges[i]
		if mine.ended && their.ended {
			continue
		}
		if their.skipped {
			got, _ := mine.news()
			if len(got) == 3 && their.code != 0 {
				got[1], _ = refusal(got[1])
			}
			if mine.status != their.status || !mine.done || their.code != 0 && !slices.Contains(got, refused(their.code)) {
				fmt.Fprintf(&fault, "\n    request %d: %q, wanted status %d and code %d", i, got, their.status, their.code)
			}
			their.ended = true
			continue
		}
		both := mine.done && their.done
		if !both && (mine.late || mine.batch || mine.stream && mine.done != their.done && v.closing()) {
			continue
		}
		got, questions := mine.news()
		want, _ := their.news()
		v.questions = append(v.questions, questions...)
		if mine.left {
			continue
		}
		if mine.batch {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			fmt.Fprintf(&fault, "\n    request %d", i)
			for _, m := range got {
				fmt.Fprintf(&fault, "\n      ours:   %s", clip(m))
			}
			for _, m := range want {
				fmt.Fprintf(&fault, "\n      theirs: %s", clip(m))
			}
		}
	}
	for _, s := range []*site{v.mine, v.their} {
		for _, x := range s.exchanges {
			if id := x.sent.Get("Mcp-Session-Id"); id != "" {
				s.session = id
			}
		}
	}
	return fault.String()
}

// D8: over HTTP our server answers each request of a conversation as a plain server of the SDK does, whatever its
// headers, but for the rows of the table.
func TestHTTP(t *testing.T) {
	compareAll(t, overHTTP, func(seed uint64) conversation { return newGenerator(seed).onHTTP() })
}

// httpDifference is a row of the table of what our server does in another way than a plain one, on purpose, over HTTP.
type httpDifference struct {
	name, reason string
	example      request
	// apply returns the status with which our server refuses a request, and the code of the error of JSON-RPC; 0: the
	// row does not apply.
	apply func(v *visit, parsed *http.Request, r request) (status, code int)
}

// headersOf are those of a request without a session.
func headersOf(method, name string, more ...string) []string {
	return append([]string{
		"Content-Type", "application/json", "Accept", "*/*", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method,
		"Mcp-Name", name,
	}, more...)
}

// onHTTP is the table for HTTP. That our server ends a session without waiting for its calls is in visit.send; what it
// does not declare, and its own resources, are in newTheirs.
var onHTTP = []httpDifference{
	{
		name:   "a page of another origin",
		reason: "a browser sends what a foreign page wants; the SDK leaves it to the service to refuse that",
		example: request{
			method: http.MethodPost, body: waiting,
			headers: headersOf("tools/call", "mcp_aql_execute", "Sec-Fetch-Site", "cross-site"),
		},
		apply: func(_ *visit, parsed *http.Request, _ request) (int, int) {
			if http.NewCrossOriginProtection().Check(parsed) != nil {
				return http.StatusForbidden, 0
			}
			return 0, 0
		},
	},
	{
		name:   "what is no message",
		reason: "ours refuses it as on stdio, with an error of JSON-RPC, where the SDK has a text or takes it for a message",
		example: request{
			method: http.MethodPost, body: strings.Replace(waiting, `"id":1`, `"id":1.5`, 1),
			headers: headersOf("tools/call", "mcp_aql_execute"),
		},
		apply: func(v *visit, parsed *http.Request, r request) (int, int) {
			body := strings.Trim(r.body, " \t\r\n")
			if r.method != http.MethodPost || r.cut || body == "" { // these are the SDK's
				return 0, 0
			}
			if code := faultOf(body); code != 0 && v.reads(parsed) {
				return http.StatusBadRequest, code
			}
			return 0, 0
		},
	},
}

// reads reports whether the plain server would read the body of a request with such headers.
func (v *visit) reads(parsed *http.Request) bool {
	const body = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	probe := parsed.Clone(parsed.Context())
	probe.Header["Mcp-Method"] = []string{"notifications/roots/list_changed"}
	probe.Header.Del("Mcp-Name")
	probe.Body, probe.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	x := &exchange{header: make(http.Header)}
	v.their.handler.ServeHTTP(x, probe)
	return x.status == http.StatusAccepted
}

// Each row of the table is needed: without it the servers differ in its example.
func TestHTTPDifferences(t *testing.T) {
	rows := onHTTP
	onHTTP = nil
	defer func() { onHTTP = rows }()
	for _, row := range rows {
		c := conversation{steps: []step{{requests: []request{row.example}}}}
		if play(t, c, overHTTP) == "" {
			t.Errorf("%s: the servers do the same with %s; leave the row out", row.name, c)
		}
	}
}
