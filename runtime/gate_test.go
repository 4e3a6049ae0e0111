package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/describe/fingerprint"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/trust"
	"github.com/aqltag/aqltag/runtime/words"
	"github.com/google/go-cmp/cmp"
)

// as calls for a caller and returns the failure's code, or "ok".
func (f *fixture) as(t *testing.T, c Caller, tool, request string) (code string, details map[string]any) {
	t.Helper()
	reply := f.session.Call(WithCaller(t.Context(), c), tool, []byte(request))
	checkOfficial(t, reply.JSON)
	var answer confirmation
	if err := json.Unmarshal(reply.JSON, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Success {
		return "ok", nil
	}
	if _, part := words.Leak(answer.Error.Message); part != "" {
		t.Errorf("the message fails the leak check: %s", answer.Error.Message)
	}
	return answer.Error.Code, answer.Error.Details
}

var ann, bob = Caller{Subject: "ann", Issuer: "test", Scopes: []string{"admin"}}, Caller{Subject: "bob", Issuer: "test"}

const (
	getN1   = `{"operation":"get_note","params":{"note_id":"n1"}}`
	wipe    = `{"operation":"wipe_notes"}`
	createN = `{"operation":"create_note","params":{"title":"t"}}`
)

// REQ-TR-04, REQ-TR-05, T-31, T-50, T-64, REQ-DL-04: what an adapter of each level does with operations of each danger,
// through the whole request path; destructive ones confirm even where the matrix would let them run.
func TestTrustGatesOperations(t *testing.T) {
	operations := []struct{ tool, request string }{{"mcp_aql_read", getN1}, {"mcp_aql_create", createN},
		{"mcp_aql_delete", deleteN1}, {"mcp_aql_delete", wipe}}
	const (
		allowed  = "ok"
		confirms = "CONFIRMATION_REQUIRED"
		danger   = "PERMISSION_DANGER_LEVEL_DENIED"
		level    = "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
	)
	for trusted, want := range map[trust.Level][]string{
		"":                      {level, danger, danger, danger},
		trust.Generated:         {allowed, danger, danger, danger},
		trust.Validated:         {allowed, allowed, confirms, danger},
		trust.CommunityReviewed: {allowed, allowed, confirms, danger},
		trust.Certified:         {allowed, allowed, confirms, confirms},
	} {
		f := newFixture(t, Options{Trust: &trust.Options{Standing: trust.Standing{Level: trusted}}})
		var got []string
		for _, o := range operations {
			code, _ := f.as(t, ann, o.tool, o.request)
			got = append(got, code)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", trusted, diff)
		}
		if code, _ := f.as(t, ann, "mcp_aql_read", `{"operation":"introspect","query":"operations"}`); code != "ok" {
			t.Errorf("%q: introspect: %s", trusted, code)
		}
	}
	bare := newFixture(t, Options{Trust: &trust.Options{Standing: trust.Standing{Level: trust.Certified}},
		Confirmation: Confirmation{TrustSkips: true}})
	if code, _ := bare.as(t, ann, "mcp_aql_delete", deleteN1); code != allowed {
		t.Errorf("the bare matrix: %s", code)
	}
	if code, _ := bare.as(t, ann, "mcp_aql_delete", wipe); code != confirms {
		t.Errorf("the bare matrix, forbidden: %s", code)
	}
}

// REQ-DL-06, T-31: the details of denials by trust, and what introspection says.
func TestTrustDenials(t *testing.T) {
	f := newFixture(t, Options{Trust: &trust.Options{Standing: trust.Standing{Level: trust.Validated},
		CategoryMinimums: true, DenyUntestedIntrospection: true}})
	_, details := f.as(t, ann, "mcp_aql_delete", wipe)
	want := map[string]any{
		"operation": "wipe_notes", "danger_level": "forbidden", "adapter_trust": "validated",
		"minimum_trust_required": "certified",
		"reasons":                []any{"Removes the note for good"},
	}
	if diff := cmp.Diff(want, details); diff != "" {
		t.Error(diff)
	}
	code, details := f.as(t, ann, "mcp_aql_delete", deleteN1)
	want = map[string]any{"operation": "delete_note", "required_trust": "community_reviewed", "actual_trust": "validated",
		"danger_level": 2.0}
	if diff := cmp.Diff(want, details); diff != "" || code != "PERMISSION_TRUST_LEVEL_INSUFFICIENT" {
		t.Errorf("%s: %s", code, diff)
	}
	list := f.call("mcp_aql_read", `{"operation":"introspect","query":"operations"}`)
	if !strings.Contains(list, "[danger: destructive; denied for this adapter's trust level]") {
		t.Errorf("introspection keeps quiet: %s", list)
	}
	untested := newFixture(t, Options{Trust: &trust.Options{DenyUntestedIntrospection: true}})
	if code, details := untested.as(t, ann, "mcp_aql_read",
		`{"operation":"introspect","query":"operations"}`); code != "PERMISSION_TRUST_LEVEL_INSUFFICIENT" || details != nil {
		t.Errorf("introspection of an untested adapter: %s, %v", code, details)
	}
	if _, err := New(gen.NewRegistry(nil, nil),
		Options{Trust: &trust.Options{Standing: trust.Standing{Level: "perfect"}}}); err == nil {
		t.Error("REQ-TR-01: a level that does not exist is accepted")
	}
}

// REQ-TR-11, REQ-IN-21, REQ-IN-22, REQ-GE-06: trust and definitions can be asked for where that is wanted, and nowhere
// else.
func TestAdapterInfo(t *testing.T) {
	const ask = `{"operation":"introspect","params":{"query":"adapter_info"}}`
	f := newFixture(t, Options{AdapterInfo: true, Trust: &trust.Options{Standing: trust.Standing{
		Level: trust.Validated, ValidatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		ValidationReport: trust.ValidationReport{TestsPassed: 9, TestsTotal: 10},
	}}})
	definitions := f.adapter.definitions
	want := `{"success":true,"data":{"name":"notes","version":"1.0.0","definitions":"` + fingerprint.Of(&definitions) +
		`","trust":{"level":"validated","validated_at":"2026-01-02T03:04:05Z","validation_report":{"tests_passed":9,` +
		`"tests_total":10}}}}`
	if got := f.call("mcp_aql_read", ask); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got := f.call("mcp_aql_read", `{"operation":"introspect","params":{"query":"operations","name":"introspect"}}`)
	if !strings.Contains(got, `"enum":["operations","types","details","adapter_info"]`) {
		t.Errorf("the query is not introspected: %s", got)
	}
	if code, _ := newFixture(t, Options{}).as(t, ann, "mcp_aql_read", ask); code != "INTROSPECTION_ERROR" {
		t.Errorf("where it is not wanted: %s", code)
	}
}

func parsePolicy(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policyfile.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// REQ-TR-13, REQ-VO-14, REQ-SE-04, REQ-DL-13: rules about callers and parameters, changed while the adapter runs.
func TestPolicy(t *testing.T) {
	f := newFixture(t, Options{Policy: parsePolicy(t, `
version: 1
rules:
  - name: only-admins-delete
    effect: deny
    categories: [DELETE]
    not: {scopes: [admin]}
    reason: Only administrators delete notes
  - name: ask-about-drafts
    effect: confirm
    operations: [create_note]
    when: [{param: title, like: "draft*"}]
    reason: Drafts are public
  - {name: nobody-wipes, effect: deny, operations: ["wipe_*"]}
`)})
	draft := `{"operation":"create_note","params":{"title":"draft one"}}`
	for _, step := range []struct {
		name, tool, request, want string
		caller                    Caller
	}{
		{"a caller without the scope", "mcp_aql_delete", deleteN1, "PERMISSION_DENIED", bob},
		{"an anonymous one", "mcp_aql_delete", deleteN1, "PERMISSION_DENIED", Caller{}},
		{"one with it still confirms", "mcp_aql_delete", deleteN1, "CONFIRMATION_REQUIRED", ann},
		{"a scope in the request counts nothing", "mcp_aql_delete",
			`{"operation":"delete_note","_meta":{"scopes":["admin"]},"params":{"note_id":"n1"}}`, "PERMISSION_DENIED", bob},
		{"what no rule is about", "mcp_aql_read", getN1, "ok", bob},
		{"a value that is asked about", "mcp_aql_create", draft, "CONFIRMATION_REQUIRED", bob},
		{"another value", "mcp_aql_create", createN, "ok", bob},
		{"what nobody may", "mcp_aql_delete", wipe, "PERMISSION_DENIED", ann},
	} {
		if code, details := f.as(t, step.caller, step.tool, step.request); code != step.want {
			t.Errorf("%s: %s %v, want %s", step.name, code, details, step.want)
		}
	}
	_, details := f.as(t, bob, "mcp_aql_delete", deleteN1)
	if diff := cmp.Diff(map[string]any{"reason": "Only administrators delete notes", "operation": "delete_note"},
		details); diff != "" {
		t.Error(diff)
	}
	_, asked := f.as(t, bob, "mcp_aql_create", draft)
	confirmed := strings.Replace(draft, `"params":{`,
		`"params":{"confirmation_token":"`+asked["confirmation_token"].(string)+`",`, 1)
	details1 := f.call("mcp_aql_read", `{"operation":"introspect","query":"operations","name":"create_note"}`)
	if !strings.Contains(details1, "confirmation may be required") ||
		!strings.Contains(details1, `"name":"confirmation_token"`) {
		t.Errorf("introspection keeps quiet about the rule: %s", details1)
	}

	// A policy that does not fit changes nothing.
	if err := f.adapter.SetPolicy(parsePolicy(t,
		"version: 1\nrules:\n  - {name: typo, effect: deny, operations: [delete_notes]}\n")); err == nil ||
		!strings.Contains(err.Error(), "policy.yaml:3:") {
		t.Errorf("a rule about an operation that does not exist: %v", err)
	}
	if code, _ := f.as(t, ann, "mcp_aql_delete", wipe); code != "PERMISSION_DENIED" {
		t.Errorf("after a policy that does not fit: %s", code)
	}
	// A token is no way around a rule that has come since.
	if err := f.adapter.SetPolicy(parsePolicy(t,
		"version: 1\nrules:\n  - {name: stop, effect: deny, operations: [create_note]}\n")); err != nil {
		t.Fatal(err)
	}
	if code, _ := f.as(t, bob, "mcp_aql_create", confirmed); code != "VALIDATION_UNKNOWN_PARAM" &&
		code != "PERMISSION_DENIED" {
		t.Errorf("with a token, under the new policy: %s", code)
	}
	if err := f.adapter.SetPolicy(nil); err != nil {
		t.Fatal(err)
	}
	if code, _ := f.as(t, ann, "mcp_aql_delete", wipe); code != "CONFIRMATION_REQUIRED" {
		t.Errorf("without a policy: %s", code)
	}
}

// A policy is replaced under traffic: each request goes by one of the two, wholly.
func TestPolicyIsReplacedUnderTraffic(t *testing.T) {
	deny := parsePolicy(t, "version: 1\nrules:\n  - {name: stop, effect: deny, operations: [get_note]}\n")
	f := newFixture(t, Options{Confirmation: Confirmation{IssuesPerMinute: -1}})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			p := deny
			if i%2 == 0 {
				p = nil
			}
			if err := f.adapter.SetPolicy(p); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 2000 {
		reply := f.adapter.NewSession().Call(ctx, "mcp_aql_read", []byte(`{"operation":"introspect","query":"types"}`))
		if reply.IsError {
			t.Fatalf("%s", reply.JSON)
		}
		reply = f.session.Call(ctx, "mcp_aql_delete", []byte(deleteN1))
		if !strings.Contains(string(reply.JSON), string(codeConfirm)) {
			t.Fatalf("%s", reply.JSON)
		}
	}
	stop()
	<-done
}

// REQ-RQ-03, REQ-RQ-05, REQ-RQ-11, T-86: limits end a request before quotas do, and introspect is not counted.
func TestRateLimit(t *testing.T) {
	f := newFixture(t, Options{QuotaStatus: true, Quota: quota.Options{
		Limits: []quota.Limit{{Limit: 2, Window: quota.Minute}},
		Quotas: []quota.Quota{{Metric: quota.RequestsPerHour, HardStop: 2}},
	}})
	for range 20 {
		f.call("mcp_aql_read", `{"operation":"introspect","query":"quota_status"}`)
	}
	for range 2 {
		if code, _ := f.as(t, ann, "mcp_aql_read", getN1); code != "ok" {
			t.Fatal(code)
		}
	}
	code, details := f.as(t, ann, "mcp_aql_read", getN1)
	want := map[string]any{"limit": 2.0, "remaining": 0.0, "window": "minute", "resets_at": "2026-03-01T09:01:06.000Z",
		"retry_after_seconds": 66.0}
	if diff := cmp.Diff(want, details); diff != "" || code != "RATE_LIMIT_EXCEEDED" {
		t.Errorf("%s: %s", code, diff)
	}
	if len(f.ran) != 2 {
		t.Errorf("%d calls ran", len(f.ran))
	}
}

// REQ-RQ-07, REQ-RQ-08, REQ-RQ-09, REQ-RQ-10, REQ-RQ-17, REQ-IN-23, T-63: the steps of a quota on the wire.
func TestQuota(t *testing.T) {
	f := newFixture(t, Options{QuotaStatus: true,
		Quota: quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerHour, Warn: 1, Pause: 2, HardStop: 3}}}})
	get := func(token string) (string, map[string]any) {
		return f.as(t, ann, "mcp_aql_read",
			`{"operation":"get_note","params":{"note_id":"n1","_quota_continue":"`+token+`"}}`)
	}
	first := f.session.Call(WithCaller(t.Context(), ann), "mcp_aql_read", []byte(getN1))
	if want := `"warnings":[{"code":"RATE_LIMIT_QUOTA_WARNING","message":"Approaching quota limit","severity":"medium",` +
		`"details":{"current":1,"hard_stop_threshold":3,"metric":"requests_per_hour","pause_threshold":2,` +
		`"warn_threshold":1}}]`; !strings.Contains(string(first.JSON), want) {
		t.Errorf("no warning: %s", first.JSON)
	}
	get("")
	code, details := get("")
	token, _ := details["confirmation_token"].(string)
	want := map[string]any{"metric": "requests_per_hour", "current": 2.0, "pause_threshold": 2.0,
		"hard_stop_threshold": 3.0, "confirmation_token": token, "expires_at": "2026-03-01T09:05:00.000Z",
		"hint": continueWithToken}
	if diff := cmp.Diff(want, details); diff != "" || code != "RATE_LIMIT_QUOTA_PAUSE" ||
		!strings.HasPrefix(token, "quota_continue_") {
		t.Errorf("%s: %s", code, diff)
	}
	if code, _ := f.as(t, bob, "mcp_aql_read",
		`{"operation":"get_note","params":{"note_id":"n1","_quota_continue":"`+token+`"}}`); code != "ok" {
		t.Errorf("bob, who is not paused: %s", code)
	}
	if code, _ := get("quota_continue_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); code != "TOKEN_INVALID" {
		t.Errorf("a made-up token: %s", code)
	}
	if code, _ := get(token); code != "ok" {
		t.Errorf("with the token: %s", code)
	}
	code, details = get(token)
	want = map[string]any{"metric": "requests_per_hour", "current": 3.0, "hard_stop_threshold": 3.0,
		"resets_at": "2026-03-01T10:00:00.000Z", "retry_after_seconds": 3600.0}
	if diff := cmp.Diff(want, details); diff != "" || code != "RATE_LIMIT_QUOTA_EXHAUSTED" {
		t.Errorf("%s: %s", code, diff)
	}
	status := f.session.Call(WithCaller(t.Context(), ann), "mcp_aql_read",
		[]byte(`{"operation":"introspect","query":"quota_status"}`))
	wantStatus := `{"success":true,"data":{"adapter":"notes","api_limits":{},"quotas":[{"metric":"requests_per_hour",` +
		`"current":3,"warn":1,"pause":2,"hard_stop":3,"status":"exhausted"}],"next_reset":"2026-03-01T10:00:00Z"}}`
	if string(status.JSON) != wantStatus {
		t.Errorf("got  %s\nwant %s", status.JSON, wantStatus)
	}
}

