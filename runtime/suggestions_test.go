package aql

import "testing"

// What is suggested in place of a name that is none is what was probably meant, and nothing where that is unknown.
func TestLikely(t *testing.T) {
	valid := []string{"title", "status", "metadata.color", "_computed.age", "_or", "_not"}
	for name, want := range map[string]string{
		"titel": "title", "Status": "status", "age": "_computed.age", "color": "metadata.color",
		"metadata": "metadata.color", "items.title": "title", "metadata.colour": "metadata.color",
		"or": "_or", "$or": "_or", "NOT": "_not", "notes": "", "org": "", "": "", ".": "", "due": "",
	} {
		if got := likely(name, valid); got != want {
			t.Errorf("%q stands for %q, want %q", name, got, want)
		}
	}
}
