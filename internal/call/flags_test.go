package call_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/internal/call"
)

// asking is a server that asks a question before it does what it is called for (MCP elicitation).
type asking struct {
	fake
	caller   *call.Caller
	question string
	approved bool
}

func (s *asking) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	if !bytes.Contains(arguments, []byte(`"introspect"`)) {
		approved, err := s.caller.Approve(ctx, s.question)
		if err != nil {
			return conform.Reply{}, err
		}
		if s.approved = approved; !approved {
			return conform.Reply{Text: `{"success":false,"error":{"code":"PERMISSION_DENIED","message":"Not approved"}}`}, nil
		}
	}
	return s.fake.Call(ctx, tool, arguments)
}

// REQ-CT-05: a flag confirms the operation that was called, at its level, and nothing else that a server asks about.
func TestFlagsConfirmOnlyTheCall(t *testing.T) {
	const ours = "Sure?\n\nThe agent wants to run operation 'drop_notes' (danger: destructive)."
	for _, tt := range []struct {
		name, question string
		dangerous      bool // the flag
		typed          *string
		approved       bool
		shows          string
	}{
		{name: "the confirmation of the call", question: ours, approved: true},
		{name: "the confirmation of another operation", question: strings.Replace(ours, "drop_notes", "drop_users", 1),
			shows: "The question is about drop_users too. A flag confirms only drop_notes."},
		{name: "of two operations", question: ours + "\nThe agent wants to run operation 'drop_users' (danger: safe).",
			shows: "The question is about drop_users too."},
		{name: "of the call at a higher level", question: strings.Replace(ours, "destructive", "dangerous", 1)},
		{name: "of the call at a higher level, and the flag for that", dangerous: true, approved: true,
			question: strings.Replace(ours, "destructive", "dangerous", 1)},
		{name: "of the call without a level", question: "Run operation 'drop_notes'?",
			shows: "does not say which operation it is about, and how dangerous"},
		{name: "a question that names nothing", question: "Delete the whole account?", dangerous: true,
			shows: "does not say which operation"},
		{name: "which a person may answer", question: "Delete the whole account?", typed: new("y"), approved: true},
		{name: "which a person may decline", question: "Delete the whole account?", typed: new("n")},
		{name: "of an operation whose name begins like it",
			question: strings.Replace(ours, "drop_notes", "drop_notes_all", 1),
			shows:    "about drop_notes_all too"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := &asking{question: tt.question, fake: fake{
				protocol: `"capabilities":{"confirmation":true}`, reported: `,"danger_level":"destructive"`,
				params: `{"name":"confirmation_token","type":"string"}`,
			}}
			var said bytes.Buffer
			server.caller = &call.Caller{Say: &said, Yes: true, YesDangerous: tt.dangerous}
			if tt.typed != nil {
				server.caller.Ask = func(context.Context, string) (string, error) { return *tt.typed, nil }
			}
			surface, err := conform.Look(t.Context(), server, conform.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o, err := surface.Operation(t.Context(), "drop_notes")
			if err != nil {
				t.Fatal(err)
			}
			server.caller.Surface = surface
			_, err = server.caller.Call(t.Context(), o, json.RawMessage(`{}`))
			if server.approved != tt.approved || errors.Is(err, call.ErrUnconfirmed) == tt.approved {
				t.Errorf("approved %v, error %v", server.approved, err)
			}
			if !strings.Contains(said.String(), tt.shows) {
				t.Errorf("%q is not shown:\n%s", tt.shows, &said)
			}
			if doubted := tt.shows != "" || tt.typed != nil; server.caller.Doubted() != doubted {
				t.Errorf("doubted: %v", !doubted)
			}
		})
	}
}

// A token for another operation is not sent because of a flag.
func TestFlagsConfirmOnlyTheToken(t *testing.T) {
	server := fake{protocol: `"capabilities":{"confirmation":true}`, reported: `,"danger_level":"destructive"`,
		params:  `{"name":"confirmation_token","type":"string"}`,
		answers: []string{strings.Replace(confirmation("destructive", "Sure?"), `"drop_notes"`, `"drop_users"`, 1)}}
	surface, o := server.look(t)
	var said bytes.Buffer
	c := call.Caller{Surface: surface, Say: &said, Yes: true}
	answer, err := c.Call(t.Context(), o, json.RawMessage(`{}`))
	if !errors.Is(err, call.ErrUnconfirmed) || len(server.got) != 1 || !call.AsksForConfirmation(answer) {
		t.Errorf("error %v after %q", err, server.got)
	}
	if !strings.Contains(said.String(), "The server asks about drop_users. A flag confirms only drop_notes.") {
		t.Errorf("not shown:\n%s", &said)
	}
}

// What is known of an operation is said, and no more.
func TestWhatIsKnown(t *testing.T) {
	broken := errors.New("interrupted")
	for _, tt := range []struct {
		name, question string
		server         fake
		want           string
	}{
		{name: "before it was called", want: "interrupted; nothing was sent"},
		{name: "after the server asked for a confirmation", want: "interrupted; the confirmation was not sent",
			server: fake{protocol: `"capabilities":{"confirmation":true}`,
				params:  `{"name":"confirmation_token","type":"string"}`,
				answers: []string{confirmation("destructive", "Sure?")}}},
		{name: "while the server asked", question: "Sure?",
			want: "conform: interrupted; whether drop_notes was carried out is not known",
			server: fake{protocol: `"capabilities":{"confirmation":true}`,
				params: `{"name":"confirmation_token","type":"string"}`}},
	} {
		tt.server.reported = `,"danger_level":"destructive"`
		var server conform.Server = &tt.server
		c := &call.Caller{Say: new(bytes.Buffer), Ask: func(context.Context, string) (string, error) { return "", broken }}
		if tt.question != "" {
			server = &asking{fake: tt.server, caller: c, question: tt.question}
		}
		surface, err := conform.Look(t.Context(), server, conform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := surface.Operation(t.Context(), "drop_notes")
		if err != nil {
			t.Fatal(err)
		}
		c.Surface = surface
		if _, err := c.Call(t.Context(), o, json.RawMessage(`{}`)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}
