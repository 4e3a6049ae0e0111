package aql

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/trust"
	"github.com/aqltag/aqltag/runtime/words"
)

// What an agent learns of each reason for which the gate refuses a request.
func TestRefusal(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	o := stageOperation("drop", "delete", gen.Param{Name: "id"})
	o.definition.Reasons, o.definition.Confirm = []string{"It is gone"}, "Drop '{id}'?"
	q := stageRequest(o, "id", `"n1"`)
	q.tokens.Token = "conf_x"
	ticket := gate.Ticket{Token: "conf_x", Expires: now.Add(time.Minute)}
	paused := &meter.Block{Quota: &quota.Quota{Metric: "requests_per_day", Pause: 5, HardStop: 9}, Current: 5,
		Resets: now.Add(90 * time.Second)}
	for _, tt := range []struct {
		name    string
		refused gate.Refusal
		want    string
	}{
		{"a rule with a reason", gate.Refusal{Reason: gate.DeniedByPolicy, Rule: &policy.Rule{Reason: "not on Sundays"}},
			`{"code":"PERMISSION_DENIED","message":"Permission denied: 'not on Sundays'","details":{"reason":"not on ` +
				`Sundays","operation":"drop"}}`},
		{"a rule whose reason shows something internal",
			gate.Refusal{Reason: gate.DeniedByPolicy, Rule: &policy.Rule{Reason: "see /etc/rules.go:7"}},
			`{"code":"PERMISSION_DENIED","message":"Permission denied: 'the policy of this adapter does not allow this ` +
				`operation with these parameters'",` +
				`"details":{"reason":"the policy of this adapter does not allow this operation with these parameters",` +
				`"operation":"drop"}}`},
		{"trust, by the matrix", gate.Refusal{Reason: gate.DeniedByTrust, Level: trust.Generated,
			Trust: trust.Ruling{Required: trust.Certified}},
			`{"code":"PERMISSION_DANGER_LEVEL_DENIED","message":"Operation 'drop' (danger: destructive) denied for adapter ` +
				`trust level 'generated'",` +
				`"details":{"operation":"drop","danger_level":"destructive","adapter_trust":"generated",` +
				`"minimum_trust_required":"certified","reasons":["It is gone"]}}`},
		{"trust, by a minimum", gate.Refusal{Reason: gate.TrustTooLow, Level: trust.Untested,
			Trust: trust.Ruling{Required: trust.Validated}},
			`{"code":"PERMISSION_TRUST_LEVEL_INSUFFICIENT","message":"Operation 'drop' requires trust level 'validated', ` +
				`adapter has 'untested'",` +
				`"details":{"operation":"drop","required_trust":"validated","actual_trust":"untested","danger_level":2}}`},
		{"a limit of the API", gate.Refusal{Reason: gate.RateLimited,
			Block: &meter.Block{Limit: &quota.Limit{Limit: 10, Window: quota.Minute}, Resets: now.Add(1500 * time.Millisecond)}},
			`{"code":"RATE_LIMIT_EXCEEDED","message":"API rate limit exceeded","details":{"limit":10,"remaining":0,` +
				`"window":"minute",` +
				`"resets_at":"2026-03-01T09:00:01.500Z","retry_after_seconds":2}}`},
		{"a quota that pauses", gate.Refusal{Reason: gate.QuotaPaused, Block: paused, Ticket: ticket},
			`{"code":"RATE_LIMIT_QUOTA_PAUSE","message":"Quota pause threshold reached",` +
				`"details":{"metric":"requests_per_day","current":5,` +
				`"pause_threshold":5,"hard_stop_threshold":9,"confirmation_token":"conf_x",` +
				`"expires_at":"2026-03-01T09:01:00.000Z","hint":"` + continueWithToken + `"}}`},
		{"a quota that is exhausted", gate.Refusal{Reason: gate.QuotaExhausted, Block: paused},
			`{"code":"RATE_LIMIT_QUOTA_EXHAUSTED","message":"Quota exhausted","details":{"metric":"requests_per_day",` +
				`"current":5,` +
				`"hard_stop_threshold":9,"resets_at":"2026-03-01T09:01:30.000Z","retry_after_seconds":90}}`},
		{"confirmation", gate.Refusal{Reason: gate.ConfirmationNeeded, Ticket: ticket, Wait: 1200 * time.Millisecond,
			Rule: &policy.Rule{Reason: "by rule"}},
			`{"code":"CONFIRMATION_REQUIRED","message":"This operation requires confirmation","details":{"operation":"drop",` +
				`"danger_level":"destructive",` +
				`"reasons":["It is gone","by rule"],"confirmation_message":"Drop 'n1'?","confirmation_token":"conf_x",` +
				`"expires_at":"2026-03-01T09:01:00.000Z","retry_after_seconds":2,` +
				`"hint":"` + askTheUser + `"}}`},
		{"a token that has expired", gate.Refusal{Reason: gate.TokenRefused,
			Redeemed: gate.Redemption{Verdict: gate.Expired, Expires: now.Add(-time.Second)}},
			`{"code":"TOKEN_EXPIRED","message":"Confirmation token has expired","details":{"token":"conf_x",` +
				`"expired_at":"2026-03-01T08:59:59.000Z",` +
				`"current_time":"2026-03-01T09:00:00.000Z","hint":"` + withoutToken + `"}}`},
		{"a token that was used", gate.Refusal{Reason: gate.TokenRefused,
			Redeemed: gate.Redemption{Verdict: gate.AlreadyUsed, ConsumedAt: now}},
			`{"code":"TOKEN_ALREADY_USED","message":"Confirmation token has already been used","details":{"token":"conf_x",` +
				`"consumed_at":"2026-03-01T09:00:00.000Z","hint":"` + usedToken + `"}}`},
		{"a token of another operation",
			gate.Refusal{Reason: gate.TokenRefused, Redeemed: gate.Redemption{Verdict: gate.ScopeMismatch, Operation: "wipe"}},
			`{"code":"TOKEN_SCOPE_MISMATCH","message":"Confirmation token scope mismatch","details":{"token":"conf_x",` +
				`"token_operation":"wipe","requested_operation":"drop","hint":"` + otherToken + `"}}`},
		{"an unknown token", gate.Refusal{Reason: gate.TokenRefused},
			`{"code":"TOKEN_INVALID","message":"Invalid confirmation token","details":{"token":"conf_x","hint":"` +
				unknownToken + `"}}`},
		{"a human who did not approve", gate.Refusal{Reason: gate.Declined},
			`{"code":"PERMISSION_DENIED","message":"Permission denied: 'the user was asked and did not approve'",` +
				`"details":{"reason":"the user was asked and did not approve","operation":"drop"}}`},
		{"too many tokens", gate.Refusal{Reason: gate.TooManyTokens, Wait: 3 * time.Second},
			`{"code":"RATE_LIMIT_EXCEEDED","message":"Too many confirmations were asked for or failed. Wait before asking ` +
				`again.",` +
				`"details":{"operation":"drop","retry_after_seconds":3}}`},
		{"too many requests that wait", gate.Refusal{Reason: gate.TooManyWait, Wait: 300 * time.Second},
			`{"code":"RATE_LIMIT_EXCEEDED","message":"Too many requests already wait for people, so this one cannot, and ` +
				`nothing has run. Tell the user this: an operator makes room by deciding about them, with 'operator ` +
				`list', 'operator approve' and 'operator deny'. Otherwise they expire: send the request again then.",` +
				`"details":{"operation":"drop","retry_after_seconds":300}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			failed, _ := (&refusal{Refusal: &tt.refused, request: q, now: now}).explain()
			checkText(t, "failure", tt.want, asJSON(failed))
			if leak := words.StaticLeak(failed.Message); leak != "" {
				t.Errorf("%q fails the leak check", leak)
			}
		})
	}
}

// Whom the confirmation is left to: an agent gets a token, a human gets a question, and the items of a batch get no
// question.
func TestRefusalQuestion(t *testing.T) {
	o := stageOperation("drop", "delete", gen.Param{Name: "id"}, gen.Param{Name: "key", Sensitive: true})
	o.definition.Confirm = "Drop '{id}' with {key}?"
	q := stageRequest(o, "id", `"n1"`, "key", `"secret"`)
	refused := &gate.Refusal{Reason: gate.ConfirmationNeeded, Ticket: gate.Ticket{Token: "conf_x"}}
	for _, tt := range []struct {
		name               string
		humanOnly, inBatch bool
		code               Code
		question           bool
	}{
		{"an agent may confirm", false, false, codeConfirm, true},
		{"an agent may confirm an item", false, true, codeConfirm, false},
		{"only a human may confirm", true, false, CodePermissionDenied, true},
		{"only a human may confirm, and no item", true, true, CodePermissionDenied, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			failed, question := (&refusal{Refusal: refused, request: q, humanOnly: tt.humanOnly, inBatch: tt.inBatch}).explain()
			if failed.Code != tt.code || question != nil != tt.question {
				t.Fatalf("%v, question %v", failed, question)
			}
			if question == nil {
				return
			}
			got, err := json.Marshal(question)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"Continues":false,"Operation":"drop","DangerLevel":"destructive",` +
				`"Message":"Drop 'n1' with ***?","Reasons":null,` +
				`"Params":"{\"id\":\"n1\",\"key\":\"***\"}","Wait":0,"Expires":"0001-01-01T00:00:00Z",` +
				`"Typing":{"param":"","value":""},"Approval":""}`
			checkText(t, "question", want, string(got))
		})
	}
}

