package main

import (
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
)

// D2: an adapter of 10,000 operations that has answered its first search holds less than 60 MB.
func TestLargeAdapterIsSmall(t *testing.T) {
	f, err := adapter(t.Context(), many, aql.ModeSemantic)
	if err != nil {
		t.Fatal(err)
	}
	if f.Heap < 1_000_000 || f.Heap > mostHeap {
		t.Errorf("%s of heap, more than %s or next to nothing", mb(f.Heap), mb(mostHeap))
	}
}

// D2: every operation has a tool, and so has introspect, on pages of 1,000.
func TestToolsAreListed(t *testing.T) {
	f, err := adapter(t.Context(), 1100, aql.ModeDiscrete)
	if err != nil {
		t.Fatal(err)
	}
	if f.Pages != 2 || f.Bytes < 1100*200 {
		t.Errorf("%d pages, %d bytes", f.Pages, f.Bytes)
	}
}
