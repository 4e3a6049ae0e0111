package conform

import (
	"context"
	"encoding/json"
	"testing"
)

// taken is a server whose identifiers are taken for the first calls.
type taken struct{ calls, free int }

func (s *taken) Tools(context.Context) ([]Tool, error) { return nil, nil }

func (s *taken) Call(context.Context, string, json.RawMessage) (Reply, error) {
	if s.calls++; s.calls < s.free {
		return Reply{Text: `{"success":false,"error":{"code":"CONFLICT_ALREADY_EXISTS","message":"It is taken"}}`}, nil
	}
	return Reply{Text: `{"success":true,"data":{"note_id":"a"}}`}, nil
}

// A resource whose identifier is taken is created with another one, and the run does not try for ever.
func TestCreateFixtureWithAnotherIdentifier(t *testing.T) {
	create := &operation{Name: "create_note", Category: "CREATE", Parameters: []param{
		{Name: "note_id", Type: "string", Required: true, Pattern: "^[a-z]$"},
	}}
	for name, tt := range map[string]struct {
		free    int
		created bool
	}{"free at once": {1, true}, "taken twice": {3, true}, "always taken": {1000, false}} {
		t.Run(name, func(t *testing.T) {
			p := newProber(t.Context(), &taken{free: tt.free}, Options{Seed: 1, CallTimeout: 1 << 40})
			r := &resource{noun: "note", create: create, id: "note_id"}
			if f := p.createFixture(r); (f != nil) != tt.created {
				t.Errorf("created %v, want %v", f, tt.created)
			}
		})
	}
}
