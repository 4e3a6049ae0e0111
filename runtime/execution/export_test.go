package execution

import (
	"bytes"

	"github.com/aqltag/aqltag/runtime/store"
)

// Rewritten reports whether an engine that reads a record and writes it changes nothing of it.
func Rewritten(e *Engine, entry store.Entry) (same bool, err error) {
	r, err := e.decode(entry)
	if err != nil {
		return false, err
	}
	text, err := e.encode(r)
	return bytes.Equal(text, entry.Value), err
}
