package audit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/google/go-cmp/cmp"
)

// The JSON form, member by member (REQ-AU-01, REQ-AU-02, REQ-AU-03, REQ-AU-04, REQ-TR-03).
func TestRecordJSON(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 30, 0, 1500, time.FixedZone("CET", 3600))
	for _, tt := range []struct {
		name   string
		record audit.Record
		want   string
	}{
		{"everything", full(), `{"timestamp":"2026-11-21T08:30:00.000001500Z","event":"CONFIRMATION_GRANTED",` +
			`"record_id":"0000000000000abc",` +
			`"adapter_name":"notes","operation":"delete_note","endpoint":"mcp_aql_delete","danger_level":2,` +
			`"adapter_trust":"validated",` +
			`"outcome":"confirmed","reason":"the user agreed","rule":"deletes","token_id":"1f2e3d4c","request_id":"r1",` +
			`"client_context":{"session_id":"s1","user_id":"ann","issuer":"stdio"},"parameters":{"note_id":"n1",` +
			`"pin":"[REDACTED]"}}`},
		{
			"a denial of which little is known",
			audit.Record{
				Time: at, Event: audit.OperationDenied, Operation: "drop_all", DangerLevel: 4, Outcome: audit.Denied,
				Reason: "forbidden",
			},
			`{"timestamp":"2026-11-21T08:30:00.000001500Z","event":"OPERATION_DENIED","operation":"drop_all",` +
				`"danger_level":4,"outcome":"denied","reason":"forbidden"}`},
		{
			"a token that is rejected says failure_reason",
			audit.Record{
				Time: at, Event: audit.TokenRejected, Operation: "a", Outcome: audit.Failure, Reason: "expired", TokenID: "00ff",
			},
			`{"timestamp":"2026-11-21T08:30:00.000001500Z","event":"TOKEN_REJECTED","operation":"a","danger_level":0,` +
				`"outcome":"failure","failure_reason":"expired","token_id":"00ff"}`},
		{
			"a token that is revoked says reason",
			audit.Record{
				Time: at, Event: audit.TokenRevoked, Operation: "a", Outcome: audit.Success, Reason: "the session ended",
			},
			`{"timestamp":"2026-11-21T08:30:00.000001500Z","event":"TOKEN_REVOKED","operation":"a","danger_level":0,` +
				`"outcome":"success","reason":"the session ended"}`},
		{
			"a session without a caller",
			audit.Record{Time: at, Event: audit.OperationAllowed, Operation: "a", Outcome: audit.Allowed, SessionID: "s"},
			`{"timestamp":"2026-11-21T08:30:00.000001500Z","event":"OPERATION_ALLOWED","operation":"a","danger_level":0,` +
				`"outcome":"allowed","client_context":{"session_id":"s"}}`},
		{
			"a caller without a session",
			audit.Record{
				Time: at, Event: audit.OperationAllowed, Operation: "a", Outcome: audit.Allowed,
				Caller: identity.Caller{Subject: "b"},
			},
			`{"timestamp":"2026-11-21T08:30:00.000001500Z","event":"OPERATION_ALLOWED","operation":"a","danger_level":0,` +
				`"outcome":"allowed","client_context":{"user_id":"b"}}`},
		{"dropped records", audit.Record{Time: at, Event: audit.RecordsDropped, Outcome: audit.Failure, Dropped: 7},
			`{"timestamp":"2026-11-21T08:30:00.000001500Z","event":"RECORDS_DROPPED","operation":"","danger_level":0,` +
				`"outcome":"failure","dropped":7}`},
		{
			"a year that does not fit",
			audit.Record{
				Time: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), Event: audit.OperationAllowed, Outcome: audit.Allowed,
			},
			`{"timestamp":"0001-01-01T00:00:00.000000000Z","event":"OPERATION_ALLOWED","operation":"","danger_level":0,` +
				`"outcome":"allowed"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(tt.record.AppendJSON(nil))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The record of a request with hostile texts is one line of JSON of bounded length.
func TestRecordJSONOfHostileTexts(t *testing.T) {
	long := strings.Repeat("ü\x00", 1<<20)
	for _, tt := range []struct{ name, text string }{
		{"line breaks and quotes", "a\"\r\n\\\u2028,\"seq\":1"},
		{"not UTF-8", "a\xff\xfe"},
		{"nothing but control characters", strings.Repeat("\x01", 1<<16)},
		{"long", long},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := full()
			r.Adapter, r.Operation, r.Endpoint, r.Trust, r.Reason, r.Rule = tt.text, tt.text, tt.text, tt.text, tt.text, tt.text
			r.TokenID, r.SessionID, r.RequestID, r.Event, r.Outcome = tt.text, tt.text, tt.text, audit.Event(tt.text),
				audit.Outcome(tt.text)
			r.Caller = identity.Caller{Subject: tt.text, Issuer: tt.text}
			got := r.AppendJSON([]byte("before"))[len("before"):]
			if !json.Valid(got) || strings.ContainsAny(string(got), "\r\n") || len(got) > 1<<19 {
				t.Errorf("%d bytes, JSON: %v", len(got), json.Valid(got))
			}
			var back struct{ Operation string }
			if err := json.Unmarshal(got, &back); err != nil || len(back.Operation) > 5000 {
				t.Errorf("%d bytes of operation, %v", len(back.Operation), err)
			}
		})
	}
}

// Parameters are in the record as they are, without white space; if they cannot be, their digest is.
func TestRecordParameters(t *testing.T) {
	const digest = `"parameters_bytes":`
	for _, tt := range []struct{ name, parameters, want string }{
		{"none", "", `"confirmed"}`},
		{"white space", "{\n\t\"a\" : [1, 2.50, \"b \\n\"]\n}", `"parameters":{"a":[1,2.50,"b \n"]}}`},
		{"no JSON", `{"a":`, digest + "5"},
		{"two values", `{} {}`, digest + "5"},
		{"a value and a member", `{},"seq":7`, digest + "10"},
		{"not UTF-8", "\"\xff\"", digest + "3"},
		{"long and no JSON", strings.Repeat("x", 1<<20), digest + "1048576"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := audit.Record{Outcome: audit.Confirmed, Parameters: json.RawMessage(tt.parameters)}
			got := string(r.AppendJSON(nil))
			if !strings.Contains(got, tt.want) || !json.Valid([]byte(got)) {
				t.Errorf("%s does not hold %s", got, tt.want)
			}
		})
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	r := full()
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = r.AppendJSON(buf[:0])
	}
}
