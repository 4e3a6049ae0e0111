package aql

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
)

// typedFixture is an adapter in which a person types note_id before delete_note runs, and limit before trim_notes does.
func typedFixture(t *testing.T, options Options) *desk {
	t.Helper()
	f := &fixture{tb: t}
	record := func(_ context.Context, request *noteRequest) (string, error) {
		f.ran = append(f.ran, request.NoteID)
		return request.NoteID, nil
	}
	required := limit
	required.Required, required.Rules = true, nil
	dry := gen.Field{Name: "dry_run", Go: "Dry", Type: "boolean", Rules: gen.Rules{gen.DryRun{}}}
	deletes := noteOperation("delete_note", gen.Delete, gen.Destructive, record, noteID, secret, dry)
	trims := noteOperation("trim_notes", gen.Delete, gen.Dangerous, record, required)
	deletes.TypeToConfirm, trims.TypeToConfirm = "note_id", "limit"
	registry := gen.NewRegistry([]gen.Handler{
		deletes, trims, noteOperation("wipe_notes", gen.Delete, gen.Destructive, record),
	}, noteTypes)
	options.Name, options.Version = "notes", "1.0.0"
	adapter, err := New(registry, options)
	if err != nil {
		t.Fatal(err)
	}
	f.adapter, f.session = adapter, adapter.NewSession()
	f.now = adapter.options.Now()
	return &desk{f, options.State, approve.New(options.State)}
}

const trim = `{"operation":"trim_notes","params":{"limit":25}}`

// A person types the value of a parameter before the call runs. Nothing else approves, however the adapter is set up.
func TestTypeToConfirm(t *testing.T) {
	for name, tt := range map[string]struct {
		options Options
		request string
		answer  Answer
		value   string // that the person is to type
		want    string // the code; empty: it runs
		says    string
	}{
		"the value":        {Options{}, deleteN1, Answer{Typed: "n1"}, "n1", "", ""},
		"blanks around it": {Options{}, deleteN1, Answer{Typed: " n1\t"}, "n1", "", ""},
		"a number":         {Options{}, trim, Answer{Typed: "25"}, "25", "", ""},
		"another value":    {Options{}, deleteN1, Answer{Typed: "n2"}, "n1", "PERMISSION_DENIED", "typed something else"},
		"capital letters":  {Options{}, deleteN1, Answer{Typed: "N1"}, "n1", "PERMISSION_DENIED", "typed something else"},
		"approval alone":   {Options{}, deleteN1, Answer{Approved: true}, "n1", "PERMISSION_DENIED", "did not approve"},
		"nothing":          {Options{}, deleteN1, Answer{}, "n1", "PERMISSION_DENIED", "did not approve"},
		"approval and wrong": {
			Options{}, deleteN1, Answer{Approved: true, Typed: "x"}, "n1", "PERMISSION_DENIED", "typed something else",
		},
		"confirmation is off": {
			Options{Confirmation: Confirmation{Off: true}}, deleteN1, Answer{Approved: true}, "n1", "PERMISSION_DENIED",
			"did not approve",
		},
		"the policy allows it": {
			Options{Policy: &policy.Policy{Rules: []policy.Rule{
				{Name: "all", Effect: policy.Allow, Operations: []string{"*"}},
			}}},
			deleteN1, Answer{Approved: true}, "n1", "PERMISSION_DENIED", "did not approve",
		},
		"only people confirm": {
			Options{Confirmation: Confirmation{HumanOnly: true}}, deleteN1, Answer{Typed: "n1"}, "n1", "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := typedFixture(t, tt.options)
			ctx := d.adapter.WithAsker(context.Background())
			asked := d.session.Call(ctx, "mcp_aql_delete", []byte(tt.request))
			if asked.Question == nil || asked.Question.Typing.Value != tt.value ||
				strings.Contains(string(asked.JSON), "conf_") || len(d.ran) > 0 {
				t.Fatalf("asked %+v, and answered %s", asked.Question, asked.JSON)
			}
			state, err := d.session.Seal(ctx, asked.Question)
			if err != nil {
				t.Fatal(err)
			}
			tt.answer.State = state
			reply := d.session.Call(WithAnswer(ctx, tt.answer), "mcp_aql_delete", []byte(tt.request))
			var got told
			if err := json.Unmarshal(reply.JSON, &got); err != nil {
				t.Fatal(err)
			}
			ran := 0
			if tt.want == "" {
				ran = 1
			}
			if got.Error.Code != tt.want || !strings.Contains(got.Error.Message, tt.says) || len(d.ran) != ran {
				t.Errorf("%s, ran %d times; want %q", reply.JSON, len(d.ran), tt.want)
			}
			again := d.session.Call(WithAnswer(ctx, Answer{State: state, Typed: tt.value}), "mcp_aql_delete", []byte(tt.request))
			if len(d.ran) != ran {
				t.Errorf("one question lets the request run twice: %s", again.JSON)
			}
		})
	}
}

