package front

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// D8: a line ends with a newline or the input, may be longer than what is read at once, and is cut where it is longer
// than it may be.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", readAhead*2)
	for _, tt := range []struct {
		name, input string
		longest     int
		want        []string // "!" stands for a line that is too long
	}{
		{"lines", "a\nb\r\n", 10, []string{"a\n", "b\r\n"}},
		{"blank ones", "\n \t\r\n\na\n\n", 10, []string{"a\n"}},
		{"a blank that is none of JSON", "\u00a0\n", 10, []string{"\u00a0\n"}},
		{"a last line without an end", "a\nb", 10, []string{"a\n", "b"}},
		{"as long as it may be", "123456789\n", 10, []string{"123456789\n"}},
		{"too long", "1234567890\na\n", 10, []string{"!", "a\n"}},
		{"too long, at the end", "a\n12345678901", 10, []string{"a\n", "!"}},
		{"longer than what is read at once", long + "\na\n", len(long) + 1, []string{long + "\n", "a\n"}},
		{"too long by far", long + long + "\na\n", 10, []string{"!", "a\n"}},
		{"nothing", "", 10, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLines(strings.NewReader(tt.input), tt.longest)
			for _, want := range tt.want {
				line, tooLong, err := l.next(nil)
				if err != nil || tooLong != (want == "!") || !tooLong && string(line) != want {
					t.Fatalf("%.20q, %v, %v, want %.20q", line, tooLong, err, want)
				}
			}
			if line, tooLong, err := l.next(nil); !errors.Is(err, io.EOF) {
				t.Errorf("then %.20q, %v, %v", line, tooLong, err)
			}
		})
	}
}

// slow is a stream whose reader takes one write at a time.
type slow struct {
	take    chan struct{}
	mu      sync.Mutex
	written bytes.Buffer
	writes  int
	err     error
}

func (s *slow) Write(p []byte) (int, error) {
	<-s.take
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.err != nil {
		return 0, s.err
	}
	return s.written.Write(p)
}

// D1, C2: while one line is written, others are collected and written together; who writes to a stream that nobody
// reads waits in the end.
func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{take: make(chan struct{})}
		o := newOutput(s)
		go o.write([]byte("first\n"))
		synctest.Wait()
		for range 3 {
			if err := o.write([]byte("more\n")); err != nil {
				t.Fatal(err)
			}
		}
		s.take <- struct{}{}
		s.take <- struct{}{}
		o.flush()
		if got := s.written.String(); got != "first\nmore\nmore\nmore\n" || s.writes != 2 {
			t.Errorf("%d writes: %q", s.writes, got)
		}
		waiting := true
		go func() {
			line := bytes.Repeat([]byte("x"), maxQueued/2)
			for range 5 {
				o.write(line)
			}
			waiting = false
		}()
		synctest.Wait()
		go func() {
			for range 4 {
				o.write(bytes.Repeat([]byte("y"), maxQueued/2))
			}
		}()
		synctest.Wait()
		if !waiting || len(o.queue) > 2*maxQueued {
			t.Errorf("waits: %v, with %d bytes in the queue", waiting, len(o.queue))
		}
		s.err = errors.New("closed")
		close(s.take)
		synctest.Wait()
		if err := o.write([]byte("x")); err == nil {
			t.Error("a stream that has failed is written to")
		}
	})
}

// echo answers calls of tool "here" with their arguments, and has the SDK answer those whose arguments are "ask".
type echo struct {
	begun, left atomic.Int64
	refuse      error
}

func (e *echo) Accepts(m *rpc.Message) bool { return m.Call.Plain && m.Call.Name == "here" }
func (e *echo) Leave()                      { e.left.Add(1) }

func (e *echo) Enter() error {
	if e.refuse == nil {
		e.begun.Add(1)
	}
	return e.refuse
}

func (e *echo) Answer(ctx context.Context, m *rpc.Message, buf []byte) ([]byte, *mcp.RequestExtra) {
	switch m.Call.Arguments {
	case `"ask"`:
		return buf, &mcp.RequestExtra{}
	case `"wait"`:
		<-ctx.Done()
	}
	return append(append(append(append(buf, `{"id":`...), m.ID...), `,"result":`...), m.Call.Arguments+"}"...), nil
}

// open begins a connection in a bubble, and ends it.
func open(t *testing.T, calls Calls, use func(t *testing.T, in io.Writer, out *slow, conn mcp.Connection)) {
	synctest.Test(t, func(t *testing.T) {
		in, send := io.Pipe()
		out := &slow{take: make(chan struct{})}
		close(out.take)
		c := New(t.Context(), in, out, calls, Options{MaxLineBytes: 1000, DrainTimeout: time.Second})
		conn, err := c.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		use(t, send, out, conn)
		send.Close()
		if _, err := conn.Read(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("the end: %v", err)
		}
		c.Finish()
	})
}

