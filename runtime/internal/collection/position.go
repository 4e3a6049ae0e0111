package collection

import (
	"encoding/binary"
	"math"
	"time"
	"unsafe"
)

// A position is the values of an element by which it is ordered: for each a byte that says whether it is there, and the
// value. Integers have variable length; texts are whole, as a part of one is no position.

// position returns that of the element at p.
func (o Order) position(p unsafe.Pointer) []byte {
	out := make([]byte, 0, 64)
	for i := range o {
		v := o[i].Field.Of(p)
		if v.Missing {
			out = append(out, 0)
			continue
		}
		out = o[i].Field.appendValue(append(out, 1), &v)
	}
	return out
}

func (f *Field) appendValue(out []byte, v *Value) []byte {
	switch f.Kind {
	case Bool, Int:
		return binary.AppendVarint(out, v.Int)
	case Uint:
		return binary.AppendUvarint(out, uint64(v.Int))
	case Float:
		return binary.BigEndian.AppendUint64(out, math.Float64bits(v.Float))
	case Time:
		out = binary.AppendVarint(out, v.Time.Unix())
		return binary.AppendUvarint(out, uint64(v.Time.Nanosecond()))
	default:
		out = binary.AppendUvarint(out, uint64(len(v.Text)))
		return append(out, v.Text...)
	}
}

// Position returns the values of a position; false: it is none in this order.
func (o Order) Position(text []byte) (values []Value, ok bool) {
	r := reader{text: text}
	values = make([]Value, len(o))
	for i := range o {
		if present := r.take(1); r.failed || present[0] > 1 {
			return nil, false
		} else if values[i].Missing = present[0] == 0; values[i].Missing {
			continue
		}
		r.value(o[i].Field.Kind, &values[i])
	}
	return values, !r.failed && len(r.text) == 0
}

// reader reads a position.
type reader struct {
	text   []byte
	failed bool
}

func (r *reader) value(kind Kind, v *Value) {
	switch kind {
	case Bool, Int:
		v.Int = r.varint()
	case Uint:
		v.Int = int64(r.uvarint())
	case Float:
		if bits := r.take(8); !r.failed {
			v.Float = math.Float64frombits(binary.BigEndian.Uint64(bits))
		}
	case Time:
		seconds := r.varint()
		v.Time = time.Unix(seconds, int64(r.uvarint())).UTC()
	default:
		v.Text = string(r.take(r.uvarint()))
	}
}

func (r *reader) take(n uint64) []byte {
	if r.failed = r.failed || n > uint64(len(r.text)); r.failed {
		return nil
	}
	taken := r.text[:n]
	r.text = r.text[n:]
	return taken
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.text)
	r.skip(n)
	return v
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.text)
	r.skip(n)
	return v
}

func (r *reader) skip(n int) {
	if n <= 0 {
		r.failed = true
		return
	}
	r.take(uint64(n))
}
