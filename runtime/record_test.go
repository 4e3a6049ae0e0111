package aql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/trust"
	"github.com/google/go-cmp/cmp"
)

// notebook is a sink that the test reads, and that can be made to fail.
type notebook struct {
	mu      sync.Mutex
	records []audit.Record
	fail    error
}

func (n *notebook) Write(_ context.Context, records []audit.Record) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		return n.fail
	}
	n.records = append(n.records, records...)
	return nil
}

func (n *notebook) Close() error { return nil }

func (n *notebook) failing(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fail = err
}

// lines tells the records, each in a line, and forgets them.
func (n *notebook) lines() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var lines []string
	for _, r := range n.records {
		line := fmt.Sprintf("%s %s %s", r.Event, r.Operation, r.Outcome)
		for _, member := range [][2]string{{"reason", r.Reason}, {"rule", r.Rule}} {
			if member[1] != "" {
				line += " " + member[0] + "=" + member[1]
			}
		}
		if len(r.Parameters) > 0 {
			line += " " + string(r.Parameters)
		}
		lines = append(lines, line)
	}
	n.records = nil
	return lines
}

func recorded(t *testing.T, options Options) (*fixture, *notebook) {
	t.Helper()
	book := new(notebook)
	log := audit.New(audit.Options{Sinks: []audit.Sink{book}, Wait: true})
	t.Cleanup(func() { log.Close(context.WithoutCancel(t.Context())) })
	options.Audit = log
	return newFixture(t, options), book
}

// REQ-AU-01, REQ-AU-02, REQ-AU-03, REQ-CT-13, REQ-DL-05: every attempt at what is destructive, every denial and every
// event of a token is on record, before the answer; sensitive values are not.
func TestWhatIsOnRecord(t *testing.T) {
	f, book := recorded(t, Options{Policy: parsePolicy(t,
		"version: 1\nrules:\n  - {name: no-drafts, effect: deny, operations: [create_note], when: [{param: title, equals: "+
			"draft}]}\n")})
	const secretly = `{"operation":"delete_note","params":{"note_id":"n1","secret":"hunter2hunter2"TOKEN}}`
	asked := f.confirm(t, strings.Replace(secretly, "TOKEN", "", 1))
	token := asked.Error.Details["confirmation_token"].(string)
	check := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, book.lines()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	const params = ` {"note_id":"n1","limit":25,"secret":"***"}`
	check("asking", "CONFIRMATION_REQUIRED delete_note denied"+params, "TOKEN_ISSUED delete_note success")
	confirmed := strings.Replace(secretly, "TOKEN", `,"_confirmation":"`+token+`"`, 1)
	f.call("mcp_aql_delete", confirmed)
	check("confirming", "TOKEN_VALIDATED delete_note success", "CONFIRMATION_GRANTED delete_note confirmed"+params,
		"OPERATION_FINISHED delete_note success")
	f.call("mcp_aql_delete", confirmed)
	check("a token that is spent", "OPERATION_DENIED delete_note denied reason=token"+params,
		"TOKEN_REJECTED delete_note failure reason=already used")
	f.call("mcp_aql_delete", `{"operation":"delete_note","params":{"note":"n1"}}`)
	check("a request that is not valid", "OPERATION_DENIED delete_note denied reason=VALIDATION_MISSING_PARAM")
	f.session.Call(t.Context(), "mcp_aql_delete", []byte(`{"operations":[{"operation":"delete_note","params":{"x":1}},`+
		`{"operation":"delete_note","params":{"note_id":"n2"}}]}`))
	check("a batch", "OPERATION_DENIED delete_note denied reason=VALIDATION_MISSING_PARAM",
		`CONFIRMATION_REQUIRED delete_note denied {"note_id":"n2","limit":25}`, "TOKEN_ISSUED delete_note success")
	f.call("mcp_aql_create", `{"operation":"create_note","params":{"title":"draft","secret":"hunter2hunter2"}}`)
	check("a denial", `OPERATION_DENIED create_note denied reason=policy rule=no-drafts {"title":"draft","limit":25,`+
		`"secret":"***"}`)
	f.call("mcp_aql_create", createN)
	f.call("mcp_aql_read", getN1)
	check("what is not destructive and allowed")
}

// REQ-CT-13, REQ-CT-15, T-61: tokens are revoked when their session ends, and when somebody says so; that is on record.
func TestRevocation(t *testing.T) {
	f, book := recorded(t, Options{Confirmation: Confirmation{Scope: "caller"}})
	tokenOf := func(c Caller) string {
		_, details := f.as(t, c, "mcp_aql_delete", deleteN1)
		return strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+details["confirmation_token"].(string)+`"`, 1)
	}
	spent, anns, bobs := tokenOf(ann), tokenOf(ann), tokenOf(bob)
	f.as(t, ann, "mcp_aql_delete", spent)
	book.lines()
	if n, err := f.adapter.RevokeTokens(t.Context(), ann); n != 1 || err != nil {
		t.Errorf("ann's: %d, %v", n, err)
	}
	if diff := cmp.Diff([]string{"TOKEN_REVOKED delete_note success reason=revoked"}, book.lines()); diff != "" {
		t.Error(diff)
	}
	for _, request := range []string{spent, anns} {
		if code, _ := f.as(t, ann, "mcp_aql_delete", request); code != "TOKEN_INVALID" {
			t.Errorf("ann: %s", code)
		}
	}
	if code, _ := f.as(t, bob, "mcp_aql_delete", bobs); code != "ok" {
		t.Errorf("bob: %s", code)
	}
	for range 1200 {
		f.session = f.adapter.NewSession()
		tokenOf(bob)
	}
	if n, err := f.adapter.RevokeAllTokens(t.Context()); n != 1200 || err != nil {
		t.Errorf("everybody's: %d, %v", n, err)
	}

	f, book = recorded(t, Options{})
	f.token(t, deleteN1)
	book.lines()
	f.session.Close()
	if diff := cmp.Diff([]string{"TOKEN_REVOKED delete_note success reason=the session has ended"},
		book.lines()); diff != "" {
		t.Error(diff)
	}
}

