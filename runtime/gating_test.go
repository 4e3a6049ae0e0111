package aql

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/words"
)

type confirmation struct {
	Success bool
	Data    any
	Error   struct {
		Code, Message string
		Details       map[string]any
	}
}

func (f *fixture) confirm(t *testing.T, request string) confirmation {
	t.Helper()
	var c confirmation
	if err := json.Unmarshal([]byte(f.call("mcp_aql_delete", request)), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func (f *fixture) token(t *testing.T, request string) string {
	t.Helper()
	token, _ := f.confirm(t, request).Error.Details["confirmation_token"].(string)
	if token == "" {
		t.Fatalf("no token for %s", request)
	}
	return token
}

const deleteN1 = `{"operation":"delete_note","params":{"note_id":"n1"}}`

// REQ-CT-04, REQ-DL-04: without a token the handler does not run, and the answer says what to do.
func TestDestructiveOperationAsks(t *testing.T) {
	f := newFixture(t, Options{})
	got := f.confirm(t, `{"operation":"delete_note","params":{"note_id":"n1","secret":"hunter2hunter2"}}`)
	token := got.Error.Details["confirmation_token"]
	want := map[string]any{
		"operation": "delete_note", "danger_level": "destructive", "reasons": []any{"Removes the note for good"},
		"confirmation_message": "Delete note 'n1'? Secret ***, limit 25.", "confirmation_token": token,
		"expires_at": "2026-03-01T09:05:00.000Z",
		"hint":       "Ask the user. If they agree, send the same request again with this confirmation_token in its params.",
	}
	if diff := cmp.Diff(want, got.Error.Details); diff != "" || got.Error.Code != "CONFIRMATION_REQUIRED" ||
		got.Error.Message != "This operation requires confirmation" {
		t.Errorf("%s %s, details (-want +got):\n%s", got.Error.Code, got.Error.Message, diff)
	}
	if len(f.ran) > 0 {
		t.Error("the handler ran")
	}
	if log := f.log.String(); strings.Contains(log, "hunter2") || strings.Contains(log, token.(string)) {
		t.Errorf("the log shows a secret: %s", log)
	}
}

// T-01: both spellings, in both places.
func TestTokenSpellings(t *testing.T) {
	for name, retry := range map[string]string{
		"confirmation_token in params": `{"operation":"delete_note","params":{"note_id":"n1",` +
			`"confirmation_token":"TOKEN"}}`,
		"_confirmation in params": `{"operation":"delete_note","params":{"note_id":"n1","_confirmation":"TOKEN"}}`,
		"confirmation_token beside": `{"operation":"delete_note","confirmation_token":"TOKEN",` +
			`"params":{"note_id":"n1"}}`,
		"_confirmation beside": `{"operation":"delete_note","note_id":"n1","_confirmation":"TOKEN"}`,
		"twice, alike": `{"operation":"delete_note","confirmation_token":"TOKEN",` +
			`"params":{"note_id":"n1","_confirmation":"TOKEN"}}`,
		"with the default written out": `{"operation":"delete_note","params":{"limit":25,"note_id":"n1",` +
			`"confirmation_token":"TOKEN"}}`,
		"with another spelling of it": `{"operation":"delete_note","params":{"limit":2.5e1,"note_id":"\u006e1",` +
			`"confirmation_token":"TOKEN"}}`,
		"with null for what was absent": `{"operation":"delete_note","params":{"secret":null,"note_id":"n1",` +
			`"confirmation_token":"TOKEN"}}`,
		"with an empty token in between": `{"operation":"delete_note","confirmation_token":"","params":{"note_id":"n1",` +
			`"_confirmation":"TOKEN"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			got := f.confirm(t, strings.ReplaceAll(retry, "TOKEN", f.token(t, deleteN1)))
			if got.Data != "n1" || len(f.ran) != 1 {
				t.Errorf("got %+v after %d runs, want success after one", got, len(f.ran))
			}
		})
	}
}

// REQ-CT-06, REQ-CT-10, T-57: what a token does not do.
func TestTokenRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, retry, code string
		before            func(*fixture, string)
	}{
		{"another parameter value", `{"operation":"delete_note","params":{"note_id":"n2","confirmation_token":"TOKEN"}}`,
			"TOKEN_SCOPE_MISMATCH", nil},
		{"one parameter more", `{"operation":"delete_note","params":{"note_id":"n1","limit":3,"confirmation_token":"TOKEN"}}`,
			"TOKEN_SCOPE_MISMATCH", nil},
		{"another operation", `{"operation":"wipe_notes","params":{"confirmation_token":"TOKEN"}}`, "TOKEN_SCOPE_MISMATCH",
			nil},
		{"a made-up token", `{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"conf_xxxxxxxx"}}`,
			"TOKEN_INVALID", nil},
		{"two different tokens", `{"operation":"delete_note","_confirmation":"conf_other","params":{"note_id":"n1",` +
			`"confirmation_token":"TOKEN"}}`, "TOKEN_INVALID", nil},
		{"a token that is no string", `{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":true}}`,
			"VALIDATION_INVALID_TYPE", nil},
		{"a second time", `{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"TOKEN"}}`,
			"TOKEN_ALREADY_USED",
			func(f *fixture, token string) {
				f.call("mcp_aql_delete", `{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"`+token+`"}}`)
				f.ran = nil
			}},
		{"too late", `{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"TOKEN"}}`, "TOKEN_EXPIRED",
			func(f *fixture, _ string) {
				f.now = f.now.Add(5 * time.Minute)
			}},
		{"REQ-SE-02 in another session", `{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"TOKEN"}}`,
			"TOKEN_INVALID",
			func(f *fixture, _ string) { f.session = f.adapter.NewSession() }},
		{"REQ-SE-02 after the session ended",
			`{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"TOKEN"}}`, "TOKEN_INVALID",
			func(f *fixture, _ string) { f.session.Close() }},
		{"bad parameters are reported first", `{"operation":"delete_note","params":{"confirmation_token":"TOKEN"}}`,
			"VALIDATION_MISSING_PARAM", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, Options{})
			token := f.token(t, deleteN1)
			if tt.before != nil {
				tt.before(f, token)
			}
			got := f.confirm(t, strings.ReplaceAll(tt.retry, "TOKEN", token))
			if got.Error.Code != tt.code || len(f.ran) > 0 {
				t.Errorf("code %s after %d runs, want %s after none", got.Error.Code, len(f.ran), tt.code)
			}
			if _, part := words.Leak(got.Error.Message); part != "" {
				t.Errorf("message fails the leak check: %s", got.Error.Message)
			}
		})
	}
}

