package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// answer is a response as it can be read; what it lacks is zero. If neither success nor failed is set, it can be read
// neither as the one nor as the other.
type answer struct {
	wellFormed      bool // it is nothing but an object with a boolean "success"
	success, failed bool
	root            map[string]any
	data            any
	code            string // empty: the error has none
	message         string
	details         map[string]any
	deviations      []string // how it differs from the form of a response: keys of deviationTexts
}

// readAnswer reads a reply. bare says that the server has been seen to answer without the envelope of a response, so
// that an object without "success" is the result itself.
func readAnswer(reply Reply, bare bool) answer {
	var a answer
	value, err := parse(reply.Text)
	if err != nil {
		if value = embedded(reply.Text); value != nil {
			a.deviate(proseAround)
		}
	}
	a.root, _ = value.(map[string]any)
	a.success, a.wellFormed = a.root["success"].(bool)
	switch {
	case a.wellFormed:
		a.failed = !a.success
		a.wellFormed = err == nil
	case strings.HasPrefix(reply.Fault, jsonRPCError):
		a.failed, a.message = true, reply.Fault
		a.deviate(protocolError)
		return a
	case a.root == nil && reply.IsError:
		a.failed, a.message = true, reply.Text
		a.deviate(textError)
		return a
	case a.root == nil && value != nil && bare:
		a.success, a.data = true, value
		a.deviate(noEnvelope)
		return a
	case a.root == nil:
		return a
	case reply.IsError || a.root["error"] != nil:
		a.failed = true
		a.deviate(noSuccess)
	case bare:
		a.success, a.data = true, value
		a.deviate(noEnvelope)
		return a
	default:
		return a
	}
	a.data = a.root["data"]
	if a.success && a.findHiddenFailure() {
		return a
	}
	if a.success {
		a.unwrapContent()
	}
	if a.failed {
		a.readError(a.root)
	}
	return a
}

func (a *answer) deviate(key string) { a.deviations = append(a.deviations, key) }

// jsonRPCError begins the fault of a reply that is an error of JSON-RPC.
const jsonRPCError = "JSON-RPC error "

// readError reads the error in a failure, whether it is an object, as it must be, or a text.
func (a *answer) readError(object map[string]any) {
	switch failure := object["error"].(type) {
	case map[string]any:
		a.code = textMember(failure, "code", "errorCode", "error_code")
		a.message = textMember(failure, "message")
		a.details, _ = failure["details"].(map[string]any)
	case string:
		a.message = failure
		a.deviate(errorText)
	default:
		a.message = textMember(object, "message", "text")
	}
	if a.code == "" {
		a.code = textMember(object, "code", "errorCode", "error_code")
	}
}

// textMember returns the first of some members that is a text which is not empty.
func textMember(object map[string]any, names ...string) string {
	for _, name := range names {
		if text, _ := object[name].(string); text != "" {
			return text
		}
	}
	return ""
}

var failureText = regexp.MustCompile(`^(❌|(?i:error|failed)\b)`)

// findHiddenFailure looks for a failure inside the data of a success: a result of MCP with isError, another envelope
// with success false, an object with nothing but an error, or a text that says so.
func (a *answer) findHiddenFailure() bool {
	hidden := ""
	switch data := a.data.(type) {
	case string:
		if failureText.MatchString(data) {
			hidden = data
		}
	case map[string]any:
		failure := answer{}
		failure.readError(data)
		only := func(name string) bool {
			return slices.Contains([]string{"error", "code", "errorCode", "error_code", "message", "details"}, name)
		}
		names := slices.Collect(maps.Keys(data))
		bare := data["error"] != nil && data["error"] != false &&
			!slices.ContainsFunc(names, func(n string) bool { return !only(n) })
		if data["isError"] != true && data["success"] != false && data["ok"] != false && !bare {
			return false
		}
		a.code, a.details = failure.code, failure.details
		if hidden = failure.message; hidden == "" {
			hidden = contentText(data)
		}
		if hidden == "" {
			hidden = asJSON(data)
		}
	}
	if hidden == "" {
		return false
	}
	a.success, a.failed, a.message = false, true, hidden
	a.deviate(hiddenFailure)
	return true
}

// unwrapContent reads data that is a result of MCP itself: the JSON in its text or, if it is none, its text.
func (a *answer) unwrapContent() {
	data, _ := a.data.(map[string]any)
	text := contentText(data)
	for name := range data {
		if text == "" || !slices.Contains([]string{"content", "isError", "_meta", "structuredContent"}, name) {
			return
		}
	}
	if text == "" {
		return
	}
	a.deviate(contentInData)
	if a.data = embedded(text); a.data == nil {
		a.data = text
	}
}

// contentText returns the text in {"content":[{"type":"text","text":…}]}.
func contentText(data map[string]any) string {
	var text strings.Builder
	for _, content := range objects(data["content"]) {
		each, _ := content["text"].(string)
		text.WriteString(each)
	}
	return text.String()
}

// embedded returns the longest JSON object or list that is the text from some line or bracket on; nil: there is none.
func embedded(text string) any {
	var best any
	length := 0
	const attempts = 64
	rest, offset := text, 0
	for range attempts {
		at := strings.IndexAny(rest, "{[")
		if at < 0 {
			break
		}
		offset += at
		decoder := json.NewDecoder(strings.NewReader(text[offset:]))
		decoder.UseNumber()
		var value any
		step := 1
		if decoder.Decode(&value) == nil {
			step = int(decoder.InputOffset())
			if object, ok := value.(map[string]any); step > length && (!ok || len(object) > 0) {
				best, length = value, step
			}
		}
		offset += step
		rest = text[offset:]
	}
	return best
}

// parse reads one JSON value with its numbers as json.Number.
func parse(text string) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, errors.New("there is more behind the value")
	}
	return value, nil
}
