package cursor_test

import (
	"bytes"
	"testing"

	"github.com/aqltag/aqltag/runtime/internal/cursor"
)

func newBox(t testing.TB, keys ...byte) *cursor.Box {
	t.Helper()
	list := make([][]byte, len(keys))
	for i, key := range keys {
		list[i] = bytes.Repeat([]byte{key}, cursor.KeySize)
	}
	b, err := cursor.NewBox(list...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	here  = []byte("here")
	there = []byte("there")
)

// REQ-PG-06: a cursor opens where it was sealed, and is the same each time.
func TestCursorsOpen(t *testing.T) {
	b := newBox(t, 1)
	for _, position := range []string{"", "x", string(make([]byte, 5000))} {
		sealed := b.Seal(here, []byte(position))
		if again := b.Seal(here, []byte(position)); again != sealed {
			t.Errorf("one position has two cursors, %q and %q", sealed, again)
		}
		if got, ok := b.Open(here, sealed); !ok || string(got) != position {
			t.Errorf("cursor %q of %q opens as %q, %v", sealed, position, got, ok)
		}
	}
}

// Keys are rotated: the first one seals, and all of them open.
func TestKeysRotate(t *testing.T) {
	old, both, next := newBox(t, 1), newBox(t, 2, 1), newBox(t, 2)
	sealed := old.Seal(here, []byte("x"))
	if got, ok := both.Open(here, sealed); !ok || string(got) != "x" {
		t.Errorf("the cursor of a former key opens as %q, %v", got, ok)
	}
	if _, ok := next.Open(here, sealed); ok {
		t.Error("the cursor of a key that was removed opens")
	}
	if _, ok := next.Open(here, both.Seal(here, []byte("x"))); !ok {
		t.Error("the first key does not seal")
	}
}

// REQ-PG-06: a cursor with a bit, a length, a key or a binding that is not its own does not open.
func TestForgeriesDoNotOpen(t *testing.T) {
	b := newBox(t, 1)
	for _, position := range []string{"position", "position.", "position.."} { // all lengths of the last letters
		sealed := b.Seal(here, []byte(position))
		refuse := func(what, text string, bound []byte) {
			t.Helper()
			if got, ok := b.Open(bound, text); ok {
				t.Errorf("%s opens as %q", what, got)
			}
		}
		refuse("a cursor of another operation", sealed, there)
		refuse("a cursor of another adapter", newBox(t, 2).Seal(here, []byte(position)), here)
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_= \n+/"
		for i := range sealed {
			refuse("a part of a cursor", sealed[:i], here)
			refuse("the rest of a cursor", sealed[i+1:], here)
			for _, letter := range letters {
				if byte(letter) != sealed[i] {
					refuse("a cursor with another letter", sealed[:i]+string(letter)+sealed[i+1:], here)
				}
				refuse("a cursor with a letter more", sealed[:i]+string(letter)+sealed[i:], here)
			}
		}
	}
}

// A key that is too short is refused.
func TestShortKeys(t *testing.T) {
	if _, err := cursor.NewBox(make([]byte, cursor.KeySize-1)); err == nil {
		t.Error("a key of 31 bytes is taken")
	}
	if _, err := cursor.NewBox(); err == nil {
		t.Error("no key is taken")
	}
}

// FuzzOpen expects that no text opens which was not sealed.
func FuzzOpen(f *testing.F) {
	b := newBox(f, 1)
	sealed := b.Seal(here, []byte("position"))
	f.Add(sealed)
	f.Add("")
	f.Add(sealed + "A")
	f.Fuzz(func(t *testing.T, text string) {
		if position, ok := b.Open(here, text); ok && b.Seal(here, position) != text {
			t.Errorf("%q opens as %q", text, position)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	box, position := newBox(b, 1), make([]byte, 25)
	b.ReportAllocs()
	for b.Loop() {
		box.Seal(here, position)
	}
}

func BenchmarkOpen(b *testing.B) {
	box := newBox(b, 1)
	sealed := box.Seal(here, make([]byte, 25))
	b.ReportAllocs()
	for b.Loop() {
		box.Open(here, sealed)
	}
}
