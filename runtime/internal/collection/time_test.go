package collection

import (
	"context"
	"testing"
	"time"
	"unsafe"
)

// setBack returns a moment that was read after somebody had set the clock back by some seconds. The monotonic clock,
// which t has, goes on. The seconds of time.Time begin with bit 30 of its first word.
func setBack(tb testing.TB, t time.Time, seconds uint64) time.Time {
	tb.Helper()
	before := t
	*(*uint64)(unsafe.Pointer(&t)) -= seconds << 30
	if t.Unix() != before.Unix()-int64(seconds) || !t.After(before.Add(-time.Second)) {
		tb.Fatal("a time.Time is made in another way")
	}
	return t
}

// Moments are what they are on the wire, where the monotonic clock is unknown: an order by them is that of their
// cursors.
func TestTimesOfAClockThatWasSetBack(t *testing.T) {
	type element struct{ at time.Time }
	now := time.Now()
	all := []element{{now}, {setBack(t, now.Add(time.Millisecond), 10)}, {setBack(t, now.Add(2*time.Millisecond), 5)}}
	field := &Field{Name: "at", Kind: Time}
	b := &Bound{
		Order: Order{{Field: field}}, Size: 1, Wanted: []Wanted{{Min: field, Max: field}},
		Filter: &Node{All: []Condition{{Field: field, Op: Lte, Value: Value{Time: now.Round(0)}}}},
	}
	for _, want := range []int{1, 2, 0} {
		found, err := b.Slice(context.Background(), unsafe.Pointer(&all[0]), unsafe.Sizeof(all[0]), len(all))
		if err != nil || len(found.Items) != 1 || found.Items[0] != unsafe.Pointer(&all[want]) {
			t.Fatalf("the next is not %d: %v, %v", want, found.Items, err)
		}
		group := found.Summed[0].Groups[0]
		if !group.Min.Time.Equal(all[1].at.Round(0)) || !group.Max.Time.Equal(now.Round(0)) {
			t.Errorf("from %v to %v", group.Min.Time, group.Max.Time)
		}
		var ok bool
		if b.At, ok = b.Order.Position(b.Order.position(found.Items[0])); !ok {
			t.Fatal("the position is none")
		}
	}
}