// No token that an agent presents confirms, and it gets none: alone, and in a batch.
func TestNoTokenConfirmsWhatIsTyped(t *testing.T) {
	d := typedFixture(t, Options{})
	wiped := d.session.Call(context.Background(), "mcp_aql_delete", []byte(`{"operation":"wipe_notes"}`))
	var token told
	if err := json.Unmarshal(wiped.JSON, &token); err != nil || token.Error.Details.Token == "" {
		t.Fatalf("an operation without typing gets a token: %s", wiped.JSON)
	}
	asked := d.session.Call(d.adapter.WithAsker(context.Background()), "mcp_aql_delete", []byte(deleteN1))
	for _, presented := range []string{token.Error.Details.Token, asked.Question.token} {
		for _, form := range []string{
			`{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"` + presented + `"}}`,
			`{"operation":"delete_note","_confirmation":"` + presented + `","params":{"note_id":"n1"}}`,
			`{"operations":[{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"` + presented + `"}}]}`,
			`{"operations":[{"operation":"delete_note","params":{"note_id":"n1"}}]}`,
		} {
			text := d.call("mcp_aql_delete", form)
			if len(d.ran) > 0 || strings.Contains(text, "conf_") || !strings.Contains(text, `"code":"PERMISSION_DENIED"`) &&
				!strings.Contains(text, `"code":"VALIDATION_UNKNOWN_PARAM"`) {
				t.Errorf("%s: %s", form, text)
			}
		}
	}
}

// What a person cannot type as it is shown is denied, and nobody is asked.
func TestWhatNobodyCanType(t *testing.T) {
	for name, value := range map[string]string{
		"blank": " ", "empty": "", "long": strings.Repeat("x", maxShown+1), "with a line break": "a\nb",
		"with a character that cannot be seen": "a\u200bb", "written backwards": "a\u202eb",
		"with a blank before": " n1", "with a blank behind": "n1 ", "with a tab": "n1\t", "with a last line break": "n1\n",
		"with a wide blank": "n1\u3000", "with a hard blank": "\u00a0n1", "with a next line": "n1\u0085",
	} {
		t.Run(name, func(t *testing.T) {
			d := typedFixture(t, Options{})
			quoted, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			reply := d.session.Call(context.Background(), "mcp_aql_delete",
				[]byte(`{"operation":"delete_note","params":{"note_id":`+string(quoted)+`}}`))
			if reply.Question != nil || !strings.Contains(string(reply.JSON), "nobody can type the one of this request") {
				t.Errorf("%+v: %s", reply.Question, reply.JSON)
			}
		})
	}
}

