package collection

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
	"unsafe"
)

// Kind is how the values of a field are held in memory.
type Kind uint8

// The kinds of fields.
const (
	Bool Kind = iota
	Int
	Uint
	Float
	String
	Time
	Text // of a type that writes itself as text
)

// Field is a field of the elements. It is found once, and used by many requests.
type Field struct {
	Name   string
	Kind   Kind
	Bits   int // of a number
	Offset uintptr
	Steps  []Step // to the value from there; none: the value is there and never missing
	// Ranks are the values of an enum in their order; nil: the field is no enum.
	Ranks []string
	// List says that the field holds a slice of such values, each of Size bytes.
	List bool
	Size uintptr
	// Spell returns the text of a value of kind Text.
	Spell func(p unsafe.Pointer) string
}

// Step leads from one place to the next one on the way to a value.
type Step struct {
	Kind   StepKind
	Flag   uintptr // offset of a byte
	Is     uint8   // what the byte is where there is a value
	Offset uintptr // of the next place
	// Compute returns where the value of the element at p is; of a step Computed, which is the first one.
	Compute func(ctx context.Context, p unsafe.Pointer) unsafe.Pointer
	in      *computing // of a query
	keep    bool       // the values of elements, until they are forgotten
}

// StepKind says when the way ends, and the value is missing.
type StepKind uint8

// The kinds of steps.
const (
	Pointer  StepKind = iota // where the pointer is nil; Offset begins where it points
	Flag                     // where the byte at Flag is not Is
	ZeroTime                 // where the time is zero
	Computed                 // never: the value is computed of the element
)

// Value is a value of any kind. An integer of kind Uint is held in the bits of Int.
type Value struct {
	Missing  bool
	Negative bool  // of an integer that a field of kind Uint is compared with
	Int      int64 // of Bool too: 0 or 1
	Float    float64
	Text     string
	Time     time.Time
}

// at returns the place of the field's value in the element at p; false: it is missing.
func (f *Field) at(p unsafe.Pointer) (unsafe.Pointer, bool) {
	p = unsafe.Add(p, f.Offset)
	for i := range f.Steps {
		s := &f.Steps[i]
		switch s.Kind {
		case Pointer:
			if p = *(*unsafe.Pointer)(p); p == nil {
				return nil, false
			}
		case Flag:
			if *(*uint8)(unsafe.Add(p, s.Flag)) != s.Is {
				return nil, false
			}
		case ZeroTime:
			if (*time.Time)(p).IsZero() {
				return nil, false
			}
		case Computed:
			p = s.in.value(s, p)
		}
		p = unsafe.Add(p, s.Offset)
	}
	return p, true
}

// Missable reports whether elements may lack the field.
func (f *Field) Missable() bool { return len(f.Steps) > 0 }

// Of returns the value of the field in the element at p.
func (f *Field) Of(p unsafe.Pointer) Value {
	p, ok := f.at(p)
	if !ok {
		return Value{Missing: true}
	}
	return f.Load(p)
}

// Load returns the value at p.
func (f *Field) Load(p unsafe.Pointer) (v Value) {
	switch f.Kind {
	case Bool:
		if *(*bool)(p) {
			v.Int = 1
		}
	case Int:
		v.Int = loadInt(p, f.Bits)
	case Uint:
		v.Int = int64(loadUint(p, f.Bits))
	case Float:
		v.Float = loadFloat(p, f.Bits)
	case String:
		v.Text = *(*string)(p)
	case Time:
		v.Time = *(*time.Time)(p)
	case Text:
		v.Text = f.Spell(p)
	}
	return v
}

func loadInt(p unsafe.Pointer, bits int) int64 {
	switch bits {
	case 8:
		return int64(*(*int8)(p))
	case 16:
		return int64(*(*int16)(p))
	case 32:
		return int64(*(*int32)(p))
	default:
		return *(*int64)(p)
	}
}

func loadUint(p unsafe.Pointer, bits int) uint64 {
	switch bits {
	case 8:
		return uint64(*(*uint8)(p))
	case 16:
		return uint64(*(*uint16)(p))
	case 32:
		return uint64(*(*uint32)(p))
	default:
		return *(*uint64)(p)
	}
}

func loadFloat(p unsafe.Pointer, bits int) float64 {
	if bits == 32 {
		return float64(*(*float32)(p))
	}
	return *(*float64)(p)
}

// compare compares the value at p with v, which is not missing.
func (f *Field) compare(p unsafe.Pointer, v *Value) int {
	switch f.Kind {
	case Bool:
		return cmp.Compare(f.Load(p).Int, v.Int)
	case Int:
		return cmp.Compare(loadInt(p, f.Bits), v.Int)
	case Uint:
		if v.Negative {
			return 1
		}
		return cmp.Compare(loadUint(p, f.Bits), uint64(v.Int))
	case Float:
		return compareFloats(loadFloat(p, f.Bits), v.Float)
	case String:
		if f.Ranks != nil {
			return f.compareRanks(*(*string)(p), v.Text)
		}
		return cmp.Compare(*(*string)(p), v.Text)
	case Time:
		return compareTimes((*time.Time)(p), &v.Time)
	default:
		return cmp.Compare(f.Spell(p), v.Text)
	}
}

// compareTimes compares moments as positions and the wire have them, without the monotonic clock, which goes on when
// the other one is set.
func compareTimes(a, b *time.Time) int {
	if c := cmp.Compare(a.Unix(), b.Unix()); c != 0 {
		return c
	}
	return cmp.Compare(a.Nanosecond(), b.Nanosecond())
}

// compareFloats compares numbers. One that is none is behind all others, so that the order is total.
func compareFloats(a, b float64) int {
	if an, bn := math.IsNaN(a), math.IsNaN(b); an || bn {
		switch {
		case an == bn:
			return 0
		case an:
			return 1
		default:
			return -1
		}
	}
	return cmp.Compare(a, b)
}

// compareRanks compares values of an enum by their order. Others are behind them.
func (f *Field) compareRanks(a, b string) int {
	if a == b {
		return 0
	}
	if c := cmp.Compare(f.rank(a), f.rank(b)); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

func (f *Field) rank(value string) int {
	if at := slices.Index(f.Ranks, value); at >= 0 {
		return at
	}
	return len(f.Ranks)
}

// list is the memory of a slice.
type list struct {
	data unsafe.Pointer
	len  int
	_    int
}

// each calls yield with the elements of the list at p until it returns false.
func (f *Field) each(p unsafe.Pointer, yield func(p unsafe.Pointer) bool) {
	l := (*list)(p)
	for i := range l.len {
		if !yield(unsafe.Add(l.data, uintptr(i)*f.Size)) {
			return
		}
	}
}
