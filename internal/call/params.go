package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/internal/plainfile"
	"github.com/aqltag/aqltag/runtime/words"
)

// ArgumentError is a mistake in the parameters of a command line.
type ArgumentError struct{ Err error }

func (e *ArgumentError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *ArgumentError) Unwrap() error { return e.Err }

func argumentErrorf(format string, args ...any) error {
	return &ArgumentError{fmt.Errorf(format, args...)}
}

// ReadParams reads parameters that are given as JSON; ok is false if they are NAME=VALUE pairs. It fails with an
// ArgumentError if they are not exactly one JSON object, and with another error if they cannot be read.
func (r *Request) ReadParams(
	ctx context.Context, stdin io.Reader, path func(name string) string,
) (params json.RawMessage, ok bool, err error) {
	if len(r.Params) == 0 {
		return json.RawMessage("{}"), true, nil
	}
	word := r.Params[0]
	text, from := []byte(word), "the command line"
	switch _, _, pair := cutPair(word); {
	case pair:
		return nil, false, nil
	case word == "-":
		from = "standard input"
		text, err = readAll(stdin, from)
	case strings.HasPrefix(word, "@"):
		from = word[1:]
		if text, err = plainfile.Read(ctx, path(from), maxParams); err != nil {
			err = fmt.Errorf("reading the parameters: %w", err)
		}
	}
	if err != nil {
		return nil, false, err
	}
	if err := checkObject(text); err != nil {
		return nil, false, argumentErrorf("the parameters from %s: %w", from, err)
	}
	return bytes.TrimSpace(text), true, nil
}

// checkObject fails unless a text is one JSON object.
func checkObject(text []byte) error {
	var object map[string]json.RawMessage
	err := json.Unmarshal(text, &object)
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("they are not JSON: %w, at byte %d", err, syntax.Offset)
	case errors.As(err, &wrong), err == nil && object == nil:
		return errors.New("they must be a JSON object, such as {\"title\":\"Milk\"}")
	}
	return err
}

// TypedParams makes parameters of NAME=VALUE pairs. The type of each parameter, as the server describes it, says how
// its value is read: as it is for a text, as JSON for numbers, booleans, lists and objects. Where the type does not
// decide, the value is refused. It fails with an ArgumentError for all of that.
func TypedParams(
	ctx context.Context, s *conform.Surface, o conform.Operation, pairs []string,
) (json.RawMessage, error) {
	known := map[string]conform.Parameter{}
	var names []string
	for _, p := range o.Parameters {
		known[p.Name] = p
		names = append(names, p.Name)
	}
	var text bytes.Buffer
	given := map[string]bool{}
	for i, pair := range pairs {
		name, value, _ := cutPair(pair)
		p, ok := known[name]
		if !ok {
			return nil, argumentErrorf("operation %s describes no parameter '%s'%s", o.Name, name, meant(name, names))
		}
		if given[name] {
			return nil, argumentErrorf("parameter '%s' is given twice; a list is given as JSON: %s='[…]'", name, name)
		}
		given[name] = true
		encoded, err := typed(ctx, s, p, value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(strconv.Quote(name) + ":")
		text.Write(encoded)
	}
	return json.RawMessage("{" + text.String() + "}"), nil
}

// meant is the end of a sentence about a name that does not exist.
func meant(name string, names []string) string {
	if near := words.Suggest(name, names); near != "" {
		return near
	}
	if len(names) == 0 || len(names) > 20 {
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}

// typed returns the JSON of a value as the type of its parameter reads it.
func typed(ctx context.Context, s *conform.Surface, p conform.Parameter, value string) (json.RawMessage, error) {
	var want func(first byte) bool
	kind := p.Type
	base, isList := strings.CutSuffix(kind, "[]")
	switch {
	case isList && base != "", kind == "array":
		kind, want = "list", func(c byte) bool { return c == '[' }
	case kind == "string", textsOnly(p.Enum):
		return encodeText(p, value)
	case kind == "integer", kind == "number":
		want = func(c byte) bool { return c == '-' || c >= '0' && c <= '9' }
	case kind == "boolean":
		want = func(c byte) bool { return c == 't' || c == 'f' }
	case kind == "object":
		want = func(c byte) bool { return c == '{' }
	case kind == "", kind == "any", strings.Contains(kind, "|"):
		return nil, argumentErrorf("the type of parameter '%s' does not say whether a value is a text; give the parameters "+
			"as JSON: '{\"%s\":…}'", p.Name, p.Name)
	default:
		if s.IsText(ctx, kind) {
			return encodeText(p, value)
		}
		want = func(c byte) bool { return c == '{' || c == '[' }
	}
	if text := strings.TrimSpace(value); text == "" || !want(text[0]) || !json.Valid([]byte(text)) {
		return nil, argumentErrorf("parameter '%s' takes a value of type %s as JSON, not %q", p.Name, kind, value)
	}
	return json.RawMessage(strings.TrimSpace(value)), nil
}

// textsOnly reports whether an enumeration has texts only.
func textsOnly(enum []string) bool {
	for _, value := range enum {
		if !strings.HasPrefix(value, `"`) {
			return false
		}
	}
	return len(enum) > 0
}

func encodeText(p conform.Parameter, value string) (json.RawMessage, error) {
	if strings.ToValidUTF8(value, "") != value {
		return nil, argumentErrorf("the value of parameter '%s' is not UTF-8", p.Name)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(text.Bytes()), nil
}
