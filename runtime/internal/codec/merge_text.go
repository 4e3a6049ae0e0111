package codec

import (
	"encoding/json"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// mergeJSON merges the next value into the value at p, whose type has methods for JSON. An object merges with the
// JSON that the value writes.
func (n *decoder) mergeJSON(r *wire.Reader, p unsafe.Pointer) {
	kind := r.Kind()
	if kind != "object" || !n.acceptsKind(kind) {
		n.readJSON(r, p)
		return
	}
	value := reflect.NewAt(n.goType, p)
	var old []byte
	err := callUser(func() (err error) {
		old, err = json.Marshal(value.Interface())
		return err
	})
	if err != nil {
		old = nil
	}
	text := mergedText(r, string(old))
	if r.Fault() != nil {
		return
	}
	n.clear(p)
	if err := callUser(func() error { return json.Unmarshal([]byte(text), value.Interface()) }); err != nil {
		r.MismatchBecause(n.form, reasonOf(err))
	}
}

// mergedText applies the next value as a JSON Merge Patch (RFC 7396) to the JSON text old, and returns the resulting
// text. Members that do not change keep their place and their spelling.
func mergedText(r *wire.Reader, old string) string {
	if r.Kind() != "object" {
		return r.Raw()
	}
	members := membersOf(old)
	if !r.Object() {
		return ""
	}
	for r.Next() {
		name := r.Name()
		if r.Null() {
			delete(members.texts, name)
			continue
		}
		text, known := members.texts[name]
		if !known {
			members.names = append(members.names, name)
		}
		members.texts[name] = mergedText(r, text)
	}
	return members.object()
}

// members are the members of an object.
type members struct {
	names []string // in their order; those that texts lacks are removed
	texts map[string]string
}

// membersOf returns the members of an object. Any other text has none.
func membersOf(text string) members {
	m := members{texts: make(map[string]string)}
	r := wire.NewReader(text, wire.Limits{})
	if r.Kind() != "object" || !r.Object() {
		return m
	}
	for r.Next() {
		name := r.Name()
		m.names = append(m.names, name)
		m.texts[name] = r.Raw()
	}
	if r.End(); r.Fault() != nil {
		return members{texts: make(map[string]string)}
	}
	return m
}

// object returns the text of an object with the members.
func (m members) object() string {
	w := wire.NewWriter(nil)
	w.BeginObject()
	for _, name := range m.names {
		if text, ok := m.texts[name]; ok {
			w.KeyEscaped(name)
			w.Raw(text)
		}
	}
	w.EndObject()
	return string(w.Bytes())
}
