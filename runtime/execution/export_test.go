package execution

import (
	"bytes"
	"context"

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

// Ended does what a worker does, maybe late, that has read a record of an execution that has ended.
func Ended(ctx context.Context, e *Engine, r *Record) error { return e.ended(ctx, r) }
