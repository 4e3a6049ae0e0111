package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTimeout bounds how long calls may run after the end of the input.
const drainTimeout = 5 * time.Second

// RunStdio serves one client over a pair of streams, such as standard input and output, until the input or ctx ends.
// Requests from before the end of the input are answered if their calls end within 5 seconds. Nothing but MCP is
// written to out. A line that is not a JSON-RPC message is answered with an error, and the session goes on; the SDK
// would end it.
func (s *Server) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	if s.err != nil {
		return s.err
	}
	writer := &lockedWriter{out: out}
	pipeReader, pipeWriter := io.Pipe()
	requests := &requestCounter{next: pipeWriter}
	go func() {
		err := filterLines(in, requests, writer, s.options.MaxLineBytes)
		end := time.Now().Add(drainTimeout)
		for writer.responses.Load() < requests.count && time.Now().Before(end) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		pipeWriter.CloseWithError(err)
	}()
	transport := &mcp.IOTransport{Reader: pipeReader, Writer: writer, MaxLineLength: s.options.MaxLineBytes + 1024}
	err := s.mcp.Run(ctx, transport)
	pipeReader.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// requestCounter passes lines on and counts those that are requests.
type requestCounter struct {
	next  io.Writer
	count int64
}

func (c *requestCounter) Write(line []byte) (int, error) {
	var message map[string]json.RawMessage
	if json.Unmarshal(line, &message) == nil && present(message["method"]) != nil && present(message["id"]) != nil {
		c.count++
	}
	return c.next.Write(line)
}

// lockedWriter writes the lines of several writers one after the other, and counts responses. Close leaves the stream
// open: it belongs to the process.
type lockedWriter struct {
	mu        sync.Mutex
	out       io.Writer
	responses atomic.Int64
}

// isResponse reports whether a line of the SDK is a response. One with an id and a method is a request to the client,
// such as an elicitation.
func isResponse(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok || len(rest) == 0 {
		return false
	}
	end := bytes.IndexByte(rest, ',')
	if rest[0] == '"' {
		for end = 1; end < len(rest) && rest[end] != '"'; end++ {
			if rest[end] == '\\' {
				end++
			}
		}
		end++
	}
	return end >= 0 && end <= len(rest) && !bytes.HasPrefix(rest[end:], []byte(`,"method":`))
}

func (w *lockedWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(line)
	if isResponse(line) {
		w.responses.Add(1)
	}
	return n, err
}

func (w *lockedWriter) Close() error { return nil }

// JSON-RPC's own error codes.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// filterLines writes the lines of in that are JSON-RPC messages to messages, and writes errors to responses for the
// others.
func filterLines(in io.Reader, messages, responses io.Writer, longest int) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(lines, longest)
		if fault := checkLine(line, tooLong, longest); fault != nil {
			if _, err := responses.Write(fault); err != nil {
				return err
			}
		} else if len(bytes.TrimSpace(line)) > 0 {
			if _, err := messages.Write(append(bytes.TrimRight(line, "\r\n"), '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line. It returns what fits into longest bytes, and whether the line is longer.
func readLine(lines *bufio.Reader, longest int) (line []byte, tooLong bool, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		if len(line)+len(part) > longest {
			tooLong = true
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// deepest is the nesting at which the SDK refuses a message.
const deepest = 1000

// checkLine returns the error response to a line that is not a message; nil: it is one, or is blank.
func checkLine(line []byte, tooLong bool, longest int) []byte {
	if tooLong {
		return rpcError(invalidRequest, nil, fmt.Sprintf("the message is longer than %d bytes", longest))
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if !json.Valid(line) {
		return rpcError(parseError, nil, "the line is not one JSON value")
	}
	if line[0] != '{' {
		return rpcError(invalidRequest, nil, "the message is not a JSON object")
	}
	if depth(line) >= deepest {
		return rpcError(invalidRequest, nil, fmt.Sprintf("the message is nested deeper than %d levels", deepest))
	}
	var message map[string]json.RawMessage // not a struct, whose fields would match names of any case
	if err := json.Unmarshal(line, &message); err != nil {
		return rpcError(invalidRequest, nil, "the message is not a JSON-RPC message")
	}
	id, params := message["id"], message["params"]
	if !validID(id) {
		return rpcError(invalidRequest, nil, "the id is neither a string nor an integer")
	}
	method := present(message["method"])
	named := len(method) > 0 && method[0] == '"'
	switch {
	case !isVersion2(message["jsonrpc"]):
		return rpcError(invalidRequest, id, "member 'jsonrpc' is not '2.0'")
	case method != nil && !named, method == nil && present(message["result"]) == nil && present(message["error"]) == nil:
		return rpcError(invalidRequest, id, "member 'method' is not a string")
	case named && len(params) > 0 && params[0] != '{' && params[0] != '[' && string(params) != "null":
		return rpcError(invalidRequest, id, "member 'params' is not an object")
	}
	return nil
}

// present returns a member; nil: it is missing or null.
func present(member json.RawMessage) json.RawMessage {
	if string(member) == "null" {
		return nil
	}
	return member
}

// isVersion2 reports whether a member is the string "2.0", with or without escapes.
func isVersion2(member json.RawMessage) bool {
	var version string
	return json.Unmarshal(member, &version) == nil && version == "2.0"
}

func validID(id json.RawMessage) bool {
	if len(id) == 0 || id[0] == '"' {
		return true
	}
	for i, c := range id {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return string(id) == "null"
		}
	}
	return len(id) <= 19
}

// depth returns the nesting of valid JSON.
func depth(text []byte) int {
	level, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

func rpcError(code int, id json.RawMessage, message string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	// The id is the last member, so that lockedWriter does not count these responses: their lines are not counted as
	// requests.
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","error":{"code":%d,"message":%q},"id":%s}`+"\n", code, message, id)
}
