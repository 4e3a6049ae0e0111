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

// call is an operation on notes.
type call func(ctx context.Context, request *noteRequest) (*note, error)

// declare declares an operation in the form of generated code.
func declare(name string, category gen.Category, danger gen.Danger, run call, params ...gen.Field) gen.Handler {
	return gen.Handler{
		Name: name, Category: category, Danger: danger, Description: "Handles a note.", Params: params, Returns: "Note",
		Request: (*noteRequest)(nil), Result: (**note)(nil),
		Call: func(ctx context.Context, _ []any, request any) (any, error) {
			return run(ctx, request.(*noteRequest))
		},
	}
}

// registry declares the operations, and lets a test edit the declarations.
func (n notes) registry(edit ...func(*gen.Handler)) *aql.Registry {
	id := gen.Field{Name: "note_id", Go: "NoteID", Type: "string", Required: true, Description: "Which note"}
	title := gen.Field{
		Name: "title", Go: "Title", Type: "string", Required: true, Rules: gen.Rules{gen.MaxLen(20)},
		Description: "Heading of the note",
	}
	handlers := []gen.Handler{
		declare("create_note", gen.Create, gen.Reversible, n.create, title),
		declare("get_note", gen.Read, gen.Safe, n.get, id),
		declare("delete_note", gen.Delete, gen.Destructive, n.delete, id),
	}
	for i := range handlers {
		for _, e := range edit {
			e(&handlers[i])
		}
	}
	return gen.NewRegistry(handlers, []gen.WireType{
		{Name: "Note", Kind: gen.KindObject, Fields: []gen.Field{
			{Name: "note_id", Go: "NoteID", Type: "string"}, {Name: "title", Go: "Title", Type: "string"},
			{Name: "owner", Go: "Owner", Type: "string"},
		}},
	})
}

func (n notes) create(ctx context.Context, r *noteRequest) (*note, error) {
	created := &note{NoteID: "n" + r.Title, Title: r.Title, Owner: aql.CallerOf(ctx).Subject}
	n[created.NoteID] = created
	aql.Warn(ctx, aql.Warning{Code: "NOTE_WARNING", Message: "Notes are not kept"})
	return created, nil
}

func (n notes) get(_ context.Context, r *noteRequest) (*note, error) {
	if found := n[r.NoteID]; found != nil {
		return found, nil
	}
	return nil, aql.NotFound("Note", r.NoteID)
}

func (n notes) delete(ctx context.Context, r *noteRequest) (*note, error) {
	found, err := n.get(ctx, r)
	delete(n, r.NoteID)
	return found, err
}

func newAdapter(t *testing.T, options aql.Options) *aql.Adapter {
	t.Helper()
	adapter, err := aql.New(notes{}.registry(), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}
