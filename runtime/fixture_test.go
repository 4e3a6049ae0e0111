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
	Dry    bool
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
	noteID = gen.Field{Name: "note_id", Go: "NoteID", Type: "string", Required: true, Description: "Which note"}
	title  = gen.Field{Name: "title", Go: "Title", Type: "string", Required: true,
		Rules: gen.Rules{gen.MinLen(1), gen.MaxLen(20)}, Description: "Heading of the note"}
	limit = gen.Field{Name: "limit", Go: "Limit", Type: "integer",
		Rules: gen.Rules{gen.Default("25"), gen.Min("1"), gen.Max("100")}}
	secret = gen.Field{Name: "secret", Go: "Secret", Type: "string", Sensitive: true, Rules: gen.Rules{gen.MinLen(8)}}
	tags   = gen.Field{Name: "tags", Go: "Tags", Type: "array", Items: &gen.Field{Type: "string"}}
	labels = gen.Field{Name: "labels", Go: "Labels", Type: "Labels"}
	anyOf  = gen.Field{Name: "data", Go: "Data", Type: "any"}
)

// noteHandler carries out an operation of the fixture.
type noteHandler func(ctx context.Context, request *noteRequest) (string, error)

func noteOperation(name string, category gen.Category, danger gen.Danger, run noteHandler,
	params ...gen.Field) gen.Handler {
	return gen.Handler{
		Name: name, Category: category, Danger: danger, Description: "Handles a note.", Params: params, Returns: "Note",
		Reasons: []string{"Removes the note for good"}, Confirm: "Delete note '{note_id}'? Secret {secret}, limit {limit}.",
		Request: (*noteRequest)(nil), Result: (*string)(nil),
		Call: func(ctx context.Context, _ []any, request any) (any, error) {
			return run(ctx, request.(*noteRequest))
		},
	}
}

var noteTypes = []gen.WireType{
	{Name: "Note", Kind: gen.KindScalar},
	{Name: "Labels", Kind: gen.KindObject, Fields: []gen.Field{{Name: "color", Go: "Color", Type: "string"}}},
}

func newFixture(tb testing.TB, options Options) *fixture {
	tb.Helper()
	f := &fixture{tb: tb, log: new(bytes.Buffer), now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	record := func(_ context.Context, request *noteRequest) (string, error) {
		f.ran = append(f.ran, request.Title+request.NoteID)
		return request.Title + request.NoteID, nil
	}
	nothing := noteOperation("nothing", gen.Execute, gen.Reversible,
		func(context.Context, *noteRequest) (string, error) { return "", nil })
	nothing.Result = nil
	registry := gen.NewRegistry([]gen.Handler{
		noteOperation("create_note", gen.Create, gen.Reversible, record, title, limit, secret, tags, labels, anyOf),
		noteOperation("get_note", gen.Read, gen.Safe, record, noteID),
		noteOperation("delete_note", gen.Delete, gen.Destructive, record, noteID, limit, secret),
		noteOperation("wipe_notes", gen.Delete, gen.Forbidden, record),
		noteOperation("fail_note", gen.Execute, gen.Reversible,
			func(context.Context, *noteRequest) (string, error) { return "", f.fail }),
		noteOperation("panic_note", gen.Execute, gen.Reversible,
			func(context.Context, *noteRequest) (string, error) { panic("secret /src/notes.go:7") }),
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