// Requirements §0, steps 8 and 9: asking for confirmation counts nothing, a token that is refused neither.
func TestOnlyWhatRunsIsCounted(t *testing.T) {
	f := newFixture(t, Options{Quota: quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerHour, HardStop: 1}}}})
	token := f.token(t, deleteN1)
	for range 3 {
		f.token(t, deleteN1)
		f.confirm(t, strings.Replace(deleteN1, `"n1"`, `"n2","_confirmation":"`+token+`"`, 1))
	}
	if got := f.confirm(t, strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+token+`"`, 1)); got.Data != "n1" {
		t.Errorf("%+v", got)
	}
	if got := f.confirm(t, deleteN1); got.Error.Code != "RATE_LIMIT_QUOTA_EXHAUSTED" {
		t.Errorf("no token is given when nothing is left: %s", got.Error.Code)
	}
}

// REQ-RQ-06, REQ-RQ-14: what a handler says it has used.
func TestSpend(t *testing.T) {
	registry := gen.NewRegistry([]gen.Handler{noteOperation("get_note", gen.Read, gen.Safe,
		func(ctx context.Context, _ *noteRequest) (string, error) {
			ReportUsage(ctx, Usage{Tokens: 30, Cost: 0.25})
			ReportUsage(ctx, Usage{Tokens: 20, Cost: 0.25})
			return "", nil
		}, noteID)}, noteTypes)
	adapter, err := New(registry, Options{Name: "notes", QuotaStatus: true, Now: noon, Quota: quota.Options{
		Quotas: []quota.Quota{{Metric: quota.TokensPerDay, HardStop: 100}, {Metric: quota.CostPerDay, HardStop: 10}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	for range 3 {
		session.Call(t.Context(), "mcp_aql_read", []byte(getN1))
	}
	status := string(session.Call(t.Context(), "mcp_aql_read",
		[]byte(`{"operation":"introspect","query":"quota_status"}`)).JSON)
	for _, want := range []string{`"metric":"tokens_per_day","current":100`, `"metric":"cost_per_day","current":1,`,
		`"status":"exhausted"`} {
		if !strings.Contains(status, want) {
			t.Errorf("no %s in %s", want, status)
		}
	}
}

// REQ-CT-03, REQ-NT-07: another caller's token is as good as none.
func TestTokensOfOtherCallers(t *testing.T) {
	f := newFixture(t, Options{Confirmation: Confirmation{Scope: "caller"}})
	_, details := f.as(t, ann, "mcp_aql_delete", deleteN1)
	stolen := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+details["confirmation_token"].(string)+`"`, 1)
	for _, thief := range []Caller{bob, {}, {Subject: "ann", Issuer: "elsewhere"}} {
		if code, _ := f.as(t, thief, "mcp_aql_delete", stolen); code != "TOKEN_INVALID" {
			t.Errorf("%+v: %s", thief, code)
		}
	}
	f.session = f.adapter.NewSession()
	if code, _ := f.as(t, ann, "mcp_aql_delete", stolen); code != "ok" {
		t.Errorf("its owner, in another session: %s", code)
	}
}

// REQ-CT-19, REQ-DL-07, REQ-DL-12, T-62: an approval counts after its cooldown, and with a fresh authentication.
func TestCooldownAndReauthentication(t *testing.T) {
	var approve error
	f := newFixture(t, Options{Confirmation: Confirmation{
		Cooldown: map[gen.Danger]time.Duration{gen.Destructive: 10 * time.Second}, ReauthenticateFrom: gen.Destructive,
		Reauthenticate: func(_ context.Context, c Caller, operation string) error {
			if c.Subject != "ann" || operation != "delete_note" {
				t.Errorf("asked about %+v and %s", c, operation)
			}
			return approve
		},
	}})
	_, details := f.as(t, ann, "mcp_aql_delete", deleteN1)
	if details["retry_after_seconds"] != 10.0 {
		t.Errorf("the cooldown is not told: %v", details)
	}
	token := details["confirmation_token"].(string)
	confirmed := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+token+`"`, 1)
	f.now = f.now.Add(4 * time.Second)
	code, details := f.as(t, ann, "mcp_aql_delete", confirmed)
	if code != "CONFIRMATION_REQUIRED" || details["retry_after_seconds"] != 6.0 || details["confirmation_token"] != token {
		t.Errorf("too early: %s %v", code, details)
	}
	f.now = f.now.Add(6 * time.Second)
	approve = errors.New("wrong password /src/secret")
	if code, details := f.as(t, ann, "mcp_aql_delete", confirmed); code != "PERMISSION_DENIED" ||
		strings.Contains(fmt.Sprint(details), "password") {
		t.Errorf("not authenticated: %s %v", code, details)
	}
	approve = nil
	if code, _ := f.as(t, ann, "mcp_aql_delete", confirmed); code != "ok" {
		t.Errorf("in the end: %s", code)
	}
	without := newFixture(t, Options{Confirmation: Confirmation{ReauthenticateFrom: gen.Forbidden}})
	if got := without.confirm(t,
		strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+without.token(t, deleteN1)+`"`, 1)); !got.Success {
		t.Errorf("below the level: %+v", got)
	}
	if got := without.confirm(t,
		`{"operation":"wipe_notes","_confirmation":"`+without.token(t, wipe)+`"}`); got.Error.Code != "PERMISSION_DENIED" {
		t.Errorf("without a callback: %+v", got)
	}
}

// REQ-CT-14, REQ-CT-18: who asks without end, or guesses, is slowed down.
func TestAskingIsLimited(t *testing.T) {
	f := newFixture(t, Options{})
	for range 1000 {
		f.token(t, deleteN1)
	}
	if got := f.confirm(t, deleteN1); got.Error.Code != "RATE_LIMIT_EXCEEDED" ||
		got.Error.Details["retry_after_seconds"] != 60.0 {
		t.Errorf("asking: %+v", got)
	}
	f.now = f.now.Add(time.Minute)
	token := f.token(t, deleteN1)
	guess := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"conf_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"`,
		1)
	for range 1000 {
		f.confirm(t, guess)
	}
	if got := f.confirm(t, guess); got.Error.Code != "RATE_LIMIT_EXCEEDED" {
		t.Errorf("guessing: %+v", got)
	}
	f.now = f.now.Add(time.Minute)
	if got := f.confirm(t, strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+token+`"`, 1)); !got.Success {
		t.Errorf("a minute later: %+v", got)
	}
}

