package approve

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

const (
	// longestShown bounds what an item has of the name and of the value of each parameter, in bytes.
	longestShown = 500
	// mostShown bounds the parameters that an item has.
	mostShown = 200
)

// shown returns a JSON object of parameters as an item has it. Of each long value it has the beginning and the end, and
// between them how much is left out, so that none hides another. A last member says what else is left out: parameters
// beyond very many, and what cannot be read.
// partly reports whether something is left out.
func shown(object string) (text string, partly bool) {
	if len(object) <= longestShown {
		return object, false
	}
	in, out := json.NewDecoder(strings.NewReader(object)), wire.NewWriter(nil)
	out.BeginObject()
	count := 0
	_, err := in.Token()
	for err == nil && in.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = in.Token(); err == nil {
			err = in.Decode(&value)
		}
		if count++; err == nil && count <= mostShown {
			name := fmt.Sprint(name)
			out.KeyEscaped(words.Excerpt(name, longestShown))
			partly = writeShown(out, value) || partly || len(name) > longestShown
		}
	}
	switch left := count - mostShown; {
	case err != nil:
		out.KeyEscaped("…")
		out.String(fmt.Sprintf("more, which cannot be read, of %d bytes", len(object)))
	case left > 0:
		out.KeyEscaped("…")
		out.String(fmt.Sprintf("%d more parameters, which are too many to show", left))
	}
	out.EndObject()
	return string(out.Bytes()), partly || err != nil || count > mostShown
}

// writeShown writes the value of a parameter. Of a long one that is no string, it writes parts of its JSON text. It
// reports whether something is left out.
func writeShown(out *wire.Writer, value json.RawMessage) (partly bool) {
	if len(value) <= longestShown {
		out.Raw(string(value))
		return false
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	out.String(words.Excerpt(text, longestShown))
	return len(text) > longestShown
}