// REQ-TR-03, REQ-AU-04: who, in which session, under which trust, at which level.
func TestWhoIsOnRecord(t *testing.T) {
	f, book := recorded(t, Options{Trust: &trust.Options{Standing: trust.Standing{Level: trust.Certified}}})
	f.as(t, ann, "mcp_aql_delete", `{"operation":"delete_note","_request_id":"r-7","params":{"note_id":"n1"}}`)
	got := book.records[0]
	if got.Caller.Subject != "ann" || got.SessionID != f.session.ID() || got.RequestID != "r-7" ||
		got.Trust != "certified" ||
		got.DangerLevel != 2 || got.Endpoint != "delete" || got.Adapter != "notes" || !got.Time.Equal(f.now) {
		t.Errorf("%+v", got)
	}
}

// What is dangerous does not run unless it is on record.
func TestNothingRunsOffTheRecord(t *testing.T) {
	f, book := recorded(t, Options{})
	token := f.token(t, deleteN1)
	book.failing(errors.New("open /var/log/audit: no space left on device"))
	confirmed := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+token+`"`, 1)
	reply := f.session.Call(t.Context(), "mcp_aql_delete", []byte(confirmed))
	if text := string(reply.JSON); !strings.Contains(text, "operation was not run") || strings.Contains(text, "/var") ||
		len(f.ran) > 0 {
		t.Errorf("ran %v: %s", f.ran, text)
	}
	if got := f.call("mcp_aql_read", getN1); !strings.HasPrefix(got, `{"success":true`) {
		t.Errorf("what needs no record: %s", got)
	}
	book.failing(nil)
	if got := f.confirm(t, confirmed); got.Error.Code != "TOKEN_ALREADY_USED" {
		t.Errorf("the token was spent: %+v", got)
	}
}

// A15, REQ-EL-10: every call of an EXECUTE operation is on record, whatever its danger, and so is one that is refused.
// It needs no confirmation for that.
func TestExecuteIsOnRecord(t *testing.T) {
	f, book := recorded(t, Options{})
	f.call("mcp_aql_execute", `{"operation":"nothing"}`)
	f.fail = NotFound("note", "n1")
	f.call("mcp_aql_execute", `{"operation":"fail_note"}`)
	f.call("mcp_aql_execute", `{"operation":"nothing","params":{"x":1}}`)
	f.call("mcp_aql_read", getN1)
	want := []string{
		"OPERATION_ALLOWED nothing allowed {}", "OPERATION_FINISHED nothing success",
		"OPERATION_ALLOWED fail_note allowed {}", "OPERATION_FINISHED fail_note failure reason=NOT_FOUND_RESOURCE",
		"OPERATION_DENIED nothing denied reason=VALIDATION_UNKNOWN_PARAM",
	}
	if diff := cmp.Diff(want, book.lines()); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}
}

// REQ-AU-01, REQ-EL-10: calls of every category are on record where they are confirmed, and those that are refused.
func TestEveryCategoryIsOnRecord(t *testing.T) {
	for tool, request := range map[string]string{
		"mcp_aql_create": createN, "mcp_aql_read": getN1, "mcp_aql_delete": deleteN1,
		"mcp_aql_execute": `{"operation":"nothing"}`,
	} {
		name := strings.Split(request, `"`)[3]
		for effect, want := range map[string][]string{
			"deny": {"OPERATION_DENIED"},
			"confirm": {
				"CONFIRMATION_REQUIRED", "TOKEN_ISSUED", "TOKEN_VALIDATED", "CONFIRMATION_GRANTED", "OPERATION_FINISHED",
			},
		} {
			f, book := recorded(t, Options{Policy: parsePolicy(t, "version: 1\ndefault: "+effect+"\n")})
			reply := f.call(tool, request)
			if found := tokenPattern.FindString(reply); found != "" {
				members := `"params":{"confirmation_token":"` + found + `"`
				if strings.Contains(request, `"params":{`) {
					members += ","
					f.call(tool, strings.Replace(request, `"params":{`, members, 1))
				} else {
					f.call(tool, strings.Replace(request, `}`, ","+members+"}}", 1))
				}
			}
			var got []string
			for _, line := range book.lines() {
				event, _, _ := strings.Cut(line, " "+name)
				got = append(got, event)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, effect, diff)
			}
		}
	}
}

var tokenPattern = regexp.MustCompile(`conf_[A-Za-z0-9_-]{43}`)

// A15, REQ-TR-02: an adapter whose trust level is not stated is untested, in refusals and on record.
func TestNoTrustLevelIsUntested(t *testing.T) {
	f, book := recorded(t, Options{Trust: &trust.Options{DenyUntestedIntrospection: true}})
	for tool, request := range map[string]string{
		"mcp_aql_create": createN, "mcp_aql_read": `{"operation":"introspect","query":"operations"}`,
	} {
		reply := f.session.Call(t.Context(), tool, []byte(request))
		if text := string(reply.JSON); strings.Contains(text, "''") || !strings.Contains(text, "'untested'") {
			t.Errorf("%s: %s", request, text)
		}
	}
	if len(book.records) == 0 || book.records[0].Trust != "untested" {
		t.Errorf("on record: %+v", book.records)
	}
}
