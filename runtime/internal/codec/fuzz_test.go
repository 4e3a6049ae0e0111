package codec_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// FuzzDecode reads any text as a value of one of the types. Nothing panics, and what is accepted encoding/json
// accepts too, with the same value. What was accepted can be written as JSON.
func FuzzDecode(f *testing.F) {
	types := fixtures()
	r := newRandom(4)
	all := make([]*codecs, len(types))
	for i, goType := range types {
		all[i] = newCodecs(f, goType)
		box := reflect.New(all[i].box)
		r.fill(box.Elem(), 2, false)
		f.Add(uint(i), oracle(f, box.Interface()))
		f.Add(uint(i), `{"V":`+scraps[i%len(scraps)]+`}`)
	}
	f.Fuzz(func(t *testing.T, which uint, text string) {
		c := all[which%uint(len(all))]
		if !readsAsJSON(t, c, text) {
			return
		}
		value, err := c.decode(text)
		if err != nil {
			t.Fatal(err)
		}
		written, err := c.encode(value)
		if err == nil && (!json.Valid([]byte(written)) || !utf8.ValidString(written)) {
			t.Fatalf("not JSON: %s", written)
		}
	})
}

// FuzzMerge merges any text into a value. Nothing panics, a patch that is refused changes nothing, and one that is
// accepted gives what RFC 7396 makes of it.
func FuzzMerge(f *testing.F) {
	m := newMerger[everything](f)
	for seed := range uint64(20) {
		target := reflect.New(m.goType)
		newRandom(seed).fill(target.Elem(), 2, false)
		f.Add(seed, newRandom(seed+1).patch(f, m.goType, target))
	}
	empty, err := m.read("{}")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		target, twin := reflect.New(m.goType), reflect.New(m.goType)
		newRandom(seed).fill(target.Elem(), 4, false)
		newRandom(seed).fill(twin.Elem(), 4, false)
		other := reflect.New(m.goType)
		other.Elem().Set(target.Elem())
		_, refused := m.read(text)
		if !apply(empty, text, target) {
			if !reflect.DeepEqual(target.Interface(), twin.Interface()) {
				t.Fatal("a patch that was refused changed the target")
			}
			return
		}
		if !reflect.DeepEqual(other.Interface(), twin.Interface()) {
			t.Fatal("a patch changed what others share")
		}
		r := wire.NewReader(text, wire.Limits{})
		if r.Skip(); refused == nil && r.Kind() != "" {
			t.Fatal("read although something follows the patch")
		}
	})
}
