package aql

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostUnfit is how many answers an execution takes to one question that are of no use.
const mostUnfit = 99

// longestUnfit bounds the name of a member in the message that it does not fit, in bytes.
const longestUnfit = 100

// awaitedOf is what an execution keeps of the type of an answer that it waits for.
func awaitedOf(t reflect.Type) askedFor {
	about := askedFor{Type: jsonTypeOf(t)}
	switch about.Type {
	case "integer":
		about.Bits, about.Unsigned = t.Bits(), t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64
	case "number":
		about.Bits = t.Bits()
	}
	return about
}

// read reads an answer to what an execution waits for as a parameter of that type is read, and returns what the
// execution is to get: an integer without a fraction, however it is spelled.
func (w *askedFor) read(o *operation, value []byte) ([]byte, *Error) {
	r := wire.NewReader(string(value), wire.Limits{})
	read := value
	switch {
	case w.Type == "integer" && w.Unsigned:
		n, _ := r.Uint(w.Bits)
		read = strconv.AppendUint(nil, n, 10)
	case w.Type == "integer":
		n, _ := r.Int(w.Bits)
		read = strconv.AppendInt(nil, n, 10)
	case w.Type == "number":
		r.Float(w.Bits)
	case w.Type != "" && w.Type != kindOfJSON(value):
		return nil, invalidType("value", w.Type, kindOfJSON(value), "")
	}
	if problems := r.Problems(); len(problems) > 0 {
		problems[0].Path = "value"
		return nil, (&invalid{operation: o, problems: problems[:1]}).failure()
	}
	return read, nil
}

// readAnswer reads an answer into a value of the author's type. Members that its structs do not have are refused, as
// parameters are. An integer may have a fraction of zero, as in parameters, which encoding/json refuses.
func readAnswer(text []byte, into any) error {
	err := readStrictly(text, into)
	if err == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return err
	}
	whole, failed := json.Marshal(wholeNumbers(value))
	if failed != nil {
		return err
	}
	return readStrictly(whole, into)
}

// readStrictly reads one value of JSON, without members that no field takes.
func readStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// wholeNumbers spells the numbers in a value that are integers without fraction and exponent.
func wholeNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if strings.ContainsAny(string(value), ".eE") {
			if digits, ok := wire.NewReader(string(value), wire.Limits{}).BigInt(); ok {
				return json.Number(digits)
			}
		}
	case []any:
		for i := range value {
			value[i] = wholeNumbers(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = wholeNumbers(value[name])
		}
	}
	return value
}

// unfitMessage says to the caller why an answer was of no use. It has nothing of the author's types.
func unfitMessage(err error) string {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) && mismatch.Field != "" {
		kind, _, _ := strings.Cut(mismatch.Value, " ")
		return "The last answer does not fit: '" + mismatch.Field + "' cannot be this " + kind + "; answer again"
	}
	const unknown = "json: unknown field " // encoding/json has no type for this error
	if quoted, found := strings.CutPrefix(err.Error(), unknown); found {
		if name, err := strconv.Unquote(quoted); err == nil {
			return "The last answer does not fit: it cannot have '" + words.Clip(name, longestUnfit) + "'; answer again"
		}
	}
	return "The last answer does not fit; answer again"
}

// jsonTypeOf returns the JSON type of the values of a type; empty: it is not known.
func jsonTypeOf(t reflect.Type) string {
	for _, own := range []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()} {
		if reflect.PointerTo(t).Implements(own) {
			return ""
		}
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return ""
		}
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		return ""
	}
}

// kindOfJSON returns the JSON type of a text.
func kindOfJSON(text []byte) string {
	var value any
	if json.Unmarshal(text, &value) != nil {
		return "nothing"
	}
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if value == float64(int64(value)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}
