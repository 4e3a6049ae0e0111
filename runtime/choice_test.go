package aql_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/notes"
	"github.com/aqltag/aqltag/runtime/policy"
)

// The receiver of a call is chosen after the gate, once for each operation, with the context of the call. What goes
// wrong meanwhile is the operation's failure.
func TestReceiverOfACall(t *testing.T) {
	type label struct{}
	for _, tt := range []struct {
		name    string
		subject string
		request string
		chosen  int
		want    []string // parts of the answer
		logged  string
	}{
		{
			name: "the caller's own", subject: "alice", request: `{"operation":"get_note","params":{"note_id":"n1"}}`, chosen: 1,
			want: []string{`"title":"Buy milk"`},
		},
		{
			name: "an error for the agent", subject: "mallory", request: `{"operation":"get_note","params":{"note_id":"n1"}}`,
			chosen: 1, want: []string{`"code":"PERMISSION_DENIED"`, "No notes for this account"},
		},
		{
			name: "an error that is none of the agent's business", subject: "bob", chosen: 1,
			request: `{"operation":"get_note","params":{"note_id":"n1"}}`,
			want:    []string{`"code":"INTERNAL_ERROR"`}, logged: "connecting to db.internal",
		},
		{
			name: "a panic", subject: "eve", chosen: 1, request: `{"operation":"get_note","params":{"note_id":"n1"}}`,
			want: []string{`"code":"INTERNAL_ERROR"`}, logged: "no such tenant",
		},
		{
			name: "no receiver and no error", subject: "nobody", chosen: 1,
			request: `{"operation":"get_note","params":{"note_id":"n1"}}`,
			want:    []string{`"code":"INTERNAL_ERROR"`},
			logged:  "choosing the *notes.Service of a call: the function returned nil",
		},
		{
			name: "not for a request that is not valid", subject: "alice", request: `{"operation":"get_note"}`,
			want: []string{`"code":"VALIDATION_MISSING_PARAM"`},
		},
		{
			name: "not for a request that a policy denies", subject: "alice",
			request: `{"operation":"create_note","params":{"title":"x"}}`, want: []string{`"code":"PERMISSION_DENIED"`},
		},
		{
			name: "not for a request that needs a confirmation", subject: "alice",
			request: `{"operation":"delete_note","params":{"note_id":"n1"}}`, want: []string{`"code":"CONFIRMATION_REQUIRED"`},
		},
		{
			name: "not for introspection", subject: "alice", request: `{"operation":"introspect","params":{"query":"types"}}`,
			want: []string{`"success":true`},
		},
		{
			name: "for each item of a batch", subject: "alice", chosen: 2,
			request: `{"operations":[{"operation":"get_note","params":{"note_id":"n1"}},` +
				`{"operation":"get_note","params":{"note_id":"n9"}}]}`,
			want: []string{`"title":"Buy milk"`, `"code":"NOT_FOUND_RESOURCE"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chosen := 0
			registry := notes.NewRegistryFor(func(ctx context.Context) (*notes.Service, error) {
				if chosen++; ctx.Value(label{}) != "of the call" {
					t.Error("the context is not that of the call")
				}
				switch aql.CallerOf(ctx).Subject {
				case "alice":
					return notes.New(), nil
				case "mallory":
					return nil, aql.Denied("No notes for this account")
				case "eve":
					panic("no such tenant")
				case "nobody":
					return nil, nil
				default:
					return nil, errors.New("connecting to db.internal: refused")
				}
			})
			var log strings.Builder
			adapter, err := aql.New(registry, aql.Options{
				Name: "notes", Mode: aql.ModeSingle, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Policy: &policy.Policy{Rules: []policy.Rule{
					{Name: "no new notes", Operations: []string{"create_note"}, Effect: policy.Deny},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			session := adapter.NewSession()
			defer session.Close()
			ctx := aql.WithCaller(context.WithValue(t.Context(), label{}, "of the call"), aql.Caller{Subject: tt.subject})
			answer := string(session.Call(ctx, "mcp_aql", []byte(tt.request)).JSON)
			for _, want := range tt.want {
				if !strings.Contains(answer, want) {
					t.Errorf("%s is not in %s", want, answer)
				}
			}
			if chosen != tt.chosen {
				t.Errorf("chosen %d times, want %d", chosen, tt.chosen)
			}
			if !strings.Contains(log.String(), tt.logged) || strings.Contains(answer, "db.internal") {
				t.Errorf("answer: %s\nlog: %s", answer, &log)
			}
		})
	}
}
