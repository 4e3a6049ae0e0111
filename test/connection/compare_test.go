package connection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// random is what differs from run to run: identifiers, confirmation tokens and sealed states.
// The text about an id in use has the id, which the SDK writes in its own way.
var random = regexp.MustCompile(`(conf|req|sess)_[A-Za-z0-9_-]+|"requestState":"[^"]*"|in-flight request ID [^}]*`)

// randomPrefixes are what one of must be in a text for random to match.
var randomPrefixes = []string{"conf_", "req_", "sess_", `"requestState"`, "in-flight"}

// canonical returns a message with the members of objects in order, and without what is random. What is no JSON object
// is returned as it is, with a mark.
func canonical(message []byte) string {
	if !utf8.Valid(message) {
		return fmt.Sprintf("not UTF-8: %q", message)
	}
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return fmt.Sprintf("not JSON: %q", message)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Sprintf("more than one JSON value: %q", message)
	}
	round(value)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%v: %q", err, message)
	}
	text := strings.Replace(strings.TrimSpace(out.String()), `"id":-0,`, `"id":0,`, 1)
	if !slices.ContainsFunc(randomPrefixes, func(p string) bool { return strings.Contains(text, p) }) {
		return text
	}
	return random.ReplaceAllString(text, "#")
}

// round writes the numbers that are progress tokens as the SDK does, which holds them as float64. Ours come back as
// they were spelled.
func round(value any) {
	switch value := value.(type) {
	case map[string]any:
		if number, ok := value["progressToken"].(json.Number); ok {
			if f, err := number.Float64(); err == nil {
				value["progressToken"] = f
			}
		}
		for _, member := range value {
			round(member)
		}
	case []any:
		for _, element := range value {
			round(element)
		}
	}
}

// messages returns the canonical messages of lines, and those of them that ask the client, by id.
func messages(text string) (all, questions []string) {
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			all = append(all, fmt.Sprintf("a line without end: %q", line))
			continue
		}
		m, id := anonymous(canonical([]byte(line)))
		all = append(all, m)
		if id != "" {
			questions = append(questions, id)
		}
	}
	return all, questions
}

// anonymous returns a question of a server without its id, and the id. Questions that are asked at once have theirs in
// any order. It returns other messages as they are.
func anonymous(message string) (_, id string) {
	id, ok := question(message)
	if !ok {
		return message, ""
	}
	return strings.Replace(message, `"id":`+id, `"id":"#"`, 1), id
}

// question returns the id of a request that a server sends to its client.
func question(message string) (id string, ok bool) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal([]byte(message), &m) != nil || m.Method == "" || len(m.ID) == 0 {
		return "", false
	}
	return string(m.ID), true
}

// rpcError is an answer with an error.
type rpcError struct {
	ID    json.RawMessage
	Error *struct{ Code int }
}

// refusal is the canonical form of an answer that only refuses a message: its code. The id of the message may be in it
// or not.
func refusal(message string) (string, bool) {
	var m rpcError
	if json.Unmarshal([]byte(message), &m) != nil || m.Error == nil {
		return "", false
	}
	return refused(m.Error.Code), true
}

func refused(code int) string { return fmt.Sprintf("refused with %d", code) }

// minus returns the messages of got that want does not have, and those of want that got does not have. A wanted
// refusal is any answer with its code.
func minus(got, want []string) (more, missing []string) {
	missing = slices.Clone(want)
	for _, m := range got {
		if i := slices.Index(missing, m); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
			continue
		}
		more = append(more, m)
	}
	rest := more
	more = nil
	for _, m := range rest {
		if r, ok := refusal(m); ok {
			if i := slices.Index(missing, r); i >= 0 {
				missing = slices.Delete(missing, i, i+1)
				continue
			}
		}
		more = append(more, m)
	}
	return more, missing
}
