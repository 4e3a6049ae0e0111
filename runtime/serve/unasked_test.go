package serve

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/operator"
)

// An adapter says at its start which operations can never run because no person can be asked, and what to do.
func TestWarningOfNobody(t *testing.T) {
	noteID := gen.Field{Name: "note_id", Go: "NoteID", Type: "string", Required: true}
	operation := func(name, typed string) gen.Handler {
		return gen.Handler{
			Name: name, Category: gen.Delete, Danger: gen.Destructive, Returns: "Nothing", TypeToConfirm: typed,
			Params: []gen.Field{noteID}, Request: (*struct{ NoteID string })(nil),
			Call: func(context.Context, []any, any) (any, error) { return nil, nil },
		}
	}
	registry := gen.NewRegistry([]gen.Handler{
		operation("delete_board", "note_id"), operation("delete_note", "note_id"), operation("drop_note", ""),
	}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}})
	withInbox := aql.Options{Confirmation: aql.Confirmation{Inbox: approve.New}}
	personal := available("drop_note")
	personal.Confirmation.HumanOnly = true
	for name, tt := range map[string]struct {
		options Options
		wants   []string // empty: no warning
	}{
		"no subcommand":    {Options{}, []string{"Nobody can call", "delete_board, delete_note", "add Operator", "-state"}},
		"the subcommand":   {Options{Operator: operator.Command{}}, []string{"Nobody can call", "cure=\"start", "-state"}},
		"clients that ask": {Options{MCP: mcpserver.Options{Elicit: true}}, []string{"Only clients that ask their user"}},
		"people alone, without the subcommand": {Options{Adapter: personal},
			[]string{"Nobody can confirm", "cure=\"add Operator", "-state"}},
		"people alone, whose clients ask": {Options{Adapter: personal, MCP: mcpserver.Options{Elicit: true}},
			[]string{"Only clients that ask their user can confirm", "add Operator"}},
		"an inbox":          {Options{Adapter: withInbox}, nil},
		"one of them is on": {Options{Adapter: available("delete_board")}, []string{"operations=delete_board cure"}},
		"none of them is":   {Options{Adapter: available("drop_note")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelWarn}))
			tt.options.Name = "notes"
			applied := settings{state: memory, mode: "semantic"}.apply(tt.options, log)
			adapter, err := aql.New(registry, applied)
			if err != nil {
				t.Fatal(err)
			}
			warnOfNobody(registry, adapter, applied.Confirmation, tt.options, log)
			if len(tt.wants) == 0 && text.Len() > 0 {
				t.Errorf("it warns: %s", &text)
			}
			for _, want := range tt.wants {
				if !strings.Contains(text.String(), want) {
					t.Errorf("%s\nlacks %q", &text, want)
				}
			}
			if strings.Contains(text.String(), "drop_note") {
				t.Errorf("it warns of an operation that needs no person: %s", &text)
			}
		})
	}
}

func available(operations ...string) aql.Options {
	return aql.Options{Available: aql.Available{Operations: operations}}
}
