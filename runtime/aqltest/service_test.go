package aqltest

import (
	"context"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// The service keeps notes in memory, declared in the form that the generator gives to declarations.

type note struct {
	NoteID string `json:"note_id"`
	Title  string `json:"title"`
	Owner  string `json:"owner"`
}

type noteRequest struct {
	NoteID string
	Title  string
}

type notes map[string]*note

func (n notes) registry(edit ...func(*aql.Definition)) *aql.Registry {
	operation := func(name string, category gen.Category, danger gen.Danger, returns string, run func(ctx context.Context, request *noteRequest) (*note, error), params ...aql.Row) aql.Operation {
		d := &aql.Definition{
			Name: name, Category: category, Danger: danger, Description: "Handles a note.", Params: params, Returns: returns,
			Types: [2]any{(*noteRequest)(nil), (**note)(nil)},
			Handler: func(ctx context.Context, _, request any) (any, error) {
				return run(ctx, request.(*noteRequest))
			},
		}
		for _, e := range edit {
			e(d)
		}
		return aql.Operation{Definition: d}
	}
	id := aql.Row{"NoteID note_id string required", "Which note"}
	title := aql.Row{"Title title string required,maxlen=20", "Heading of the note"}
	return aql.NewRegistry([]aql.Operation{
		operation("create_note", gen.Create, gen.Reversible, "Note", func(ctx context.Context, r *noteRequest) (*note, error) {
			made := &note{NoteID: "n" + r.Title, Title: r.Title, Owner: aql.CallerOf(ctx).Subject}
			n[made.NoteID] = made
			aql.Warn(ctx, aql.Warning{Code: "NOTE_WARNING", Message: "Notes are not kept"})
			return made, nil
		}, title),
		operation("get_note", gen.Read, gen.Safe, "Note", func(_ context.Context, r *noteRequest) (*note, error) {
			if found := n[r.NoteID]; found != nil {
				return found, nil
			}
			return nil, aql.NotFound("Note", r.NoteID)
		}, id),
		operation("delete_note", gen.Delete, gen.Destructive, "Note", func(_ context.Context, r *noteRequest) (*note, error) {
			gone := n[r.NoteID]
			delete(n, r.NoteID)
			if gone == nil {
				return nil, aql.NotFound("Note", r.NoteID)
			}
			return gone, nil
		}, id),
	}, []aql.Type{
		{Name: "Note", Kind: gen.KindObject, Fields: []aql.Row{{"NoteID note_id string"}, {"Title title string"}, {"Owner owner string"}}},
	})
}

func newAdapter(t *testing.T, options aql.Options) *aql.Adapter {
	t.Helper()
	adapter, err := aql.New(notes{}.registry(), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}