// REQ-MT-06, REQ-SE-04: what a request claims in its metadata identifies no session and no caller, and confirms
// nothing.
func TestMetadataClaimsNothing(t *testing.T) {
	f := newFixture(t, Options{})
	claim := `{"session_id":"` + f.session.ID() + `","user_id":"ann","trust":"certified","confirmed":true}`
	token := f.token(t, deleteN1)
	f.session = f.adapter.NewSession()
	for request, want := range map[string]string{
		`{"operation":"delete_note","_meta":CLAIM,"params":{"note_id":"n1","_confirmation":"TOKEN"}}`: "TOKEN_INVALID",
		`{"operation":"delete_note","params":{"note_id":"n1","_confirmation":"TOKEN","_meta":CLAIM}}`: "TOKEN_INVALID",

		`{"operation":"delete_note","_meta":CLAIM,"_confirmed":true,` +
			`"params":{"note_id":"n1","_trust":"certified"}}`: "CONFIRMATION_REQUIRED",
	} {
		got := f.confirm(t, strings.NewReplacer("CLAIM", claim, "TOKEN", token).Replace(request))
		if got.Error.Code != want || len(f.ran) > 0 {
			t.Errorf("%s: code %s after %d runs, want %s after none", request, got.Error.Code, len(f.ran), want)
		}
	}
}

// T-01: a token is no parameter of operations that never ask.
func TestTokenOnAnOperationThatDoesNotAsk(t *testing.T) {
	f := newFixture(t, Options{})
	got := f.call("mcp_aql_read", `{"operation":"get_note","params":{"note_id":"n1","confirmation_token":"x"}}`)
	if !strings.Contains(got, `"VALIDATION_UNKNOWN_PARAM"`) {
		t.Errorf("got %s", got)
	}
}

// T-95: one option turns confirmation off, and introspection tells the truth about it.
func TestConfirmationOff(t *testing.T) {
	for _, off := range []bool{false, true} {
		f := newFixture(t, Options{Confirmation: Confirmation{Off: off}})
		if ran := strings.HasPrefix(f.call("mcp_aql_delete", deleteN1), `{"success":true`); ran != off {
			t.Errorf("off %v: ran %v", off, ran)
		}
		list := f.call("mcp_aql_read", `{"operation":"introspect","query":"operations"}`)
		if told := strings.Contains(list, `"confirmation":true`); told == off {
			t.Errorf("off %v: introspection says %s", off, list)
		}
		details := f.call("mcp_aql_read", `{"operation":"introspect","query":"operations","name":"delete_note"}`)
		if listed := strings.Contains(details, `"confirmation_token"`); listed == off {
			t.Errorf("off %v: details say %s", off, details)
		}
	}
}
