package doors

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// pace is how often each hostile connection does something.
const pace = 3 * time.Second

// size is that of large bodies: about what a server accepts.
const size = 1 << 20

// attack attacks a server from so many connections, each in the worst way that it knows, until the test ends. It says
// when all have begun, or have had the time for it.
func attack(address, connections string) {
	go exitWithParent()
	target, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	n, err := strconv.Atoi(connections)
	if err != nil {
		panic(err)
	}
	var begun sync.WaitGroup
	begun.Add(n)
	for i := range n {
		go func() {
			kind := kinds[i%len(kinds)]
			var once sync.Once
			for {
				client := &hostile{host: target.Host}
				client.connect()
				client.attack(kind, func() { once.Do(begun.Done) })
				once.Do(begun.Done)
				client.close()
				time.Sleep(pace / 10)
			}
		}()
		time.Sleep(time.Millisecond / 2)
	}
	all := make(chan struct{})
	go func() {
		begun.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-time.After(10 * pace): // a server that does not answer keeps some from beginning
	}
	fmt.Fprintln(os.Stderr, "ready")
	select {}
}

// kinds are the ways of an attack.
var kinds = []string{
	"a slow body", "unread answers", "huge batches", "idle sessions", "unread progress", "nothing", "large bodies",
}

// hostile is a client on one connection.
type hostile struct {
	host    string
	conn    net.Conn
	reader  *bufio.Reader
	session string
	failed  bool
}

func (h *hostile) connect() {
	for {
		conn, err := net.Dial("tcp", h.host)
		if err == nil {
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			h.conn, h.reader = conn, bufio.NewReaderSize(conn, 512)
			return
		}
		time.Sleep(pace)
	}
}

func (h *hostile) close() { h.conn.Close() }

// send sends a request, or a part of it.
func (h *hostile) send(version string, length int, body string) {
	head := "POST /mcp HTTP/1.1\r\nHost: " + h.host + "\r\nAuthorization: Bearer hostile\r\n" +
		"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Mcp-Protocol-Version: " + version + "\r\n"
	if h.session != "" {
		head += "Mcp-Session-Id: " + h.session + "\r\n"
	}
	_, err := io.WriteString(h.conn, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, length, body))
	h.failed = h.failed || err != nil
}

// receive reads a response.
func (h *hostile) receive() {
	response, err := http.ReadResponse(h.reader, nil)
	if err != nil {
		h.failed = true
		return
	}
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		h.session = id
	}
	_, err = io.Copy(io.Discard, response.Body)
	h.failed = h.failed || err != nil || response.Close
	response.Body.Close()
}

// begin begins a session.
func (h *hostile) begin(version string) {
	h.session = ""
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `",` +
		`"capabilities":{},"clientInfo":{"name":"hostile","version":"1"}}}`
	h.send(version, len(body), body)
	h.receive()
}

// callOf is a call of an operation, with as many blanks before it as make it so long.
func callOf(id int, operation, meta string, length int) string {
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":`+
		`{"operation":%q,"params":{"id":"x"}}%s}}`, id, operation, meta)
	return strings.Repeat(" ", max(0, length-len(message))) + message
}

// attack attacks until the server ends the connection.
func (h *hostile) attack(kind string, began func()) {
	ended := make(chan struct{})
	unread := func() { // notices the end without reading
		defer close(ended)
		var one [1]byte
		for {
			if _, err := h.conn.Write(one[:0]); err != nil {
				return
			}
			time.Sleep(pace)
		}
	}
	version := "2025-06-18"
	if kind == "huge batches" {
		version = "2025-03-26"
	}
	if kind != "nothing" {
		h.begin(version)
	}
	for i := 2; !h.failed; i++ {
		switch kind {
		case "a slow body":
			h.send(version, size, callOf(i, "get_thing", "", size)[:size-1])
			began()
			h.receive()
		case "unread answers", "unread progress":
			operation, meta := "list_thing", ""
			if kind == "unread progress" {
				operation, meta = "report_thing", fmt.Sprintf(`,"_meta":{"progressToken":%d}`, i)
			}
			body := callOf(i, operation, meta, 0)
			h.send(version, len(body), body)
			began()
			if i > 20 { // the server takes no more, or has ended the connection
				go unread()
				select {
				case <-ended:
				case <-time.After(20 * pace):
				}
				return
			}
		case "huge batches":
			body := "[" + strings.Repeat(`{"jsonrpc":"2.0","id":7,"method":"ping"},`, size/42)
			h.send(version, len(body)+1, body[:len(body)-1]+"]")
			began()
			h.receive()
		case "idle sessions":
			h.begin(version)
			began()
		case "large bodies":
			body := callOf(i, "get_thing", "", size)
			h.send(version, len(body), body)
			began()
			h.receive()
		default:
			_, err := io.WriteString(h.conn, "POST /mcp HTTP/1.1\r\nHost: "+strings.Repeat("x", i))
			h.failed = err != nil
			began()
			_, err = h.reader.Peek(1) // until the server ends the connection
			h.failed = h.failed || err != nil
		}
		time.Sleep(pace)
	}
}
