package desk

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// longestValue is how much of the value of a parameter is shown, in bytes: of an item that the inbox has made, all that
// it has, with an escape for each of its characters.
const longestValue = 4 << 10

// Param is one parameter of an item for people to read: its name, and its value as JSON, with an escape for each
// character that misleads.
type Param struct{ Name, Value string }

// Params returns the members of a JSON object, up to the first that cannot be read. An item has no long values, unless
// somebody else has written it: of those there are parts, so that none hides the others.
func Params(object string) []Param {
	var params []Param
	for name, value := range Members(object) {
		text := words.Excerpt(words.PrintableJSON(string(value)), longestValue)
		params = append(params, Param{words.Printable(name), text})
	}
	return params
}

// All returns the members of a JSON object. Of what is none it returns all, so that nothing is left out.
func All(object string) iter.Seq2[string, json.RawMessage] {
	if json.Valid([]byte(object)) && strings.HasPrefix(strings.TrimSpace(object), "{") {
		return Members(object)
	}
	return func(yield func(string, json.RawMessage) bool) {
		yield("what cannot be read as parameters", json.RawMessage(object))
	}
}

// Members are the names and values of a JSON object, up to the first that cannot be read.
func Members(object string) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		decoder := json.NewDecoder(strings.NewReader(object))
		_, err := decoder.Token()
		for err == nil && decoder.More() {
			var name json.Token
			var value json.RawMessage
			if name, err = decoder.Token(); err != nil {
				return
			}
			if err = decoder.Decode(&value); err != nil || !yield(fmt.Sprint(name), value) {
				return
			}
		}
	}
}
