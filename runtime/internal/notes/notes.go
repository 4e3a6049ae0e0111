// Package notes is a small service for the examples of package aql: what a developer writes, in this file, and what
// aql-tag generates, in aql_gen.go.
package notes

import (
	"context"
	"strconv"

	aql "github.com/aqltag/aqltag/runtime"
)

// Note is a note.
type Note struct {
	ID     string            `json:"id" aql:"id"`
	Title  string            `json:"title" aql:"minlen=1"` // Heading of the note
	Color  string            `json:"color,omitempty"`      // Its color
	Labels map[string]string `json:"labels,omitempty"`     // Anything worth knowing
}

// Service keeps notes in memory.
type Service struct{ notes map[string]*Note }

// New returns a service with one note.
func New() *Service {
	first := &Note{ID: "n1", Title: "Buy milk", Labels: map[string]string{"shop": "corner", "when": "today"}}
	return &Service{notes: map[string]*Note{first.ID: first}}
}

// CreateNoteRequest describes the note to add.
type CreateNoteRequest struct {
	_     struct{} `aql:"category=CREATE"`
	Title string   `json:"title" aql:"required,minlen=1"` // Heading of the note
}

// CreateNote adds a note.
func (s *Service) CreateNote(ctx context.Context, req CreateNoteRequest) (*Note, error) {
	for _, n := range s.notes {
		if n.Title == req.Title {
			same := aql.Warning{Code: "SAME_TITLE_WARNING", Message: "Another note has this title"}
			aql.Warn(ctx, same.WithDetail("id", n.ID))
		}
	}
	n := &Note{ID: "n" + strconv.Itoa(len(s.notes)+1), Title: req.Title}
	s.notes[n.ID] = n
	return n, nil
}

// GetNoteRequest names the note to return.
type GetNoteRequest struct {
	_      struct{} `aql:"category=READ"`
	NoteID string   `json:"note_id" aql:"required"` // Which note
}

// GetNote returns a note.
func (s *Service) GetNote(req GetNoteRequest) (*Note, error) {
	n, ok := s.notes[req.NoteID]
	if !ok {
		return nil, aql.NotFound("note", req.NoteID)
	}
	return n, nil
}

// UpdateNoteRequest names a note and what changes in it.
type UpdateNoteRequest struct {
	_      struct{}        `aql:"category=UPDATE"`
	NoteID string          `json:"note_id" aql:"required"` // Which note
	Input  aql.Patch[Note] `json:"input"`
}

// UpdateNote changes a note. What is absent from input stays as it was.
func (s *Service) UpdateNote(req UpdateNoteRequest) (*Note, error) {
	n, err := s.GetNote(GetNoteRequest{NoteID: req.NoteID})
	if err != nil {
		return nil, err
	}
	return n, req.Input.Apply(n)
}

// PaintNoteRequest names a note and its new color.
type PaintNoteRequest struct {
	_      struct{} `aql:"category=UPDATE"`
	NoteID string   `json:"note_id" aql:"required"` // Which note
	Input  struct {
		Color aql.Optional[string] `json:"color"` // Its color; null removes it
	} `json:"input"`
}

// PaintNote changes the color of a note.
func (s *Service) PaintNote(req PaintNoteRequest) (*Note, error) {
	n, err := s.GetNote(GetNoteRequest{NoteID: req.NoteID})
	if err != nil {
		return nil, err
	}
	if color, given := req.Input.Color.Get(); given && color == "invisible" {
		return nil, aql.Errorf(aql.CodeInvalidEnum, "A note cannot be %s", color).WithDetail("param_name", "input.color")
	}
	req.Input.Color.Apply(&n.Color)
	return n, nil
}

// DeleteNoteRequest names the note to remove.
type DeleteNoteRequest struct {
	_      struct{} `aql:"category=DELETE,danger=destructive"`
	NoteID string   `json:"note_id" aql:"required"` // Which note
}

// DeleteNote removes a note for good.
//
//aql:confirm Delete note '{note_id}'? This cannot be undone.
func (s *Service) DeleteNote(req DeleteNoteRequest) error {
	delete(s.notes, req.NoteID)
	return nil
}
