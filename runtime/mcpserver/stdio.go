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

// drainTimeout bounds how long calls may go on after the input has ended.
const drainTimeout = 5 * time.Second

// RunStdio serves one client over a pair of streams, such as standard input and output, until the input ends or ctx
// does. What was asked before the input ended is still answered, for a while. Nothing but MCP is written to out. A line that is no JSON-RPC message is answered with an error and the session
// goes on; the SDK alone would end it.
func (s *Server) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	writer := &lockedWriter{out: out}
	pipeReader, pipeWriter := io.Pipe()
	asked := &requestCounter{pass: pipeWriter}
	go func() {
		err := filterLines(in, asked, writer, s.options.MaxLineBytes)
		for end := time.Now().Add(drainTimeout); writer.answers.Load() < asked.requests && time.Now().Before(end) && ctx.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
		pipeWriter.CloseWithError(err)
	}()
	err := s.mcp.Run(ctx, &mcp.IOTransport{Reader: pipeReader, Writer: writer, MaxLineLength: s.options.MaxLineBytes + 1024})
	pipeReader.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// requestCounter passes lines on and counts those that expect an answer.
type requestCounter struct {
	pass     io.Writer
	requests int64
}

func (c *requestCounter) Write(line []byte) (int, error) {
	var message map[string]json.RawMessage
	if json.Unmarshal(line, &message) == nil && present(message["method"]) != nil && present(message["id"]) != nil {
		c.requests++
	}
	return c.pass.Write(line)
}

// lockedWriter keeps the lines of two writers whole and counts answers. Closing it leaves the stream open: it is the
// process's.
type lockedWriter struct {
	mu      sync.Mutex
	out     io.Writer
	answers atomic.Int64
}

// answerStart is how the SDK spells the beginning of an answer. Nothing else it writes here has an id.
var answerStart = []byte(`{"jsonrpc":"2.0","id":`)

func (w *lockedWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(line)
	if bytes.HasPrefix(line, answerStart) {
		w.answers.Add(1)
	}
	return n, err
}

func (w *lockedWriter) Close() error { return nil }

// JSON-RPC's own error codes.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// filterLines passes on the lines of in that are JSON-RPC messages and answers the others.
func filterLines(in io.Reader, pass, answers io.Writer, longest int) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(lines, longest)
		if fault := checkLine(line, tooLong, longest); fault != nil {
			if _, err := answers.Write(fault); err != nil {
				return err
			}
		} else if len(bytes.TrimSpace(line)) > 0 {
			if _, err := pass.Write(append(bytes.TrimRight(line, "\r\n"), '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads to the end of a line and keeps no more than longest bytes of it.
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

// deepest is where the SDK gives up on a message.
const deepest = 1000

// checkLine returns the answer to a line that is no message, and nil for one that is, or is blank.
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
	var message map[string]json.RawMessage // and no struct, whose members would go by any case
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

// present is a member that is there and not null.
func present(member json.RawMessage) json.RawMessage {
	if string(member) == "null" {
		return nil
	}
	return member
}

// isVersion2 reports whether a member is the text 2.0, however it is spelt.
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

// depth is the nesting of valid JSON.
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
	// The id stands last, so that these answers are not counted as those of requests.
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","error":{"code":%d,"message":%q},"id":%s}`+"\n", code, message, id)
}
