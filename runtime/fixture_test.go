package aql

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/wire"
)

// The fixture is a service of notes whose calls are written by hand in the form the generator gives them.

type noteCall struct {
	run     func(ctx context.Context, c *noteCall) (string, error)
	noteID  string
	title   string
	limit   int64
	secret  string
	tags    []string
	labels  map[string]string
	members []string // names the operation accepts
	needs   string   // its required parameter
	seen    map[string]bool
}

var labelFields = []string{"color"}

func (c *noteCall) member(r *wire.Reader) bool {
	name := r.Name()
	known := false
	for _, member := range c.members {
		known = known || member == name
	}
	if !known {
		return false
	}
	if r.Null() {
		return true
	}
	c.seen[name] = true
	switch name {
	case "note_id":
		c.noteID, _ = r.String()
	case "title":
		if s, ok := r.String(); ok && r.MinLength(s, 1) && r.MaxLength(s, 20) {
			c.title = s
		}
	case "secret":
		if s, ok := r.String(); ok && r.MinLength(s, 8) {
			c.secret = s
		}
	case "limit":
		if n, ok := r.Int(0); ok && wire.Min(r, n, int64(1)) && wire.Max(r, n, int64(100)) {
			c.limit = n
		}
	case "tags":
		if r.Array() {
			for r.NextElement() {
				s, _ := r.String()
				c.tags = append(c.tags, s)
			}
		}
	case "labels":
		if r.Object() {
			for r.Next() {
				switch r.Name() {
				case "color":
					s, _ := r.String()
					c.labels = map[string]string{"color": s}
				default:
					r.Unknown(labelFields)
				}
			}
		}
	case "data":
		r.Any()
	}
	return true
}

func (c *noteCall) complete(r *wire.Reader) {
	if c.needs != "" && !c.seen[c.needs] {
		r.Missing(c.needs, "string")
	}
	if !c.seen["limit"] {
		c.limit = 25
	}
}

func (c *noteCall) invoke(ctx context.Context, w *wire.Writer) error {
	answer, err := c.run(ctx, c)
	if err != nil {
		return err
	}
	if answer == "" {
		w.Null()
		return nil
	}
	w.String(answer)
	return nil
}

// registryOf makes a registry of calls that are written by hand.
func registryOf(entries []entry, types []Type) *Registry {
	r := NewRegistry(nil, types)
	r.operations = entries
	return Merge(r)
}

type fixture struct {
	tb      testing.TB
	adapter *Adapter
	session *Session
	log     *bytes.Buffer
	ran     []string // titles or ids the handlers received
	fail    error    // what fail_note returns
}

var (
	noteID = model.Param{Name: "note_id", Type: "string", Required: true, Description: "Which note"}
	title  = model.Param{Name: "title", Type: "string", Required: true, Description: "Heading of the note", MinLength: 1, MaxLength: 20}
	limit  = model.Param{Name: "limit", Type: "integer", Default: "25", Minimum: "1", Maximum: "100"}
	secret = model.Param{Name: "secret", Type: "string", Sensitive: true}
	tags   = model.Param{Name: "tags", Type: "array", Items: &model.Param{Type: "string"}}
	labels = model.Param{Name: "labels", Type: "Labels"}
	anyOf  = model.Param{Name: "data", Type: "any"}
)

func newFixture(tb testing.TB, options Options) *fixture {
	tb.Helper()
	f := &fixture{tb: tb, log: new(bytes.Buffer)}
	record := func(_ context.Context, c *noteCall) (string, error) {
		f.ran = append(f.ran, c.title+c.noteID)
		return c.title + c.noteID, nil
	}
	operation := func(name string, category model.Category, danger model.Danger, run func(context.Context, *noteCall) (string, error), params ...model.Param) entry {
		definition := model.Operation{
			Name: name, Category: category, Danger: danger, Description: "Handles a note.", Params: params,
			Returns: model.Returns{Name: "Note", Kind: model.KindScalar},
			Reasons: []string{"Removes the note for good"}, Confirm: "Delete note '{note_id}'? Secret {secret}, limit {limit}.",
		}
		return entry{definition: definition, newCall: func() call {
			c := &noteCall{run: run, seen: map[string]bool{}}
			for _, p := range params {
				c.members = append(c.members, p.Name)
				if p.Required {
					c.needs = p.Name
				}
			}
			return c
		}}
	}
	registry := registryOf([]entry{
		operation("create_note", model.Create, model.Reversible, record, title, limit, secret, tags, labels, anyOf),
		operation("get_note", model.Read, model.Safe, record, noteID),
		operation("delete_note", model.Delete, model.Destructive, record, noteID, limit, secret),
		operation("wipe_notes", model.Delete, model.Forbidden, record),
		operation("fail_note", model.Execute, model.Reversible, func(context.Context, *noteCall) (string, error) { return "", f.fail }),
		operation("panic_note", model.Execute, model.Reversible, func(context.Context, *noteCall) (string, error) { panic("secret /src/notes.go:7") }),
		operation("wait_note", model.Execute, model.Reversible, func(ctx context.Context, _ *noteCall) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}),
		operation("big_note", model.Read, model.Safe, func(context.Context, *noteCall) (string, error) {
			return string(bytes.Repeat([]byte("x"), 2<<20)), nil
		}),
		operation("nothing", model.Execute, model.Reversible, func(context.Context, *noteCall) (string, error) { return "", nil }),
	}, []Type{
		{Name: "Note", Kind: model.KindScalar},
		{Name: "Labels", Kind: model.KindObject, Fields: []Row{{"Color color string"}}},
	})
	options.Name, options.Version = "notes", "1.0.0"
	options.Logger = slog.New(slog.NewTextHandler(f.log, nil))
	adapter, err := New(registry, options)
	if err != nil {
		tb.Fatal(err)
	}
	f.adapter, f.session = adapter, adapter.NewSession()
	f.session.now = func() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }
	return f
}

func (f *fixture) call(tool, request string) string {
	f.tb.Helper()
	reply := f.session.Call(context.Background(), tool, []byte(request))
	checkOfficial(f.tb, reply.JSON)
	return string(reply.JSON)
}

var errSecret = errors.New("pq: password authentication failed for user admin at /src/db.go:12")

func introspectLike(name, source string) model.Operation {
	return model.Operation{Name: name, Category: model.Read, Danger: model.Safe, Source: source, Returns: model.Returns{Name: "Note", Kind: model.KindScalar}}
}
