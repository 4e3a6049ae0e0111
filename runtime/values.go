package aql

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

var _ gate.Params = (*request)(nil)

// keepValue keeps the text of the parameter that r has just read, for the gate.
func (q *request) keepValue(r *wire.Reader) {
	name, text := r.LastMember()
	if original, ok := q.operation.aliases[name]; ok {
		name = original
	}
	q.values = append(q.values, paramValue{name, text})
}

// Value returns the JSON text of a parameter as the handler sees it: what was sent, else the default. Of a parameter
// that was sent twice the first value counts, as it does for the handler, even if it is null. A null means absence,
// except for types that distinguish the two.
func (q *request) Value(name string) (string, bool) {
	params := q.operation.definition.Params
	at := slices.IndexFunc(params, func(p gen.Param) bool { return p.Name == name })
	if at < 0 {
		return "", false
	}
	for _, v := range q.values {
		if v.name != name {
			continue
		}
		if v.text != "null" || q.slots.handled.given.Has(at) {
			return v.text, true
		}
		break
	}
	return params[at].Default, params[at].Default != ""
}

// Seen returns the canonical form of the parameter's value that the handler sees, as JSON.
func (q *request) Seen(name string) (string, bool) {
	text, given := q.Value(name)
	if !given {
		return "", false
	}
	if q.slots.handled.bound == nil { // the operation is built in
		return wire.Unjudged, true
	}
	at := slices.IndexFunc(q.operation.definition.Params, func(p gen.Param) bool { return p.Name == name })
	return q.slots.handled.decoder.Canonical(at, text, q.slots.handled.place), true
}

// Canonical returns the canonical form of all parameters after defaults, to which confirmation tokens are bound
// (confirmation tokens §3.2).
func (q *request) Canonical() []byte {
	canonical := []byte{'{'}
	for _, param := range q.operation.definition.Params {
		text, ok := q.Value(param.Name)
		if !ok {
			continue
		}
		if len(canonical) > 1 {
			canonical = append(canonical, ',')
		}
		canonical = append(canonical, '"')
		canonical = append(canonical, param.Name...)
		canonical = append(canonical, `":`...)
		canonical = wire.Canonical(canonical, text)
	}
	return append(canonical, '}')
}

// visible returns a parameter's value as people see it who decide: the canonical form of the value that the handler
// sees, or what was sent if nothing tells what that is. It is spelled plainly in any case: an approval counts for all
// spellings of the value, and of a long one people see the beginning, so blanks must not push the rest out of sight.
func (q *request) visible(name string) (string, bool) {
	text, given := q.Seen(name)
	if given && strings.Contains(text, wire.Unjudged) {
		text, given = q.Value(name)
	}
	if plain, ok := wire.Plain(text); given && ok {
		return plain, true
	}
	return text, given
}

// Plain returns the value of a text, number or boolean as a person reads and types it; empty: nobody can. Nobody can
// type blanks around a value, because they are not seen, and are cut off what was typed.
func (q *request) Plain(name string) string {
	text, given := q.visible(name)
	if !given || text == "null" {
		return ""
	}
	if strings.HasPrefix(text, `"`) {
		text, _ = wire.NewReader(text, wire.Limits{}).String()
	}
	if utf8.RuneCountInString(text) > maxShown || words.Printable(text) != text || strings.TrimSpace(text) != text {
		return ""
	}
	return strings.Clone(text)
}

// Redacted returns a JSON object of the parameters as they were sent, in which sensitive values are hidden: for
// records, which are evidence.
func (q *request) Redacted() []byte { return q.redacted(q.Value) }

// Asked returns the author's question, and the parameters as the handler sees them: for a person who is to confirm.
func (q *request) Asked() (message string, params []byte) {
	definition := &q.operation.definition
	if definition.Confirm != "" {
		message = gate.Interpolate(definition.Confirm, q.shown)
	}
	return message, q.redacted(q.visible)
}

func (q *request) redacted(valueOf func(name string) (string, bool)) []byte {
	w := wire.NewWriter(nil)
	w.BeginObject()
	for i := range q.operation.definition.Params {
		param := &q.operation.definition.Params[i]
		text, given := valueOf(param.Name)
		if !given {
			continue
		}
		w.KeyEscaped(param.Name)
		switch {
		case param.Sensitive:
			w.String("***")
		case q.operation.sensitive:
			q.operation.writeRedacted(w, text, param.Name)
		default:
			w.Raw(text)
		}
	}
	w.EndObject()
	return w.Bytes()
}

// shown returns a parameter's value as a confirmation message shows it, without anything sensitive.
func (q *request) shown(name string, mark rune) (string, bool) {
	param, known := q.operation.definition.Param(name)
	if !known {
		return "", false
	}
	text, given := q.visible(name)
	switch {
	case param.Sensitive:
		return "***", true
	case !given:
		return "", true
	case !strings.HasPrefix(text, `"`):
		if q.operation.isSensitive(param) {
			w := wire.NewWriter(nil)
			q.operation.writeRedacted(w, text, name)
			text = string(w.Bytes())
		}
		return words.PrintableJSON(words.Clip(text, maxShown)), true
	}
	value, _ := wire.NewReader(text, wire.Limits{}).String()
	return words.Quote(value, maxShown, mark), true
}

// mapEntry replaces, in a path, the name of a map's entry that could be read as a path itself.
const mapEntry = "*"

// writeRedacted writes the value of the parameter at a path without its sensitive members.
func (o *operation) writeRedacted(w *wire.Writer, text, path string) {
	r := wire.NewReader(text, wire.Limits{})
	switch r.Kind() {
	case "object":
		r.Object()
		w.BeginObject()
		for r.NextUnchecked() {
			name := r.Name()
			member := path + "." + name
			if name == "" || strings.ContainsAny(name, ".[") { // the entry of a map: fields have no such names
				member = path + "." + mapEntry
			}
			value := r.Raw()
			if o.param(member).Sensitive {
				continue
			}
			w.KeyEscaped(name)
			o.writeRedacted(w, value, member)
		}
		w.EndObject()
	case "array":
		r.Array()
		w.BeginArray()
		for r.NextElement() {
			w.Element()
			o.writeRedacted(w, r.Raw(), path+"[0]")
		}
		w.EndArray()
	default:
		w.Raw(text)
	}
}

// maxShown bounds a value in a confirmation message, in characters.
const maxShown = 200