// The warning about a quota is more severe the nearer its next threshold is.
func TestQuotaWarning(t *testing.T) {
	for current, want := range map[float64]Severity{4: SeverityMedium, 9: SeverityMedium, 9.5: SeverityHigh} {
		w := quotaWarning(&meter.Warning{Quota: &quota.Quota{Warn: 4, HardStop: 10}, Current: current})
		if w.Severity != want {
			t.Errorf("at %v: %s, want %s", current, w.Severity, want)
		}
	}
}

// The pause of a quota that only a person lifts says who can be asked, where nobody was.
func TestPauseThatPeopleLift(t *testing.T) {
	q := stageRequest(stageOperation("drop", "delete"))
	paused := &gate.Refusal{Reason: gate.QuotaPaused, Block: &meter.Block{Quota: &quota.Quota{Pause: 5}, Current: 5}}
	for want, r := range map[string]refusal{
		nobodyLifts:       {humanOnly: true},
		namelessPause:     {humanOnly: true, hasInbox: true},
		pausedInBatch:     {humanOnly: true, asksAlone: true, inBatch: true},
		continueWithToken: {},
	} {
		r.Refusal, r.request = paused, q
		failed, _ := r.explain()
		if got := asJSON(failed); !strings.Contains(got, want) || words.StaticLeak(want) != "" {
			t.Errorf("%s lacks %q, or that fails the leak check", got, want)
		}
	}
}
