package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// firstID is the id of the first call. All ids have as many digits, so that an id is written over the one before.
const firstID = 1_000_000_000

// calls are the bytes of calls that differ in their id only.
type calls struct {
	text   []byte
	at     int // of the id
	next   int64
	length int // of an answer; 0: none has come
}

// newCalls returns the calls of a tool. before and after are what is before and after the JSON of the request.
func newCalls(before, message, after string) *calls {
	text := before + message + after
	return &calls{text: []byte(text), at: strings.Index(text, strconv.Itoa(firstID)), next: firstID}
}

// following returns the bytes of the next call, until following is called again.
func (c *calls) following() ([]byte, int64) {
	id := c.next
	c.next++
	strconv.AppendInt(c.text[c.at:c.at], id, 10)
	return c.text, id
}

// check returns the id of an answer. All answers have as many bytes.
func (c *calls) check(answer []byte) (int64, error) {
	if c.length == 0 {
		if bytes.Contains(answer, []byte(`"error"`)) || bytes.Contains(answer, []byte(`"isError":true`)) ||
			!bytes.Contains(answer, []byte(`success`)) {
			return 0, fmt.Errorf("the server answered %s", answer)
		}
		c.length = len(answer)
	}
	i := bytes.Index(answer, []byte(`"id":`))
	if len(answer) != c.length || i < 0 || i+15 > len(answer) {
		return 0, fmt.Errorf("the server answered %s", answer)
	}
	return strconv.ParseInt(string(answer[i+5:i+15]), 10, 64)
}

// client has a session with a server.
type client interface {
	// call makes calls for a time, so many of them at once, and returns how many were answered. latencies get the time of
	// each call if they are made one after the other.
	call(outstanding int, duration time.Duration, latencies *[]time.Duration) (answered int, err error)
}

// stdioClient calls over pipes.
type stdioClient struct {
	in    io.Writer
	out   *bufio.Reader
	calls *calls
}

func (c *stdioClient) call(outstanding int, duration time.Duration, latencies *[]time.Duration) (int, error) {
	pending := make(map[int64]struct{}, outstanding)
	send := func() error {
		text, id := c.calls.following()
		pending[id] = struct{}{}
		_, err := c.in.Write(text)
		return err
	}
	start := time.Now()
	for range outstanding {
		if err := send(); err != nil {
			return 0, err
		}
	}
	answered, sent := 0, start
	for len(pending) > 0 {
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			return answered, fmt.Errorf("reading an answer: %w", err)
		}
		id, err := c.calls.check(line)
		if err != nil {
			return answered, err
		}
		if _, waits := pending[id]; !waits {
			return answered, fmt.Errorf("an answer to no call: %s", line)
		}
		delete(pending, id)
		answered++
		now := time.Now()
		if outstanding == 1 && latencies != nil {
			*latencies = append(*latencies, now.Sub(sent))
		}
		if now.Sub(start) < duration {
			sent = now
			if err := send(); err != nil {
				return answered, err
			}
		}
	}
	return answered, nil
}

// httpClient calls over connections that are kept open, one for each call at the same time.
type httpClient struct {
	address     string
	calls       func() *calls
	connections []*httpConnection
}

type httpConnection struct {
	net.Conn
	in    *bufio.Reader
	calls *calls
	body  []byte
}

func (c *httpClient) call(outstanding int, duration time.Duration, latencies *[]time.Duration) (int, error) {
	for len(c.connections) < outstanding {
		conn, err := dial(c.address)
		if err != nil {
			return 0, err
		}
		conn.calls = c.calls()
		conn.calls.next += int64(len(c.connections)) * 10_000_000 // no two connections use an id at the same time
		c.connections = append(c.connections, conn)
	}
	var wg sync.WaitGroup
	answered, errs := make([]int, outstanding), make([]error, outstanding)
	end := time.Now().Add(duration)
	for i, conn := range c.connections[:outstanding] {
		wg.Go(func() {
			// Each makes one call at least, also where it comes to run when the time is over.
			for sent := time.Now(); errs[i] == nil && (answered[i] == 0 || sent.Before(end)); answered[i]++ {
				text, _ := conn.calls.following()
				if errs[i] = conn.exchange(text); errs[i] == nil {
					_, errs[i] = conn.calls.check(conn.body)
				}
				now := time.Now()
				if outstanding == 1 && latencies != nil {
					*latencies = append(*latencies, now.Sub(sent))
				}
				sent = now
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range answered {
		total += n
	}
	return total, errors.Join(errs...)
}

func (c *httpClient) close() (err error) {
	for _, conn := range c.connections {
		err = errors.Join(err, conn.Close())
	}
	return err
}

func dial(address string) (*httpConnection, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &httpConnection{Conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// exchange sends a request and reads the body of its answer.
func (c *httpConnection) exchange(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	_, err := c.answer()
	return err
}

// answer reads an answer. It returns the session that the server has begun; "": it has not.
func (c *httpConnection) answer() (session string, err error) {
	status, err := c.in.ReadSlice('\n')
	if err != nil {
		return "", fmt.Errorf("reading an answer: %w", err)
	}
	failed := ""
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 20")) {
		failed = string(status)
	}
	length, chunked := 0, false
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return "", fmt.Errorf("reading a header: %w", err)
		}
		name, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(": "))
		switch {
		case len(name) == 0:
			c.body = c.body[:0]
			if err := c.read(length, chunked); err != nil {
				return "", err
			}
			if failed != "" {
				return "", fmt.Errorf("the server answered %s%s", failed, c.body)
			}
			return session, nil
		case isHeader(name, "Content-Length"):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return "", err
			}
		case isHeader(name, "Transfer-Encoding"):
			chunked = true
		case isHeader(name, "Mcp-Session-Id"):
			session = string(value)
		}
	}
}

func isHeader(name []byte, header string) bool {
	return len(name) == len(header) && strings.EqualFold(string(name), header)
}

// read reads a body.
func (c *httpConnection) read(length int, chunked bool) error {
	if !chunked {
		return c.part(length)
	}
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 31)
		if err != nil {
			return err
		}
		if err := c.part(int(size)); err != nil {
			return err
		}
		if _, err := c.in.Discard(len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}

// part reads the next bytes of a body.
func (c *httpConnection) part(length int) error {
	before := len(c.body)
	c.body = append(c.body, make([]byte, length)...)
	_, err := io.ReadFull(c.in, c.body[before:])
	return err
}
