package toolhook

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

const (
	// mostBytes bounds the message of a client. What is longer is refused: nobody could judge it.
	mostBytes = 1 << 20
	// mostLevels bounds how deep it is nested.
	mostLevels = 64
	// longestName bounds the name of a tool, in bytes.
	longestName = 256
)

// events are those before a tool use: of Claude Code and Codex, and of Gemini CLI.
var events = []string{"PreToolUse", "BeforeTool"}

// use is a use of a tool that a client asks about.
type use struct {
	tool      string
	input     any    // nil, bool, float64, json.Number, string, []any or map[string]any
	canonical []byte // of the input
	id        string // of the tool use, the same if the client asks once more; empty: it has none
}

var errTooLong = fmt.Errorf("its message is longer than %d bytes, which nobody can judge; do it in smaller parts",
	mostBytes)

// read reads the message of a client. It reads on where that is too long, so that the client can write all of it.
func read(from io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(from, mostBytes+1))
	switch {
	case err != nil:
		return "", errors.New("its message cannot be read")
	case len(text) > mostBytes:
		_, _ = io.Copy(io.Discard, from)
		return "", errTooLong
	}
	return string(text), nil
}

// parse parses the message of a client. What different parsers would read differently is refused: names that stand
// twice, halves of surrogate pairs, NUL, and bytes that are no UTF-8.
func parse(text string) (*use, error) {
	r := wire.NewReader(text, wire.Limits{MaxDepth: mostLevels})
	message, err := members(r)
	if err != nil {
		return nil, err
	}
	u := new(use)
	event, isText := message["hook_event_name"].(string)
	if !isText || !slices.Contains(events, event) {
		return nil, fmt.Errorf("hook_event_name is none of %q: the hook is for the event before a tool use", events)
	}
	if u.tool, isText = message["tool_name"].(string); !isText || u.tool == "" || len(u.tool) > longestName {
		return nil, errors.New("tool_name is not the name of a tool")
	}
	if id, given := message["tool_use_id"]; given && id != nil {
		if u.id, isText = id.(string); !isText || len(u.id) > longestName {
			return nil, errors.New("tool_use_id is not an identifier")
		}
	}
	var given bool
	if u.input, given = message["tool_input"]; !given {
		return nil, errors.New("tool_input is missing")
	}
	u.canonical, err = canonical(text)
	return u, err
}

// members reads an object that is all of a text.
func members(r *wire.Reader) (map[string]any, error) {
	isObject := r.Kind() == "object"
	value, ok := r.Any()
	r.End()
	if fault := r.Fault(); fault != nil {
		return nil, fmt.Errorf("its message is not acceptable JSON: %w", fault)
	}
	object, _ := value.(map[string]any)
	if !ok || !isObject {
		return nil, errors.New("its message is no JSON object, or has a number that is too large")
	}
	return object, nil
}

// canonical returns the canonical form of the input of the tool in a message that was read before.
func canonical(text string) ([]byte, error) {
	r := wire.NewReader(text, wire.Limits{MaxDepth: mostLevels})
	if r.Object() {
		for r.Next() {
			if r.Name() == "tool_input" {
				return wire.Canonical(nil, r.Raw()), nil
			}
			r.Skip()
		}
	}
	return nil, errors.New("tool_input is missing")
}
