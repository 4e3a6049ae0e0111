package approve

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

const (
	// longestShown bounds what an item has of the name and of the value of each parameter, in bytes.
	longestShown = 500
	// mostShown bounds the parameters that an item has.
	mostShown = 200
)

// shown returns a JSON object of parameters as an item has it. Each long value is cut off by itself, and its size
// stands behind it, so that none hides another. A last member says what is left out: parameters beyond very many, and
// what cannot be read.
func shown(object string) string {
	if len(object) <= longestShown {
		return object
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
			out.KeyEscaped(cut(name, len(name)))
			writeShown(out, value)
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
	return string(out.Bytes())
}

// writeShown writes the value of a parameter. Of a long one that is no string, its JSON text is cut off.
func writeShown(out *wire.Writer, value json.RawMessage) {
	if len(value) <= longestShown {
		out.Raw(string(value))
		return
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	out.String(cut(text, len(value)))
}

// cut returns a text, and of a longer one the beginning with the size of what it stands for, in bytes.
func cut(text string, size int) string {
	if len(text) <= longestShown {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:longestShown], ""), size)
}