func hereCall(id, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call",` +
		`"params":{"name":"here","arguments":` + arguments + "}}\n"
}

// D1: what is accepted is answered here; everything else goes to the SDK, in order, and so do calls whose client is
// to ask a person.
func TestConnection(t *testing.T) {
	open(t, &echo{}, func(t *testing.T, in io.Writer, out *slow, conn mcp.Connection) {
		go io.WriteString(in, hereCall("1", `"x"`)+`{"jsonrpc":"2.0","method":"a"}`+"\n"+
			`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"+`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`+"\n"+
			`{"jsonrpc":"2.0","id":"s","method":"b","params":{"x":1}}`+"\n"+hereCall("2", `"ask"`))
		for _, want := range []string{"a", "", "b", "tools/call"} {
			message, err := conn.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			request, ok := message.(*jsonrpc.Request)
			if ok != (want != "") || ok && request.Method != want {
				t.Errorf("%+v, want %q", message, want)
			}
			if ok && request.ID.IsValid() {
				if err := conn.Write(t.Context(), &jsonrpc.Response{ID: request.ID, Result: []byte(`{}`)}); err != nil {
					t.Error(err)
				}
			}
			if ok && want == "tools/call" && request.Extra == nil {
				t.Error("what Answer returned is lost")
			}
		}
		synctest.Wait()
		for _, want := range []string{`{"id":1,"result":"x"}`, `"id":"s"`, `"id":2`} {
			if !strings.Contains(out.written.String(), want) {
				t.Errorf("%s lacks %s", out.written.String(), want)
			}
		}
	})
}

// The end of the input waits for calls, but not for ever.
func TestConnectionDrains(t *testing.T) {
	open(t, &echo{}, func(t *testing.T, in io.Writer, out *slow, _ mcp.Connection) {
		io.WriteString(in, hereCall("1", `"x"`)+hereCall("2", `"wait"`))
	})
}

// A call that is refused takes no place.
func TestConnectionRefuses(t *testing.T) {
	e := &echo{refuse: &jsonrpc.Error{Code: rpc.Busy, Message: "busy"}}
	open(t, e, func(t *testing.T, in io.Writer, out *slow, _ mcp.Connection) {
		io.WriteString(in, hereCall("1", `"x"`)+hereCall("1", `"x"`))
		synctest.Wait()
		if got := out.written.String(); strings.Count(got, `"code":-32000,"message":"busy"`) != 2 || e.left.Load() != 0 {
			t.Errorf("%s, left %d", got, e.left.Load())
		}
	})
}

// sdk reads the next request for the SDK.
func sdk(t *testing.T, conn mcp.Connection) *jsonrpc.Request {
	t.Helper()
	message, err := conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return message.(*jsonrpc.Request)
}

const listen = `"method":"subscriptions/listen","params":{}}` + "\n"

// A subscription takes an id as every request does, and its response frees no id but its own.
func TestSubscriptionsHaveIDs(t *testing.T) {
	open(t, &echo{}, func(t *testing.T, in io.Writer, out *slow, conn mcp.Connection) {
		io.WriteString(in, hereCall("7", `"wait"`)+`{"jsonrpc":"2.0","id":7,`+listen+hereCall("7", `"x"`))
		synctest.Wait()
		id, _ := jsonrpc.MakeID(7.0)
		if err := conn.Write(t.Context(), &jsonrpc.Response{ID: id, Result: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(in, hereCall("7", `"y"`))
		synctest.Wait()
		got := out.written.String()
		if strings.Count(got, `"code":-32600`) != 3 || strings.Contains(got, `"id":7,"result":"`) {
			t.Errorf("%s", got)
		}

		io.WriteString(in, `{"jsonrpc":"2.0","id":8,`+listen)
		subscription := sdk(t, conn)
		io.WriteString(in, hereCall("8", `"x"`))
		synctest.Wait()
		if got := out.written.String(); strings.Count(got, `"code":-32600`) != 4 {
			t.Errorf("%s", got)
		}
		if err := conn.Write(t.Context(), &jsonrpc.Response{ID: subscription.ID, Result: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(in, hereCall("8", `"free"`))
		synctest.Wait()
		if got := out.written.String(); !strings.Contains(got, `{"id":8,"result":"free"}`) {
			t.Errorf("%s", got)
		}
	})
}

// The end of the input waits for the responses of calls, and for no subscription.
func TestEndOfInputWaitsForCalls(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       time.Duration
	}{
		{"a call", hereCall("1", `"wait"`), time.Second},
		{"a subscription", `{"jsonrpc":"2.0","id":2,` + listen, 0},
		{"both", hereCall("1", `"wait"`) + `{"jsonrpc":"2.0","id":2,` + listen, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			open(t, &echo{}, func(t *testing.T, in io.Writer, _ *slow, conn mcp.Connection) {
				go io.WriteString(in, tt.line)
				synctest.Wait()
				if strings.Contains(tt.line, "subscriptions") {
					sdk(t, conn)
				}
				id, _ := jsonrpc.MakeID(1.0) // the call ends with its own response, not with one of the SDK
				if err := conn.Write(t.Context(), &jsonrpc.Response{ID: id, Result: []byte(`{}`)}); err != nil {
					t.Fatal(err)
				}
				closed := time.Now()
				in.(io.Closer).Close()
				if _, err := conn.Read(t.Context()); !errors.Is(err, io.EOF) {
					t.Errorf("the end: %v", err)
				}
				if got := time.Since(closed); got != tt.want {
					t.Errorf("it waits for %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// No call begins after the end of the connection, or of its context.
func TestNothingBeginsAfterTheEnd(t *testing.T) {
	for _, end := range []string{"closed", "finished", "context"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, send := io.Pipe()
				out := &slow{take: make(chan struct{})}
				close(out.take)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				e := &echo{}
				c := New(ctx, in, out, e, Options{MaxLineBytes: 1000, DrainTimeout: time.Second})
				if _, err := c.Connect(ctx); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				switch end {
				case "closed":
					c.Close()
				case "finished":
					c.Finish()
				case "context":
					cancel()
				}
				io.WriteString(send, hereCall("1", `"x"`))
				synctest.Wait()
				if got := out.written.String(); got != "" || e.left.Load() != 0 {
					t.Errorf("a call runs: %s", got)
				}
				if err := c.track("2", request{}); end == "finished" && !errors.Is(err, io.EOF) {
					t.Errorf("a request begins: %v", err)
				}
				send.Close()
				c.Finish()
			})
		})
	}
}

// A call that the SDK is to go on with when that has ended is forgotten: nobody waits for its response.
func TestHandedOverTooLate(t *testing.T) {
	var c Conn
	if err := c.track("1", request{cancel: func() {}}); err != nil {
		t.Fatal(err)
	}
	c.open.add(-c.requests.forget())
	if c.requests.hand("1") || len(c.requests.running) != 0 {
		t.Errorf("the SDK has %v", c.requests.running)
	}
}

// C2: a client that does not read holds nobody who writes longer than the time to drain.
func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, send := io.Pipe()
		out := &slow{take: make(chan struct{})} // nobody takes
		c := New(t.Context(), in, out, &echo{}, Options{MaxLineBytes: 1000, DrainTimeout: time.Second})
		if _, err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		io.WriteString(send, hereCall("1", `"x"`)+hereCall("2", `"wait"`))
		synctest.Wait()
		id, _ := jsonrpc.MakeID(3.0)
		response := &jsonrpc.Response{ID: id, Result: []byte(`"` + strings.Repeat("x", maxQueued) + `"`)}
		if err := c.Write(t.Context(), response); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() { failed <- c.Write(t.Context(), response) }()
		send.Close()
		start := time.Now()
		<-c.ended
		c.Finish()
		if err := <-failed; !errors.Is(err, errNotRead) {
			t.Errorf("the SDK's write: %v", err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the end takes %s", took)
		}
		close(out.take)
	})
}

// C2: a client that does not read keeps no places of calls, and no more of its requests begin.
func TestPlacesOfClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, send := io.Pipe()
		out := &slow{take: make(chan struct{})} // nobody takes
		e := &echo{}
		c := New(t.Context(), in, out, e, Options{MaxLineBytes: maxQueued, DrainTimeout: time.Second})
		if _, err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		const calls = 20
		go func() {
			for i := range calls {
				io.WriteString(send, hereCall(strconv.Itoa(i), `"`+strings.Repeat("x", maxQueued/4)+`"`))
			}
		}()
		synctest.Wait()
		if begun := int(e.begun.Load()); begun == 0 || begun == calls || int(e.left.Load()) != begun {
			t.Errorf("%d calls begun, and %d places given back", begun, e.left.Load())
		}
		close(out.take)
		send.Close()
		c.Finish()
	})
}

// What a cancellation does not define does not matter, however much its name looks like one that it does.
func TestCancelIgnoresOtherMembers(t *testing.T) {
	for params, want := range map[string]bool{
		`{"requestId":7,"Reason":5}`: true, `{"requestId":7,"reason":5}`: false, `{"requestId":8}`: false,
	} {
		var q Requests
		cancelled := false
		q.Begin("7", func() { cancelled = true })
		var m rpc.Message
		text := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + params + `}`
		if fault := new(rpc.Parser).Parse([]byte(text), &m); fault != nil {
			t.Fatal(fault.Message)
		}
		if q.Cancel(&m); cancelled != want {
			t.Errorf("%s: cancelled %v", params, cancelled)
		}
	}
}

// No text of the connection has the form of a place in a file.
func TestTextsLeakNothing(t *testing.T) {
	if leak := regexp.MustCompile(`\w*at \w`).FindString(inUse.Message); leak != "" {
		t.Errorf("%q: %q", inUse.Message, leak)
	}
}
