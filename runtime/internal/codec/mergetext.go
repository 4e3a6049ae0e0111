package codec

import (
	"encoding/json"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// mergeJSON merges the value ahead into one that reads and writes itself. Only its own JSON tells what it consists of, so
// an object merges with that.
func (n *reading) mergeJSON(r *wire.Reader, p unsafe.Pointer) {
	kind := r.Kind()
	if kind != "object" || !n.admits(kind) {
		n.readJSON(r, p)
		return
	}
	value := reflect.NewAt(n.goType, p)
	var old []byte
	err := guarded(func() (err error) {
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
	if guarded(func() error { return json.Unmarshal([]byte(text), value.Interface()) }) != nil {
		r.Mismatch(n.wanted)
	}
}

// mergedText reads the value ahead and returns what a JSON Merge Patch (RFC 7396) with it makes of the JSON text old. What
// stays keeps its place and its spelling.
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

// members are the members of an object in their order.
type members struct {
	names []string // those that texts lacks were removed
	texts map[string]string
}

// membersOf splits the text of an object; anything else has no members.
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
