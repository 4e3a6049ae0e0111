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

// typing is a server that has a person type a text before it does what it is called for.
type typing struct {
	fake
	caller *call.Caller
	typed  string
}

func (s *typing) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	if bytes.Contains(arguments, []byte(`"introspect"`)) {
		return s.fake.Call(ctx, tool, arguments)
	}
	var err error
	s.typed, err = s.caller.Type(ctx, "The agent wants to run operation 'drop_notes' (danger: dangerous).", "Type n1")
	if err == nil && s.typed != "n1" {
		return conform.Reply{Text: `{"success":false,"error":{"code":"PERMISSION_DENIED","message":"Not typed"}}`}, nil
	}
	return s.fake.Call(ctx, tool, arguments)
}

// A person types what the server asks for, and no flag does that.
func TestTyping(t *testing.T) {
	for name, tt := range map[string]struct {
		person      *string // what a person types; nil: there is none
		sent, shows string
		unconfirmed bool
	}{
		"the text":     {new(" n1\n"), "n1", "drop_notes is DELETE, dangerous.\n  The agent wants", false},
		"another text": {new("n2"), "n2", "", false},
		"nothing":      {new(""), "", "", true},
		"flags alone":  {nil, "", "A person has to type this at a terminal; no flag does.", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := &typing{fake: fake{
				protocol: `"capabilities":{"confirmation":true}`, reported: `,"danger_level":"destructive"`,
				params: `{"name":"confirmation_token","type":"string"}`,
			}}
			var said bytes.Buffer
			prompted := ""
			server.caller = &call.Caller{Say: &said, Yes: true, YesDangerous: true}
			if tt.person != nil {
				server.caller.Ask = func(_ context.Context, prompt string) (string, error) {
					prompted = prompt
					return *tt.person, nil
				}
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
			if server.typed != tt.sent || errors.Is(err, call.ErrUnconfirmed) != tt.unconfirmed ||
				!strings.Contains(said.String(), tt.shows) || tt.person != nil && prompted != "Type n1: " {
				t.Errorf("typed %q, error %v, prompt %q, shown:\n%s", server.typed, err, prompted, &said)
			}
		})
	}
}
