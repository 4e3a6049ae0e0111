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

func (n notes) registry(edit ...func(*gen.Handler)) *aql.Registry {
	operation := func(name string, category gen.Category, danger gen.Danger, returns string, run func(ctx context.Context, request *noteRequest) (*note, error), params ...gen.Field) gen.Handler {
		d := &gen.Handler{
			Name: name, Category: category, Danger: danger, Description: "Handles a note.", Params: params, Returns: returns,
			Request: (*noteRequest)(nil), Result: (**note)(nil),
			Call: func(ctx context.Context, _ []any, request any) (any, error) {
				return run(ctx, request.(*noteRequest))
			},
		}
		for _, e := range edit {
			e(d)
		}
		return *d
	}
	id := gen.Field{Name: "note_id", Go: "NoteID", Type: "string", Required: true, Description: "Which note"}
	title := gen.Field{Name: "title", Go: "Title", Type: "string", Required: true, Rules: gen.Rules{gen.MaxLen(20)}, Description: "Heading of the note"}
	return gen.NewRegistry([]gen.Handler{
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
	}, []gen.WireType{
		{Name: "Note", Kind: gen.KindObject, Fields: []gen.Field{{Name: "note_id", Go: "NoteID", Type: "string"}, {Name: "title", Go: "Title", Type: "string"}, {Name: "owner", Go: "Owner", Type: "string"}}},
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
