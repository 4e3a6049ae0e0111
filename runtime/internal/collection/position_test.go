package collection

import (
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// element has a field of every kind.
type element struct {
	on    bool
	small int8
	large uint64
	part  float32
	text  string
	at    time.Time
	none  *string
}

func orderOfElement() Order {
	var e element
	field := func(kind Kind, bits int, offset uintptr, steps ...Step) Key {
		return Key{Field: &Field{Kind: kind, Bits: bits, Offset: offset, Steps: steps}}
	}
	return Order{
		field(Bool, 0, unsafe.Offsetof(e.on)), field(Int, 8, unsafe.Offsetof(e.small)),
		field(Uint, 64, unsafe.Offsetof(e.large)), field(Float, 32, unsafe.Offsetof(e.part)),
		field(String, 0, unsafe.Offsetof(e.text)), field(Time, 0, unsafe.Offsetof(e.at)),
		field(String, 0, unsafe.Offsetof(e.none), Step{Kind: Pointer}),
	}
}

// A position has all that the order needs of an element, and nothing else is one.
func TestPositions(t *testing.T) {
	e := element{true, -128, 1 << 63, 0.1, "text\x00", time.Unix(-5, 7).UTC(), nil}
	order := orderOfElement()
	text := order.position(unsafe.Pointer(&e))
	values, ok := order.Position(text)
	want := []Value{
		{Int: 1}, {Int: -128}, {Int: -1 << 63}, {Float: float64(float32(0.1))}, {Text: "text\x00"},
		{Time: time.Unix(-5, 7).UTC()},
		{Missing: true},
	}
	if diff := cmp.Diff(want, values); !ok || diff != "" {
		t.Errorf("ok %v (-want +got):\n%s", ok, diff)
	}
	if c := order.compareTo(unsafe.Pointer(&e), values); c != 0 {
		t.Errorf("the element is not where its position is: %d", c)
	}
	for i := range text {
		if _, ok := order.Position(text[:i]); ok {
			t.Errorf("%d of %d bytes are a position", i, len(text))
		}
	}
	if _, ok := order.Position(append(text, 0)); ok {
		t.Error("a position with a byte more is one")
	}
	if _, ok := order.Position([]byte{2}); ok {
		t.Error("a byte that says neither that a value is there nor that it is not is a position")
	}
}
