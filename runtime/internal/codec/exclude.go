package codec

import (
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// exclude finds the fields that exclude each other.
func (o *structDecoder) exclude(params []gen.Param) {
	for i := range params {
		for _, name := range params[i].Excludes {
			if other := o.index.find(name); other >= 0 && other != i {
				o.fields[i].excludes = append(o.fields[i].excludes, other)
			}
		}
	}
}

// excluded returns the index of a field that was seen, and is not null, beside which an object must not have f; -1:
// there is none.
func (o *structDecoder) excluded(f *decodedField, seen, null *bits) int {
	for _, i := range f.excludes {
		if seen.has(i) && !null.has(i) {
			return i
		}
	}
	return -1
}

// conflict reports a field that the object must not have beside one that was seen, and skips its value.
func (o *structDecoder) conflict(r *wire.Reader, f *decodedField, seen, null *bits) bool {
	other := o.excluded(f, seen, null)
	if other < 0 {
		return false
	}
	r.Excluded(o.fields[other].name)
	return true
}

// replaceOthers removes from the struct at base the fields that the value of f replaces.
func (f *decodedField) replaceOthers(o *structDecoder, base unsafe.Pointer) {
	for _, i := range f.excludes {
		other := &o.fields[i]
		if p := other.location.address(base); p != nil {
			other.value.clear(p)
		}
	}
}
