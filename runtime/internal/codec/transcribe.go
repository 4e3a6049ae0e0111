package codec

import (
	"errors"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// maxMessageDepth is how deep the JSON of a message may be nested, before the limit of the response is checked.
const maxMessageDepth = 10_000

var errNoNumber = errors.New("a number of the message is none in JSON")

// transcribe writes what r reads, the JSON of a message, under the names of the definition; n is the encoder of its
// form. It writes the part that is in subset; nil: all of it. What the definition does not have is left out.
func (n *encoder) transcribe(r *wire.Reader, w *wire.Writer, subset *Subset) {
	if subset != nil && subset.whole {
		subset = nil
	}
	switch {
	case n.kind == kindPointer:
		n.elem.transcribe(r, w, subset)
	case r.Kind() == "object" && n.kind == kindStruct:
		n.transcribeObject(r, w, subset)
	case r.Kind() == "object" && n.isMap():
		n.transcribeEntries(r, w, subset)
	case r.Kind() == "array" && n.elem != nil:
		if w.TooDeep() {
			r.Skip()
			return
		}
		w.BeginArray()
		for r.Array(); r.NextElement(); {
			w.Element()
			n.elem.transcribe(r, w, subset)
		}
		w.EndArray()
	case n.kind == kindFloat && r.Kind() == "string": // NaN and the infinities
		w.Fail(errNoNumber)
		r.Skip()
		w.Null()
	default:
		if err := w.Checked(r.Raw()); err != nil {
			w.Fail(err)
			w.Null()
		}
	}
}

func (n *encoder) transcribeObject(r *wire.Reader, w *wire.Writer, subset *Subset) {
	if w.TooDeep() {
		r.Skip()
		w.Null()
		return
	}
	w.BeginObject()
	for r.Object(); r.Next(); {
		at, part := n.object.findSource(r.Name()), (*Subset)(nil)
		if at >= 0 && subset != nil {
			i, selected := subset.findField(at)
			if selected {
				part = subset.fields[i].subset
			} else {
				at = -1
			}
		}
		if at < 0 {
			r.Skip()
			continue
		}
		f := &n.object.fields[at]
		w.KeyEscaped(f.name)
		f.value.transcribe(r, w, part)
		for at++; at < len(n.object.fields) && n.object.fields[at].value.kind == kindConstant; at++ {
			if constant := &n.object.fields[at]; constant.source == f.source {
				w.KeyEscaped(constant.name)
				w.String(constant.value.text)
			}
		}
	}
	w.EndObject()
}

// findSource returns the index of the field that the codec of a message gives a name, or -1.
func (c *structEncoder) findSource(name string) int {
	for i := range c.fields {
		if c.fields[i].source == name {
			return i
		}
	}
	return -1
}

func (n *encoder) transcribeEntries(r *wire.Reader, w *wire.Writer, subset *Subset) {
	if w.TooDeep() {
		r.Skip()
		w.Null()
		return
	}
	w.BeginObject()
	for r.Object(); r.Next(); {
		part := (*Subset)(nil)
		if subset != nil && subset.every != nil {
			part = subset.every
		} else if subset != nil {
			at, selected := subset.findEntry(r.Name())
			if !selected {
				r.Skip()
				continue
			}
			part = subset.entries[at].subset
		}
		w.KeyEscaped(r.Name())
		if n.kind == kindStringMap {
			w.Raw(r.Raw())
		} else {
			n.elem.transcribe(r, w, part)
		}
	}
	w.EndObject()
}
