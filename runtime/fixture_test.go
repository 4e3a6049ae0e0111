package aql

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// The fixture is a service of notes, declared in the form that the generator gives to declarations.

type noteRequest struct {
	NoteID string
	Title  string
	Limit  int
	Secret string
	Tags   []string
	Labels noteLabels
	Data   any
}

type noteLabels struct{ Color string }

type fixture struct {
	tb      testing.TB
	adapter *Adapter
	session *Session
	log     *bytes.Buffer
	now     time.Time
	ran     []string // titles or ids the handlers received
	fail    error    // what fail_note returns
}

var (
	noteID = Row{"NoteID note_id string required", "Which note"}
	title  = Row{"Title title string required,minlen=1,maxlen=20", "Heading of the note"}
	limit  = Row{"Limit limit integer default=25,min=1,max=100"}
	secret = Row{"Secret secret string sensitive,minlen=8"}
	tags   = Row{"Tags tags []string"}
	labels = Row{"Labels labels Labels"}
	anyOf  = Row{"Data data any"}
)

// noteHandler carries out an operation of the fixture.
type noteHandler func(ctx context.Context, request *noteRequest) (string, error)

func noteOperation(name string, category gen.Category, danger gen.Danger, run noteHandler, params ...Row) Operation {
	return Operation{Definition: &Definition{
		Name: name, Category: category, Danger: danger, Description: "Handles a note.", Params: params, Returns: "Note",
		Reasons: []string{"Removes the note for good"}, Confirm: "Delete note '{note_id}'? Secret {secret}, limit {limit}.",
		Types: [2]any{(*noteRequest)(nil), (*string)(nil)},
		Handler: func(ctx context.Context, _, request any) (any, error) {
			return run(ctx, request.(*noteRequest))
		},
	}}
}

var noteTypes = []Type{
	{Name: "Note", Kind: gen.KindScalar},
	{Name: "Labels", Kind: gen.KindObject, Fields: []Row{{"Color color string"}}},
}

func newFixture(tb testing.TB, options Options) *fixture {
	tb.Helper()
	f := &fixture{tb: tb, log: new(bytes.Buffer), now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	record := func(_ context.Context, request *noteRequest) (string, error) {
		f.ran = append(f.ran, request.Title+request.NoteID)
		return request.Title + request.NoteID, nil
	}
	nothing := noteOperation("nothing", gen.Execute, gen.Reversible, func(context.Context, *noteRequest) (string, error) { return "", nil })
	nothing.Definition.Types[1] = nil
	registry := NewRegistry([]Operation{
		noteOperation("create_note", gen.Create, gen.Reversible, record, title, limit, secret, tags, labels, anyOf),
		noteOperation("get_note", gen.Read, gen.Safe, record, noteID),
		noteOperation("delete_note", gen.Delete, gen.Destructive, record, noteID, limit, secret),
		noteOperation("wipe_notes", gen.Delete, gen.Forbidden, record),
		noteOperation("fail_note", gen.Execute, gen.Reversible, func(context.Context, *noteRequest) (string, error) { return "", f.fail }),
		noteOperation("panic_note", gen.Execute, gen.Reversible, func(context.Context, *noteRequest) (string, error) { panic("secret /src/notes.go:7") }),
		noteOperation("wait_note", gen.Execute, gen.Reversible, func(ctx context.Context, _ *noteRequest) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}),
		noteOperation("big_note", gen.Read, gen.Safe, func(context.Context, *noteRequest) (string, error) {
			return string(bytes.Repeat([]byte("x"), 2<<20)), nil
		}),
		nothing,
	}, noteTypes)
	options.Name, options.Version = "notes", "1.0.0"
	if options.Now == nil {
		options.Now = func() time.Time { return f.now }
	}
	options.Logger = slog.New(slog.NewTextHandler(f.log, nil))
	adapter, err := New(registry, options)
	if err != nil {
		tb.Fatal(err)
	}
	f.adapter, f.session = adapter, adapter.NewSession()
	return f
}

func (f *fixture) call(tool, request string) string {
	f.tb.Helper()
	reply := f.session.Call(context.Background(), tool, []byte(request))
	checkOfficial(f.tb, reply.JSON)
	return string(reply.JSON)
}

var errSecret = errors.New("pq: password authentication failed for user admin at /src/db.go:12")
