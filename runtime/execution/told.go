package execution

import (
	"encoding/json"
	"fmt"

	"github.com/aqltag/aqltag/runtime/store"
)

// told is what a record has of the author's and the caller's words. With a key it is in the record sealed, as
// Record.Told.
type told struct {
	Progress *Progress `json:"progress,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`
	Waiting  *Waiting  `json:"waiting,omitempty"`
	Warnings string    `json:"warnings,omitempty"`
}

// encode returns a record as the store has it.
func (e *Engine) encode(r *Record) ([]byte, error) {
	written := *r
	if err := e.hide(&written); err != nil {
		return nil, fmt.Errorf("encoding execution %s: %w", r.ID, err)
	}
	text, err := json.Marshal(&written)
	if err != nil {
		return nil, fmt.Errorf("encoding execution %s: %w", r.ID, err)
	}
	return append([]byte{recordFormat}, text...), nil
}

// decode reads what encode has written.
func (e *Engine) decode(entry store.Entry) (*Record, error) {
	if len(entry.Value) == 0 || entry.Value[0] != recordFormat {
		return nil, fmt.Errorf("reading %s: %w", entry.Key, errFormat)
	}
	r := &Record{version: entry.Version}
	if err := json.Unmarshal(entry.Value[1:], r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", entry.Key, err)
	}
	r.was = r.State
	e.reveal(r)
	return r, nil
}

// hide seals the words of a record, if there is a key. What could not be read stays, until there are others.
func (e *Engine) hide(r *Record) error {
	if len(e.boxes) == 0 {
		return nil
	}
	words := told{r.Progress, r.Reason, r.Failure, r.Waiting, r.Warnings}
	r.Progress, r.Reason, r.Failure, r.Waiting, r.Warnings = nil, "", nil, nil, ""
	if words == (told{}) {
		if !r.unread {
			r.Told = nil
		}
		return nil
	}
	text, err := json.Marshal(&words)
	if err != nil {
		return err
	}
	r.Told = e.seal(r, "words", text)
	return nil
}

// reveal opens the words of a record. With a key no others count: somebody else may have written them.
func (e *Engine) reveal(r *Record) {
	if len(e.boxes) == 0 {
		return
	}
	words := told{}
	if r.Told != nil {
		text, err := e.open(r, "words", r.Told)
		r.unread = err != nil || json.Unmarshal(text, &words) != nil
	}
	r.Progress, r.Reason, r.Failure, r.Waiting = words.Progress, words.Reason, words.Failure, words.Waiting
	r.Warnings = words.Warnings
}