// Without a client that asks, the request waits in the inbox, also in a batch, and a vote has to have the value.
func TestTypeToConfirmInTheInbox(t *testing.T) {
	d := typedFixture(t, Options{State: new(store.Memory), Confirmation: Confirmation{Inbox: approve.New}})
	id := d.ask("ann", deleteN1)
	item, err := d.inbox.Get(t.Context(), id)
	if want := (approve.Typing{Param: "note_id", Value: "n1"}); err != nil || item.Typing != want {
		t.Fatalf("the item has %+v, %v; want %+v", item.Typing, err, want)
	}
	for _, typed := range []string{"", "n2", "approve"} {
		vote := approve.Vote{By: Caller{Subject: "eve", Issuer: "test"}, Approve: true, Typed: typed, At: d.now}
		if _, err := d.inbox.Vote(t.Context(), id, vote); !errors.Is(err, approve.ErrMistyped) {
			t.Errorf("a vote with %q: %v", typed, err)
		}
	}
	if got := d.send("ann", deleteN1); got.Error.Details.ApprovalID != id || len(d.ran) > 0 {
		t.Fatalf("after votes that do not count: %+v", got)
	}
	ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
	batch := d.adapter.NewSession().Call(ctx, "mcp_aql_delete", []byte(`{"operations":[`+deleteN1+`]}`))
	if !strings.Contains(string(batch.JSON), `"approval_id":"`+id+`"`) || len(d.ran) > 0 {
		t.Errorf("a batch: %s", batch.JSON)
	}
	vote := approve.Vote{By: Caller{Subject: "eve", Issuer: "test"}, Approve: true, Typed: "n1 ", At: d.now}
	if _, err := d.inbox.Vote(t.Context(), id, vote); err != nil {
		t.Fatal(err)
	}
	if got := d.send("ann", deleteN1); !got.Success || !slices.Equal(d.ran, []string{"n1"}) {
		t.Errorf("after a vote with the value: %+v, ran %q", got, d.ran)
	}
}

// An approval that was given without typing, under definitions without it, counts no more.
func TestApprovalsOfOtherTyping(t *testing.T) {
	inbox := approve.New(new(store.Memory))
	d := typedFixture(t, Options{})
	q := approve.Question{Kind: approve.Confirmation, Caller: Caller{Subject: "ann"}, At: d.now, Lifetime: 5e9}
	item, _, err := inbox.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	vote := approve.Vote{By: Caller{Subject: "eve"}, Approve: true, At: d.now}
	if _, err := inbox.Vote(t.Context(), item.ID, vote); err != nil {
		t.Fatal(err)
	}
	q.Typing = approve.Typing{Param: "note_id", Value: "n1"}
	if found, err := inbox.Find(t.Context(), q); err != nil || found.ID != "" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// A definition whose requests may lack what is typed, or would not show it, makes no adapter.
func TestWhatCannotBeTyped(t *testing.T) {
	for _, param := range []string{"limit", "secret", "tags", "labels", "nowhere"} {
		handler := noteOperation("delete_note", gen.Delete, gen.Destructive, nil, noteID, limit, secret, tags, labels)
		handler.Call = func(context.Context, []any, any) (any, error) { return nil, nil }
		handler.TypeToConfirm = param
		_, err := New(gen.NewRegistry([]gen.Handler{handler}, noteTypes), Options{Name: "notes"})
		if err == nil || !strings.Contains(err.Error(), `people type "`+param+`" to confirm it`) {
			t.Errorf("%s: %v", param, err)
		}
	}
}

// Introspection says that a person types, and that no token is taken.
func TestAgentsAreToldWhoTypes(t *testing.T) {
	d := typedFixture(t, Options{})
	text := d.call("mcp_aql_read",
		`{"operation":"introspect","params":{"query":"operations","name":"delete_note"}}`)
	const want = "Before it runs, a person types the value of note_id. [danger: destructive; " +
		"confirmation required from the user unless it is a dry run]"
	if !strings.Contains(text, want) || strings.Contains(text, "confirmation_token") {
		t.Errorf("%s\nhas no %q, or a token", text, want)
	}
}

// A dry run changes nothing, so nobody types before it.
func TestDryRunsNeedNoTyping(t *testing.T) {
	d := typedFixture(t, Options{})
	text := d.call("mcp_aql_delete", `{"operation":"delete_note","params":{"note_id":"n1","dry_run":true}}`)
	if !strings.HasPrefix(text, `{"success":true`) {
		t.Error(text)
	}
}