// T-87, C7, REQ-RF-17: what the author says is a dry run needs no confirmation for its danger level, and no pause holds
// it. Trust, a policy's confirmation, limits, and a confirmation that only a person gives do.
func TestDryRuns(t *testing.T) {
	const dry, wet, absent = `{"dry_run":true}`, `{"dry_run":false}`, `{}`
	tagged := gen.Rules{gen.DryRun{}}
	confirms := &policy.Policy{Rules: []policy.Rule{{Name: "ask", Effect: policy.Confirm, Danger: gen.Safe}}}
	paused := quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1, HardStop: 100}}}
	for _, tt := range []struct {
		name, params string
		rules        gen.Rules
		options      Options
		want         string // in the answer to the third call
	}{
		{"a dry run", dry, tagged, Options{}, `{"success":true`},
		{"no dry run", wet, tagged, Options{}, "CONFIRMATION_REQUIRED"},
		{"none asked for", absent, tagged, Options{}, "CONFIRMATION_REQUIRED"},
		{"a dry run by default", absent, gen.Rules{gen.DryRun{}, gen.Default("true")}, Options{}, `{"success":true`},
		{"a parameter that is merely called dry_run", dry, nil, Options{}, "CONFIRMATION_REQUIRED"},
		{"a dry run for which a person must be asked", dry, tagged, Options{Confirmation: Confirmation{HumanOnly: true}},
			"runs after a person has approved it"},
		{"a dry run that the policy wants confirmed", dry, tagged, Options{Policy: confirms}, "CONFIRMATION_REQUIRED"},
		{"a dry run without trust", dry, tagged, Options{Trust: &trust.Options{}}, "PERMISSION_DANGER_LEVEL_DENIED"},
		{"a dry run beyond a pause", dry, tagged, Options{Quota: paused}, `{"success":true`},
		{"a dry run beyond a pause that a person lifts", dry, tagged,
			Options{Quota: paused, Confirmation: Confirmation{Off: true, HumanOnly: true}}, "RATE_LIMIT_QUOTA_PAUSE"},
		{"no dry run beyond a pause", wet, tagged, Options{Quota: paused, Confirmation: Confirmation{Off: true}},
			"RATE_LIMIT_QUOTA_PAUSE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session := newPurger(t, tt.rules, tt.options)
			var got string
			for range 3 {
				got = string(session.Call(t.Context(), "mcp_aql_delete",
					[]byte(`{"operation":"purge_notes","params":`+tt.params+`}`)).JSON)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// newPurger makes an adapter with a dangerous operation that has a parameter dry_run.
func newPurger(t *testing.T, rules gen.Rules, options Options) *Session {
	t.Helper()
	type purge struct{ DryRun bool }
	options.Name, options.Now = "notes", noon
	adapter, err := New(gen.NewRegistry([]gen.Handler{{
		Name: "purge_notes", Category: gen.Delete, Danger: gen.Dangerous, Returns: "Nothing",
		Params:  []gen.Field{{Name: "dry_run", Go: "DryRun", Type: "boolean", Rules: rules}},
		Request: (*purge)(nil), Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}}), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession()
}

// T-87: introspection says whether a dry run must be confirmed.
func TestIntrospectionOfDryRuns(t *testing.T) {
	tagged := gen.Rules{gen.DryRun{}}
	confirms := &policy.Policy{Rules: []policy.Rule{{Name: "ask", Effect: policy.Confirm, Danger: gen.Safe}}}
	const unless, always = "confirmation required unless it is a dry run]", "confirmation required]"
	for name, tt := range map[string]struct {
		rules   gen.Rules
		options Options
		want    string
	}{
		"a dry run":                  {tagged, Options{}, unless},
		"a parameter called dry_run": {nil, Options{}, always},
		"a person must be asked": {tagged, Options{Confirmation: Confirmation{HumanOnly: true}},
			"confirmation required from the user]"},
		"the policy wants confirmation": {tagged, Options{Policy: confirms}, always},
	} {
		answer := string(newPurger(t, tt.rules, tt.options).Call(t.Context(), "mcp_aql_read",
			[]byte(`{"operation":"introspect","params":{"query":"operations","name":"purge_notes"}}`)).JSON)
		said := strings.Contains(answer, "A dry run if true: nothing changes")
		if !strings.Contains(answer, tt.want) || said != (tt.rules != nil) {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

// Introspection offers no token where a rule says who must approve every call, and one where the rule is about some.
func TestIntrospectionOfApprovers(t *testing.T) {
	const person, token = "confirmation required from the user]", `"confirmation_token"`
	for name, tt := range map[string]struct {
		rule  policy.Rule
		wants []string
		lacks string
	}{
		"every call": {policy.Rule{}, []string{person}, token},
		"of anonymous callers": {
			policy.Rule{Anonymous: new(true)}, []string{"confirmation required]", token}, person,
		},
		"of some parameters": {
			policy.Rule{When: []policy.Condition{{Param: "dry_run", Equals: false}}},
			[]string{"confirmation required]", token}, person,
		},
	} {
		rule := tt.rule
		rule.Name, rule.Effect, rule.Operations = "two", policy.Confirm, []string{"purge_notes"}
		rule.Approvers = &policy.Approvers{Count: 2}
		answer := string(newPurger(t, nil, Options{
			State: new(store.Memory), Confirmation: Confirmation{Inbox: approve.New},
			Policy: &policy.Policy{Rules: []policy.Rule{rule}},
		}).Call(t.Context(), "mcp_aql_read",
			[]byte(`{"operation":"introspect","params":{"query":"operations","name":"purge_notes"}}`)).JSON)
		for _, want := range tt.wants {
			if !strings.Contains(answer, want) {
				t.Errorf("%s: %s is not in %s", name, want, answer)
			}
		}
		if strings.Contains(answer, tt.lacks) {
			t.Errorf("%s: %s is in %s", name, tt.lacks, answer)
		}
	}
}

// C12: what a handler reports adds up to no less than it has reported.
func TestReportedUsageDoesNotWrap(t *testing.T) {
	h := new(handling)
	ctx := context.WithValue(t.Context(), usageKey{}, &h.usage)
	for range 3 {
		ReportUsage(ctx, Usage{Tokens: math.MaxInt64 - 1, Cost: math.NaN()})
	}
	ReportUsage(ctx, Usage{Tokens: -5, Cost: 1})
	if got := h.used(0); got.Tokens != math.MaxInt64 || !math.IsNaN(got.Cost) {
		t.Errorf("%+v", got)
	}
}
