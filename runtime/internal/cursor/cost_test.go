//go:build !race

// The race detector empties pools at random.

package cursor_test

import "testing"

// The cursors of a page cost an allocation each, and that of a request one.
func TestCursorsAreCheap(t *testing.T) {
	box, position := newBox(t, 1), make([]byte, 25)
	sealed := box.Seal(here, position)
	if n := testing.AllocsPerRun(1000, func() { box.Open(here, box.Seal(here, position)) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
	if _, ok := box.Open(here, sealed); !ok {
		t.Error("the cursor does not open")
	}
}
