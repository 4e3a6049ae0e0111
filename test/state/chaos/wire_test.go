package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// request is a call of the tool. With items it is a batch.
type request struct {
	arguments map[string]any
	state     string
	approved  bool
	human     bool // the client can ask a person
}

// body returns the message of a request.
func (r request) body(id int) []byte {
	capabilities := map[string]any{}
	if r.human {
		capabilities["elicitation"] = map[string]any{}
	}
	params := map[string]any{
		"name": "mcp_aql", "arguments": r.arguments,
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "chaos", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": capabilities,
		},
	}
	if r.state != "" {
		params["requestState"] = r.state
		params["inputResponses"] = map[string]any{
			"approve": map[string]any{"action": "accept", "content": map[string]any{"approve": r.approved}},
		}
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
	if err != nil {
		panic(err)
	}
	return text
}

// reply is what comes back for a request.
type reply struct {
	Success bool
	Error   struct {
		Code, Message string
		Details       struct {
			Token   string    `json:"confirmation_token"`
			Expires time.Time `json:"expires_at"`
		}
	}
	Results []struct {
		Index  int
		Result reply
	}
	HaltedAt *struct {
		Index  int
		Result reply
	} `json:"halted_at"`
	Pending []struct{ Index int } `json:"pending_operations"`

	state string
}

// message is the answer in JSON-RPC.
type message struct {
	ID     int
	Result *struct {
		Content      []struct{ Text string }
		RequestState string
	}
	Error *struct {
		Code    int
		Message string
	}
}

// parse reads a message. It fails if the message answers nothing.
func (m *message) parse() (reply, error) {
	var r reply
	switch {
	case m.Error != nil:
		r.Error.Code, r.Error.Message = strconv.Itoa(m.Error.Code), m.Error.Message
	case m.Result == nil:
		return r, fmt.Errorf("neither result nor error")
	case m.Result.RequestState != "":
		r.Error.Code, r.state = "ASKED", m.Result.RequestState
	case len(m.Result.Content) == 0:
		return r, fmt.Errorf("no content")
	default:
		if err := json.Unmarshal([]byte(m.Result.Content[0].Text), &r); err != nil {
			return r, fmt.Errorf("%q: %w", m.Result.Content[0].Text, err)
		}
	}
	return r, nil
}

// answer returns what a reply says of a request that is not a batch.
func (r *reply) answer() answer {
	a := answer{
		code: r.Error.Code, detail: r.Error.Message, verdict: refused, token: r.Error.Details.Token,
		expires: r.Error.Details.Expires, state: r.state,
	}
	switch {
	case r.Success:
		a.verdict = success
	case a.code == "INTERNAL_ERROR" && !strings.Contains(a.detail, "the operation was not run"):
		a.verdict = unknown
	}
	return a
}

// answers returns what a reply says of each of the operations of a batch.
func (r *reply) answers(n int) []answer {
	all := make([]answer, n)
	if r.Error.Code != "" {
		for i := range all {
			all[i] = r.answer()
		}
		return all
	}
	for _, item := range r.Results {
		all[item.Index] = item.Result.answer()
	}
	if r.HaltedAt != nil {
		all[r.HaltedAt.Index] = r.HaltedAt.Result.answer()
	}
	for _, item := range r.Pending {
		all[item.Index] = answer{verdict: refused, code: "PENDING"}
	}
	return all
}

// line is a connection to a process.
type line interface {
	// send makes a call, and fails if there is no answer.
	send(ctx context.Context, r request, bearer string) (reply, error)
}

// web is a connection over HTTP on a socket.
type web struct{ client *http.Client }

func newWeb(socket string) *web {
	return &web{&http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost: 4,
	}}}
}

func (w *web) send(ctx context.Context, r request, bearer string) (reply, error) {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://things/mcp", bytes.NewReader(r.body(1)))
	if err != nil {
		return reply{}, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql",
		"Authorization": "Bearer " + bearer,
	} {
		post.Header.Set(name, value)
	}
	response, err := w.client.Do(post)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	if response.StatusCode >= 400 && response.StatusCode < 500 {
		var r reply
		r.Error.Code, r.Error.Message = response.Status, string(text)
		return r, nil
	}
	if response.StatusCode != http.StatusOK {
		return reply{}, fmt.Errorf("%s: %s", response.Status, text)
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		_, data, _ := strings.Cut(string(text), "data: ")
		data, _, _ = strings.Cut(data, "\n")
		text = []byte(data)
	}
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return reply{}, fmt.Errorf("%q: %w", text, err)
	}
	return m.parse()
}

// pipes are a connection on standard input and output.
type pipes struct {
	out chan []byte

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	gone    chan struct{} // closed when the process has ended
	stop    chan struct{} // closed to end the process
}

func newPipes(in io.WriteCloser, out io.Reader) *pipes {
	p := &pipes{out: make(chan []byte), waiting: make(map[int]chan message), gone: make(chan struct{}),
		stop: make(chan struct{})}
	go func() {
		defer in.Close()
		for {
			select {
			case text := <-p.out:
				if _, err := in.Write(text); err != nil {
					return
				}
			case <-p.stop:
				return
			case <-p.gone:
				return
			}
		}
	}()
	go func() {
		defer close(p.gone)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var m message
			if json.Unmarshal(lines.Bytes(), &m) != nil {
				continue // the end of a process that was killed
			}
			p.mu.Lock()
			if waiting := p.waiting[m.ID]; waiting != nil {
				waiting <- m
				delete(p.waiting, m.ID)
			}
			p.mu.Unlock()
		}
	}()
	return p
}

func (p *pipes) send(ctx context.Context, r request, _ string) (reply, error) {
	p.mu.Lock()
	p.last++
	id, got := p.last, make(chan message, 1)
	p.waiting[id] = got
	p.mu.Unlock()
	select {
	case p.out <- append(r.body(id), '\n'):
	case <-p.gone:
		return reply{}, io.EOF
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
	select {
	case m := <-got:
		return m.parse()
	case <-p.gone:
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
	select {
	case m := <-got: // it was the last
		return m.parse()
	default:
		return reply{}, io.EOF
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if extra := len(t.text) - 4<<10; extra > 0 {
		t.text = t.text[extra:]
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
