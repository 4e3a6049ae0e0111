package aql

import (
	"slices"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// detail is one member of the details of a failure or a warning. Details keep their order, so that the same failure is
// always the same bytes.
type detail struct {
	name  string
	value any // string, int, float64, []string, rawJSON or unwritable
}

// rawJSON is the value of a detail that is JSON already.
type rawJSON string

// unwritable is why the value of a detail is not JSON.
type unwritable struct{ error }

// withDetail returns a copy of a list with one more member, in place of one of the same name. The value is written at
// once: it may change later, and the methods that write it are the handler's.
func withDetail(list []detail, name string, value any) []detail {
	if _, text := value.(string); !text {
		w := wire.NewWriter(nil)
		if w.Any(value); w.Err() != nil {
			value = unwritable{w.Err()}
		} else {
			value = rawJSON(w.Bytes())
		}
	}
	list = slices.Clone(list)
	if at := slices.IndexFunc(list, func(d detail) bool { return d.name == name }); at >= 0 {
		list[at].value = value
		return list
	}
	return append(list, detail{name, value})
}

func (d detail) write(w *wire.Writer) {
	switch v := d.value.(type) {
	case rawJSON:
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

// detailTooDeep is why a failure or a warning is not shown one of whose details would make the answer exceed its limit.
const detailTooDeep = "a detail is nested too deeply"

// deeper reports whether a JSON value has more levels of objects and arrays than these.
func deeper(text string, levels int) bool {
	r := wire.NewReader(text, wire.Limits{MaxDepth: levels})
	r.Skip()
	fault := r.Fault()
	return fault != nil && fault.Kind == wire.TooDeep
}
