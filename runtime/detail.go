package aql

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

// detail is one member of the details of a failure or a warning. Details keep their order, so that the same failure is
// always the same bytes.
type detail struct {
	name  string
	value any // string, int, float64, []string, rawJSON, handlerText, handlerJSON or unwritable
}

// rawJSON is the value of a detail that is JSON already.
type rawJSON string

// handlerText and handlerJSON are values that WithDetail was given, as they are and as JSON.
type (
	handlerText string
	handlerJSON string
)

// unwritable is why the value of a detail is not JSON.
type unwritable struct{ error }

// withDetail returns a copy of a list with one more member, in place of one of the same name. The value is written at
// once: it may change later, and the methods that write it are the handler's.
func withDetail(list []detail, name string, value any) []detail {
	if text, ok := value.(string); ok {
		value = handlerText(text)
	} else {
		value = jsonOf(value)
	}
	list = slices.Clone(list)
	if at := slices.IndexFunc(list, func(d detail) bool { return d.name == name }); at >= 0 {
		list[at].value = value
		return list
	}
	return append(list, detail{name, value})
}

// jsonOf returns a value as JSON, or why it is none. Its methods may panic.
func jsonOf(value any) (text any) {
	defer func() {
		if v := recover(); v != nil {
			text = unwritable{newPanicError(v)}
		}
	}()
	w := wire.NewWriter(nil)
	if w.Any(value); w.Err() != nil {
		return unwritable{errors.New(w.Err().Error())}
	}
	return handlerJSON(w.Bytes())
}

// unfit returns why a detail must not be shown, and what of it is the reason; empty: it may be, or the whole of it is.
// What the adapter or a constructor has put in the details discloses nothing. levels is how many a value may have.
func (d detail) unfit(levels int) (why, part string) {
	var texts []string
	switch v := d.value.(type) {
	case rawJSON:
		if deeper(string(v), levels) {
			return detailTooDeep, ""
		}
		return "", ""
	case handlerText:
		texts = []string{string(v)}
	case handlerJSON:
		if deeper(string(v), levels) {
			return detailTooDeep, ""
		}
		texts = textsIn(string(v))
	case unwritable:
		return v.Error(), ""
	default:
		return "", ""
	}
	if what, part := words.Leak(d.name); part != "" {
		return "its name has " + what, part
	}
	for _, text := range texts {
		if what, part := words.Leak(text); part != "" {
			return "it has " + what, part
		}
	}
	return "", ""
}

// textsIn returns the strings in a JSON text, and the names of its members.
func textsIn(text string) (texts []string) {
	tokens := json.NewDecoder(strings.NewReader(text))
	for {
		token, err := tokens.Token()
		if err != nil {
			return texts
		}
		if s, ok := token.(string); ok {
			texts = append(texts, s)
		}
	}
}

func (d detail) write(w *wire.Writer) {
	switch v := d.value.(type) {
	case rawJSON:
		w.Raw(string(v))
	case handlerText:
		w.String(string(v))
	case handlerJSON:
		w.Raw(string(v))
	case unwritable:
		w.Fail(v)
	default:
		w.Any(v)
	}
}

func writeDetails(w *wire.Writer, list []detail) {
	w.BeginObject()
	for _, d := range list {
		w.KeyEscaped(d.name)
		d.write(w)
	}
	w.EndObject()
}

// detailsJSON returns details as a JSON object. It fails where one is not JSON.
func detailsJSON(list []detail) (string, error) {
	w := wire.NewWriter(nil)
	writeDetails(w, list)
	return string(w.Bytes()), w.Err()
}

// levelsAboveDetail is how many levels of an answer are around the value of a detail: in a batch, those of the answer,
// the list of results, an item, its answer, the failure and the details.
const levelsAboveDetail = 6

// detailTooDeep is why a detail is not shown that would make the answer exceed its limit.
const detailTooDeep = "it is nested too deeply"

// deeper reports whether a JSON value has more levels of objects and arrays than these.
func deeper(text string, levels int) bool {
	r := wire.NewReader(text, wire.Limits{MaxDepth: levels})
	r.Skip()
	fault := r.Fault()
	return fault != nil && fault.Kind == wire.TooDeep
}
