package collection

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unsafe"
)

// A text is found whatever the case of its ASCII letters, and nothing else is.
func TestContainsFold(t *testing.T) {
	texts := []string{""}
	for range 4 {
		for _, s := range texts {
			for _, letter := range []string{"e", "E", "x", "X"} {
				texts = append(texts, s+letter)
			}
		}
		texts = texts[:min(len(texts), 600)]
	}
	for _, s := range texts {
		for _, part := range []string{"", "e", "x", "ex", "xe", "ee", "exe", "é", "1"} {
			if got, want := containsFold(s, part), strings.Contains(strings.ToLower(s), part); got != want {
				t.Errorf("%q contains %q: %v, want %v", s, part, got, want)
			}
		}
	}
}

// A letter that was found, or is not there, is not searched for again until its place was passed: a long text without
// one case of the first letter costs no more than another.
func TestLettersAreSearchedForOnce(t *testing.T) {
	n := next{letter: 'e', at: -1}
	for place, want := range map[int]int{0: 3, 1: 3, 3: 3} {
		if at := n.from("xxxexx", place); at != want {
			t.Errorf("from %d on: at %d, want %d", place, at, want)
		}
	}
	// The second text has the letter where the first has none: who looks again finds it.
	if n.from("xxxexx", 4); n.from("xxxexe", 5) != 6 {
		t.Error("a letter that is nowhere is searched for again")
	}
	n = next{letter: 'e', at: -1}
	if n.from("xxe", 0); n.from("eee", 1) != 2 {
		t.Error("a letter whose place was not passed is searched for again")
	}
}

// ending is a context that ends when it is looked at for the last time.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A request that is cancelled ends with the block that is being read.
func TestEachBlockLooksAtTheContext(t *testing.T) {
	all := make([]int, 4*BlockSize)
	pointers := make([]unsafe.Pointer, len(all))
	for i := range all {
		pointers[i] = unsafe.Pointer(&all[i])
	}
	read := map[string]func(*ending) error{
		"Slice": func(ctx *ending) error {
			b := Bound{Itemless: true}
			_, err := b.Slice(ctx, unsafe.Pointer(&all[0]), unsafe.Sizeof(all[0]), len(all))
			return err
		},
		"Pointers": func(ctx *ending) error {
			b := Bound{Itemless: true}
			_, err := b.Pointers(ctx, pointers)
			return err
		},
	}
	for name, f := range read {
		if err := f(&ending{t.Context(), 3}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if err := f(&ending{t.Context(), 100}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
