package aqltest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
)

func TestCallTakesParametersInAnyForm(t *testing.T) {
	adapter := newAdapter(t, aql.Options{})
	type params struct {
		Title string `json:"title"`
	}
	for name, given := range map[string]any{
		"a struct":        params{"Milk"},
		"a map":           map[string]any{"title": "Milk"},
		"a string":        `{"title":"Milk"}`,
		"bytes":           []byte(`{"title":"Milk"}`),
		"a raw message":   json.RawMessage(`{"title":"Milk"}`),
		"a pointer to it": &params{"Milk"},
	} {
		t.Run(name, func(t *testing.T) {
			var got note
			Call(t, adapter, "create_note", given).Succeeds(t).Warns(t, "NOTE_WARNING").Decode(t, &got)
			if diff := cmp.Diff(note{NoteID: "nMilk", Title: "Milk"}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	Call(t, adapter, "create_note", nil).Fails(t, "VALIDATION_MISSING_PARAM")
}

// Calls find their tool, whatever the surface is.
func TestCallRoutes(t *testing.T) {
	for _, options := range []aql.Options{{}, {Mode: "single"}, {Mode: "all", Profile: "semantic", Prefix: "notes_"}} {
		adapter := newAdapter(t, options)
		Call(t, adapter, "create_note", `{"title":"Milk"}`).Succeeds(t)
		Call(t, adapter, "get_note", `{"note_id":"nMilk"}`).Succeeds(t)
		Call(t, adapter, "introspect", `{"query":"types"}`).Succeeds(t)
		Call(t, adapter, "paint_note", nil).Fails(t, "NOT_FOUND_OPERATION")
	}
}

func TestConfirmedGoesThroughTheConfirmation(t *testing.T) {
	adapter := newAdapter(t, aql.Options{})
	session := NewSession(t, adapter)
	session.Call("create_note", `{"title":"Milk"}`).Succeeds(t)
	session.Call("delete_note", `{"note_id":"nMilk"}`).Fails(t, "CONFIRMATION_REQUIRED")
	session.Call("get_note", `{"note_id":"nMilk"}`).Succeeds(t)
	session.Confirmed("delete_note", map[string]string{"note_id": "nMilk"}).Succeeds(t)
	Confirmed(t, adapter, "delete_note", `{"note_id":"nMilk"}`).Fails(t, "NOT_FOUND_RESOURCE")
}

func TestCallersAndContexts(t *testing.T) {
	session := NewSession(t, newAdapter(t, aql.Options{}))
	var got note
	session.As(aql.Caller{Subject: "ada"}).Call("create_note", `{"title":"Milk"}`).Decode(t, &got)
	if got.Owner != "ada" {
		t.Errorf("the caller is %q", got.Owner)
	}
	session.Call("create_note", `{"title":"Milk"}`).Decode(t, &got)
	if got.Owner != "" {
		t.Errorf("the caller is %q", got.Owner)
	}
}

func TestBatch(t *testing.T) {
	for _, options := range []aql.Options{{Mode: "single"}, {Mode: "all"}} {
		answer := NewSession(t, newAdapter(t, options)).Batch(
			Request{"create_note", `{"title":"Milk"}`}, Request{"get_note", `{"note_id":"n0"}`},
			Request{Operation: "paint_note"},
		).Succeeds(t)
		answer.Results[0].Succeeds(t)
		answer.Results[1].Fails(t, "NOT_FOUND_RESOURCE")
		answer.Results[2].Fails(t, "NOT_FOUND_OPERATION")
	}
	session := NewSession(t, newAdapter(t, aql.Options{}))
	halted := session.Batch(Request{"delete_note", `{"note_id":"n0"}`}, Request{"delete_note", `{"note_id":"n1"}`})
	if got := len(halted.Results); got != 0 {
		t.Errorf("%d results of a batch that halted", got)
	}
	session.Batch().Fails(t, "BATCH_VALIDATION_ERROR")
}

func TestSendTakesAnything(t *testing.T) {
	session := NewSession(t, newAdapter(t, aql.Options{}))
	session.Send("mcp_aql_read", `{"operation":`).Fails(t, "VALIDATION_MALFORMED_JSON")
	session.Send("mcp_aql_read",
		`{"operation":"create_note","params":{"title":"Milk"}}`).Fails(t, "VALIDATION_ENDPOINT_MISMATCH")
}

// What a test says is not so fails the test, with the request and the answer.
func TestFailuresAreTold(t *testing.T) {
	adapter := newAdapter(t, aql.Options{})
	for _, tt := range []struct {
		name  string
		test  func(tb testing.TB)
		says  string
		fatal bool
	}{
		{"a call that should succeed", func(tb testing.TB) { Call(tb, adapter, "get_note", `{"note_id":"n0"}`).Succeeds(tb) },
			`{"operation":"get_note","params":{"note_id":"n0"}}` +
				"\nfails with NOT_FOUND_RESOURCE: Resource 'Note' not found: 'n0'", false},
		{"a call that should fail",
			func(tb testing.TB) { Call(tb, adapter, "create_note", `{"title":"x"}`).Fails(tb, "NOT_FOUND_RESOURCE") },
			`succeeds with {"note_id":"nx","title":"x","owner":""}, want failure NOT_FOUND_RESOURCE`, false},
		{"a call that should fail otherwise",
			func(tb testing.TB) { Call(tb, adapter, "create_note", `{}`).Fails(tb, "NOT_FOUND_RESOURCE") },
			"fails with VALIDATION_MISSING_PARAM", false},
		{"data of a failure", func(tb testing.TB) { Call(tb, adapter, "create_note", `{}`).Decode(tb, new(note)) },
			"fails with VALIDATION_MISSING_PARAM", true},
		{"data that do not fit",
			func(tb testing.TB) { Call(tb, adapter, "create_note", `{"title":"x"}`).Decode(tb, new(int)) },
			"data that do not fit", true},
		{"a detail that is not there",
			func(tb testing.TB) { Call(tb, adapter, "create_note", `{}`).Detail(tb, "color", new(string)) },
			`has no detail "color"`, true},
		{"a detail that does not fit",
			func(tb testing.TB) { Call(tb, adapter, "create_note", `{}`).Detail(tb, "param_name", new(int)) },
			`has a detail "param_name" that does not fit`, true},
		{"a warning that is not there", func(tb testing.TB) {
			Call(tb, adapter, "create_note", `{"title":"x"}`).Warns(tb, "DEPRECATION_WARNING")
		}, "has no warning DEPRECATION_WARNING", false},
		{"an operation that does not ask", func(tb testing.TB) { Confirmed(tb, adapter, "create_note", `{"title":"x"}`) },
			"create_note runs without confirmation", false},
		{"parameters that are not JSON", func(tb testing.TB) { Call(tb, adapter, "create_note", `{`) },
			"use Session.Send", true},
		{"parameters that cannot be JSON", func(tb testing.TB) { Call(tb, adapter, "create_note", make(chan int)) },
			"writing the parameters of create_note as JSON", true},
		{"in a subtest", func(tb testing.TB) {
			NewSession(t, adapter).In(tb).Call("get_note", `{"note_id":"n0"}`).Succeeds(tb)
		}, "NOT_FOUND_RESOURCE", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record(t, tt.test)
			r.wants(t, tt.says)
			if r.ended != tt.fatal {
				t.Errorf("the test ended: %v, want %v", r.ended, tt.fatal)
			}
		})
	}
	asking := newAdapter(t, aql.Options{Confirmation: aql.Confirmation{HumanOnly: true}})
	r := record(t, func(tb testing.TB) { Confirmed(tb, asking, "delete_note", `{"note_id":"n0"}`) })
	if len(r.failures) != 1 {
		t.Errorf("failures where only humans confirm: %q", r.failures)
	}
}
