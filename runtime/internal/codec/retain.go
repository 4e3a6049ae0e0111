package codec

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// known returns the JSON of a message without what its definition does not have, such as hidden fields.
func (m *message) known(text string) (string, error) {
	r, w := wire.NewReader(text, wire.Limits{MaxDepth: maxMessageDepth}), wire.NewWriter(nil)
	if m.writer.transcribe(r, w, nil); r.Fault() != nil {
		return "", r.Fault()
	}
	return string(w.Bytes()), w.Err()
}

// retained returns the JSON of a merged message with what the definition does not have of the message before. known is
// what the definition has of that.
func (m *message) retained(before, known, merged string) (string, error) {
	var values [3]any
	for i, text := range []string{before, known, merged} {
		var err error
		if values[i], err = objectOf(text); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(m.writer.retain(values[0], values[1], values[2]))
	return string(text), err
}

func objectOf(text string) (any, error) {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err
}

// retain returns the merged value with what was in it before and n does not write. A value that the merge has not
// changed is the one before; of a list that it has changed, the elements are new.
func (n *encoder) retain(before, known, merged any) any {
	if reflect.DeepEqual(known, merged) {
		return before
	}
	from, isObject := before.(map[string]any)
	base, wasKnown := known.(map[string]any)
	to, stays := merged.(map[string]any)
	if n = n.element(); !isObject || !wasKnown || !stays {
		return merged
	}
	for name, value := range from {
		part, kept := to[name]
		switch {
		case n.kind == kindMap && kept:
			to[name] = n.elem.retain(value, base[name], part)
		case n.kind != kindStruct:
		case n.object.findSource(name) < 0:
			to[name] = value
		case kept:
			to[name] = n.object.fields[n.object.findSource(name)].value.retain(value, base[name], part)
		}
	}
	return to
}
