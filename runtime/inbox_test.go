package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// desk is an adapter with an inbox, and the people who decide in it.
type desk struct {
	*fixture
	state store.Store
	inbox approve.Inbox
}

func newDesk(t *testing.T, options Options) *desk {
	t.Helper()
	if options.State == nil {
		options.State = new(store.Memory)
	}
	options.Confirmation.Inbox = approve.New
	return &desk{newFixture(t, options), options.State, approve.New(options.State)}
}

// humanOnly is Options where only people confirm.
func humanOnly() Options { return Options{Confirmation: Confirmation{HumanOnly: true}} }

// told is what an agent is told.
type told struct {
	Success bool `json:"success"`
	Error   struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Details struct {
			ApprovalID string `json:"approval_id"`
			Expires    string `json:"expires_at"`
			After      int    `json:"retry_after_seconds"`
			Token      string `json:"confirmation_token"`
			Message    string `json:"confirmation_message"`
			Hint       string `json:"hint"`
		} `json:"details"`
	} `json:"error"`
}

// send sends a request of a caller in a session of its own.
func (d *desk) send(subject, request string) told {
	d.tb.Helper()
	ctx := WithCaller(context.Background(), Caller{Subject: subject, Issuer: "test"})
	return d.parse(d.adapter.NewSession().Call(ctx, "mcp_aql_delete", []byte(request)))
}

func (d *desk) parse(reply Reply) (a told) {
	d.tb.Helper()
	checkOfficial(d.tb, reply.JSON)
	if err := json.Unmarshal(reply.JSON, &a); err != nil {
		d.tb.Fatalf("%s: %v", reply.JSON, err)
	}
	if reply.Question != nil || a.Error.Details.Token != "" {
		d.tb.Errorf("a question or a token leaves the server: %s", reply.JSON)
	}
	return a
}

// ask sends a request that has to wait, and returns its item.
func (d *desk) ask(subject, request string) string {
	d.tb.Helper()
	a := d.send(subject, request)
	if a.Error.Code != "CONFIRMATION_REQUIRED" || !strings.HasPrefix(a.Error.Details.ApprovalID, "ask_") {
		d.tb.Fatalf("a request that has to wait: %+v", a)
	}
	return a.Error.Details.ApprovalID
}

func (d *desk) vote(who, id string, approves bool, reason string, groups ...string) error {
	_, err := d.inbox.Vote(context.Background(), id, approve.Vote{
		By: Caller{Subject: who, Issuer: "test"}, Groups: groups, Channel: "test", Approve: approves, Reason: reason,
		At: d.now,
	})
	return err
}

func (d *desk) approve(id string) {
	d.tb.Helper()
	if err := d.vote("eve", id, true, ""); err != nil {
		d.tb.Fatal(err)
	}
}

const (
	deleteN2 = `{"operation":"delete_note","params":{"note_id":"n2"}}`
	// sameAsN1 is deleteN1 in another form.
	sameAsN1 = `{ "params" : { "limit": 25, "note_id" : "n\u0031" }, "operation" : "delete_note" }`
)

// REQ-NT-07, F61: an approval is good for one caller, one operation and one set of parameters, once.
func TestApprovalsAreForOneRequest(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(d *desk, id string)
		caller string
		send   string
		want   string // the code; empty: it runs
	}{
		"nobody has decided":                  {nil, "ann", deleteN1, "CONFIRMATION_REQUIRED"},
		"it is approved":                      {(*desk).approve, "ann", deleteN1, ""},
		"the same parameters in another form": {(*desk).approve, "ann", sameAsN1, ""},
		"other parameters":                    {(*desk).approve, "ann", deleteN2, "CONFIRMATION_REQUIRED"},
		"another operation": {(*desk).approve, "ann", `{"operation":"wipe_notes"}`,
			"CONFIRMATION_REQUIRED"},
		"another caller": {(*desk).approve, "bob", deleteN1, "CONFIRMATION_REQUIRED"},
		"it was used up": {func(d *desk, id string) {
			d.approve(id)
			d.send("ann", deleteN1)
			d.ran = nil
		}, "ann", deleteN1, "CONFIRMATION_REQUIRED"},
		"nobody decided in time": {func(d *desk, _ string) { d.now = d.now.Add(5 * time.Minute) },
			"ann", deleteN1, "CONFIRMATION_REQUIRED"},
		"it was approved too long ago": {func(d *desk, id string) {
			d.approve(id)
			d.now = d.now.Add(5 * time.Minute)
		}, "ann", deleteN1, "CONFIRMATION_REQUIRED"},
		"it is denied": {func(d *desk, id string) {
			if err := d.vote("eve", id, false, "not on a Friday"); err != nil {
				d.tb.Error(err)
			}
		}, "ann", deleteN1, "PERMISSION_DENIED"},
		"the denial is long ago": {func(d *desk, id string) {
			if err := d.vote("eve", id, false, ""); err != nil {
				d.tb.Error(err)
			}
			d.now = d.now.Add(5 * time.Minute)
		}, "ann", deleteN1, "CONFIRMATION_REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, humanOnly())
			id := d.ask("ann", deleteN1)
			if tt.before != nil {
				tt.before(d, id)
			}
			got := d.send(tt.caller, tt.send)
			if got.Error.Code != tt.want || got.Success != (tt.want == "") || len(d.ran) > 0 != (tt.want == "") {
				t.Errorf("%+v, ran %v; want the code %q", got, d.ran, tt.want)
			}
			if waits := got.Error.Details.ApprovalID == id; waits != (name == "nobody has decided" || name == "it is denied") {
				t.Errorf("it has the item %s after %s", got.Error.Details.ApprovalID, id)
			}
		})
	}
}

// What an agent and a person are told.
func TestWaitingRequestsSayWhatToDo(t *testing.T) {
	d := newDesk(t, humanOnly())
	const request = `{"operation":"delete_note","params":{"note_id":"n1","secret":"hunter2hunter2"}}`
	got := d.send("ann", request)
	details := got.Error.Details
	if details.Expires != "2026-03-01T09:05:00.000Z" || details.After != 5 || details.Hint != sendAgain ||
		details.Message != "Delete note 'n1'? Secret ***, limit 25." {
		t.Errorf("%+v", got)
	}
	item, err := d.inbox.Get(t.Context(), details.ApprovalID)
	if err != nil {
		t.Fatal(err)
	}
	if item.Operation != "delete_note" || item.Danger != gen.Destructive || item.Caller.Subject != "ann" ||
		item.Adapter != "notes" || item.Message != details.Message ||
		item.Params != `{"note_id":"n1","limit":25,"secret":"***"}` {
		t.Errorf("%+v", item)
	}
	for _, reason := range []string{"it is in use", "see /src/db.go:12"} {
		d := newDesk(t, humanOnly())
		if err := d.vote("eve", d.ask("ann", deleteN1), false, reason); err != nil {
			t.Fatal(err)
		}
		if said := d.send("ann", deleteN1).Error.Message; strings.Contains(said, reason) != (reason == "it is in use") ||
			!strings.Contains(said, "did not approve") {
			t.Errorf("the reason %q is told as %s", reason, said)
		}
	}
	for _, text := range []string{
		d.adapter.Instructions(),
		d.call("mcp_aql_read", `{"operation":"introspect","params":{"query":"operations","name":"delete_note"}}`),
	} {
		if strings.Contains(text, "token") {
			t.Errorf("it speaks of tokens: %s", text)
		}
	}
	if !strings.Contains(d.adapter.Instructions(), "send exactly the same request again later") {
		t.Errorf("instructions: %s", d.adapter.Instructions())
	}
}

// What has run in a batch is not sent again.
func TestWaitingItemsOfBatchesSayWhatToSend(t *testing.T) {
	d := newDesk(t, humanOnly())
	ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
	d.approve(d.ask("ann", deleteN2))
	text := string(d.adapter.NewSession().Call(ctx, "mcp_aql_delete",
		[]byte(`{"operations":[`+deleteN2+`,`+deleteN1+`]}`)).JSON)
	if len(d.ran) != 1 || !strings.Contains(text, sendRest) || !strings.Contains(text, askedInBatch) ||
		strings.Contains(text, sendAgain) || strings.Contains(text, askedOperator) {
		t.Errorf("ran %v: %s", d.ran, text)
	}
}

// C9, T-55: who reads the whole store finds nothing there that confirms a request.
func TestNothingInTheStoreConfirms(t *testing.T) {
	d := newDesk(t, humanOnly())
	id := d.ask("ann", deleteN1)
	entries, err := d.state.List(t.Context(), "", "", 1000)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	found := []string{id, strings.TrimPrefix(id, "ask_"), "conf_" + strings.TrimPrefix(id, "ask_")}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Key, "token/") {
			t.Errorf("the store has a token: %s", entry.Key)
		}
		found = append(found, entry.Key, entry.Key[strings.LastIndexByte(entry.Key, '/')+1:], string(entry.Value))
	}
	for _, text := range found {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		request := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":`+string(quoted), 1)
		if got := d.send("ann", request); got.Success || len(d.ran) > 0 {
			t.Errorf("presenting %q: %+v", text, got)
		}
		ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
		ctx = WithAnswer(ctx, Answer{State: text, Approved: true})
		d.adapter.NewCallerSession().Call(ctx, "mcp_aql_delete", []byte(deleteN1))
		if len(d.ran) > 0 {
			t.Fatalf("answering with %q: it runs", text)
		}
	}
}

// A client that can ask its user does, as without an inbox, and nothing waits for anybody else.
func TestClientsThatAskNeedNoInbox(t *testing.T) {
	d := newDesk(t, humanOnly())
	session := d.adapter.NewSession()
	ctx := d.adapter.WithAsker(t.Context())
	asked := session.Call(ctx, "mcp_aql_delete", []byte(deleteN1))
	if asked.Question == nil {
		t.Fatalf("no question: %s", asked.JSON)
	}
	state, err := session.Seal(ctx, asked.Question)
	if err != nil {
		t.Fatal(err)
	}
	session.Call(WithAnswer(ctx, Answer{State: state, Approved: true}), "mcp_aql_delete", []byte(deleteN1))
	if items, err := d.inbox.List(t.Context()); len(d.ran) != 1 || len(items) > 0 || err != nil {
		t.Errorf("ran %v, %d items, %v", d.ran, len(items), err)
	}
	batch := session.Call(ctx, "mcp_aql_delete", []byte(`{"operations":[`+deleteN1+`,`+deleteN2+`]}`))
	checkOfficialBatch(t, batch.JSON)
	if items, err := d.inbox.List(t.Context()); len(items) != 1 || err != nil {
		t.Errorf("of a batch %d items wait, %v: %s", len(items), err, batch.JSON)
	}
	if other := newFixture(t, Options{}); other.adapter.WithAsker(t.Context()) != t.Context() {
		t.Error("an adapter whose calls agents confirm makes a context")
	}
}

// REQ-NT-07: what an operator has denied stays denied, also for a client that asks its user.
func TestClientsThatAskCannotUndoDenials(t *testing.T) {
	get := `{"operation":"get_note","params":{"note_id":"n1"}}`
	paused := humanOnly()
	paused.Quota = quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}}}
	for name, tt := range map[string]struct {
		options       Options
		tool, request string
	}{
		"a confirmation": {humanOnly(), "mcp_aql_delete", deleteN1},
		"a continuation": {paused, "mcp_aql_read", get},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, tt.options)
			ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
			asks := d.adapter.WithAsker(ctx)
			if name == "a continuation" {
				d.adapter.NewSession().Call(ctx, tt.tool, []byte(tt.request))
			}
			session := d.adapter.NewSession()
			asked := session.Call(asks, tt.tool, []byte(tt.request))
			if asked.Question == nil {
				t.Fatalf("no question: %s", asked.JSON)
			}
			state, err := session.Seal(asks, asked.Question)
			if err != nil {
				t.Fatal(err)
			}
			d.ran = nil
			waits := d.parse(d.adapter.NewSession().Call(ctx, tt.tool, []byte(tt.request)))
			if err := d.vote("eve", waits.Error.Details.ApprovalID, false, "no"); err != nil {
				t.Fatal(err)
			}
			answered := WithAnswer(asks, Answer{State: state, Approved: true})
			for what, reply := range map[string]Reply{
				"a new client":      d.adapter.NewSession().Call(asks, tt.tool, []byte(tt.request)),
				"an earlier answer": session.Call(answered, tt.tool, []byte(tt.request)),
			} {
				if got := d.parse(reply); got.Error.Code != "PERMISSION_DENIED" || len(d.ran) > 0 {
					t.Errorf("%s: %+v, ran %v", what, got, d.ran)
				}
			}
		})
	}
}

// What an operator has denied on the page to which a client was referred stays denied for clients that open none, which
// get tokens: with a token from before, and without any.
func TestDenialsOnThePageHoldForOtherClients(t *testing.T) {
	d := newDesk(t, Options{})
	plain := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
	send := func(ctx context.Context, request string) (a told) {
		t.Helper()
		if err := json.Unmarshal(d.adapter.NewSession().Call(ctx, "mcp_aql_delete", []byte(request)).JSON, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	waits := send(d.adapter.WithReferrer(plain), deleteN1)
	token := send(plain, deleteN1).Error.Details.Token
	if waits.Error.Details.ApprovalID == "" || token == "" {
		t.Fatalf("%+v, token %q", waits, token)
	}
	if err := d.vote("eve", waits.Error.Details.ApprovalID, false, "never"); err != nil {
		t.Fatal(err)
	}
	for what, request := range map[string]string{
		"without a token": deleteN1,
		"with a token":    strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+token+`"`, 1),
	} {
		if got := send(plain, request); got.Error.Code != "PERMISSION_DENIED" || len(d.ran) > 0 {
			t.Errorf("%s: %+v, ran %v", what, got, d.ran)
		}
	}
}

// Anonymous callers are told apart by their connections, and where they have none they cannot wait.
func TestAnonymousCallersDoNotShareApprovals(t *testing.T) {
	d := newDesk(t, humanOnly())
	one, other := d.adapter.NewSession(), d.adapter.NewSession()
	call := func(s *Session) told { return d.parse(s.Call(t.Context(), "mcp_aql_delete", []byte(deleteN1))) }
	d.approve(call(one).Error.Details.ApprovalID)
	if got := call(other); got.Error.Code != "CONFIRMATION_REQUIRED" {
		t.Errorf("another connection: %+v", got)
	}
	if got := call(one); !got.Success {
		t.Errorf("the one that asked: %+v", got)
	}
	reply := d.adapter.NewCallerSession().Call(t.Context(), "mcp_aql_delete", []byte(deleteN1))
	if !strings.Contains(string(reply.JSON), "name or a connection") {
		t.Errorf("without a connection: %s", reply.JSON)
	}
}

// The pause of a quota waits for a person as well, and then the operation.
func TestContinuationsWait(t *testing.T) {
	options := humanOnly()
	options.Quota = quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}}}
	d := newDesk(t, options)
	const get = `{"operation":"get_note","params":{"note_id":"n1"}}`
	ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
	read := func() told {
		return d.parse(d.adapter.NewSession().Call(ctx, "mcp_aql_read", []byte(get)))
	}
	read()
	paused := read()
	if paused.Error.Code != "RATE_LIMIT_QUOTA_PAUSE" || paused.Error.Details.ApprovalID == "" {
		t.Fatalf("%+v", paused)
	}
	if again := read(); again.Error.Details.ApprovalID != paused.Error.Details.ApprovalID {
		t.Errorf("it asks twice: %+v", again)
	}
	removing := d.send("ann", deleteN1) // it waits for the quota first, as all calls of ann do
	if removing.Error.Code != "RATE_LIMIT_QUOTA_PAUSE" ||
		removing.Error.Details.ApprovalID != paused.Error.Details.ApprovalID {
		t.Errorf("%+v", removing)
	}
	d.approve(paused.Error.Details.ApprovalID)
	if got := read(); !got.Success {
		t.Errorf("%+v", got)
	}
	d.approve(d.ask("ann", deleteN1))
	if got := d.send("ann", deleteN1); !got.Success {
		t.Errorf("%+v", got)
	}
}

// pausing is a desk where the second call of a caller meets a pause, and nothing else needs an approval.
func pausing(t *testing.T, shared bool) *desk {
	options := humanOnly()
	options.Confirmation.Off = true
	options.Quota = quota.Options{Quotas: []quota.Quota{
		{Metric: quota.RequestsPerDay, Pause: 1, HardStop: 50, Shared: shared},
	}}
	return newDesk(t, options)
}

func (d *desk) removes(subject string, n int) told {
	return d.send(subject, fmt.Sprintf(`{"operation":"delete_note","params":{"note_id":"n%d"}}`, n))
}

// Who lifts the pause of a quota is told of what that decides, and not of the request that happened to come next.
func TestContinuationsSayWhatTheyLift(t *testing.T) {
	for name, tt := range map[string]struct {
		shared bool
		want   string
	}{
		"its own quota": {false, "this caller"},
		"a shared one":  {true, "all callers together"},
	} {
		t.Run(name, func(t *testing.T) {
			d := pausing(t, tt.shared)
			d.removes("ann", 1)
			item, err := d.inbox.Get(t.Context(), d.removes("ann", 2).Error.Details.ApprovalID)
			if err != nil {
				t.Fatal(err)
			}
			midnight := d.now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Format(time.RFC3339)
			want := "Quota requests_per_day of " + tt.want + " pauses at 1, and 1 is used. It stops at 50.\n" +
				"Let all calls of this caller, of whatever operation, go on until " + midnight + "?"
			checkText(t, "message", want, item.Message)
			if item.Kind != approve.Continuation || item.Params != "" || item.Reasons != nil || item.Rule != "" {
				t.Errorf("%+v", item)
			}
		})
	}
}

// What people decide about a pause they decide for all calls of the caller, until the quota resets.
func TestContinuationsAreOfACallerAndAPeriod(t *testing.T) {
	const paused = "RATE_LIMIT_QUOTA_PAUSE"
	wipe := `{"operation":"wipe_notes"}`
	for name, tt := range map[string]struct {
		approves bool
		want     string
	}{"approved": {true, ""}, "denied": {false, "PERMISSION_DENIED"}} {
		t.Run(name, func(t *testing.T) {
			d := pausing(t, false)
			d.removes("ann", 1)
			d.removes("bob", 1)
			id := d.removes("ann", 2).Error.Details.ApprovalID
			if got := d.send("ann", wipe); got.Error.Details.ApprovalID != id {
				t.Errorf("another operation: %+v", got)
			}
			if err := d.vote("eve", id, tt.approves, "enough for today"); err != nil {
				t.Fatal(err)
			}
			for n := range 3 {
				if got := d.removes("ann", 3-n); got.Error.Code != tt.want {
					t.Errorf("after the decision: %+v", got)
				}
			}
			if got := d.send("ann", wipe); got.Error.Code != tt.want {
				t.Errorf("another operation, after the decision: %+v", got)
			}
			if got := d.removes("bob", 2); got.Error.Code != paused || got.Error.Details.ApprovalID == id {
				t.Errorf("another caller: %+v", got)
			}
			d.now = d.now.Add(24 * time.Hour)
			if got := d.removes("ann", 1); !got.Success {
				t.Errorf("the next day: %+v", got)
			}
			if got := d.removes("ann", 2); got.Error.Code != paused || got.Error.Details.ApprovalID == id {
				t.Errorf("the next day, beyond the pause: %+v", got)
			}
		})
	}
}

// An approval of what the caller asked on one day lifts no pause of the next.
func TestContinuationsEndWithTheirPeriod(t *testing.T) {
	d := pausing(t, false)
	d.now = d.now.UTC().Truncate(24 * time.Hour).Add(24*time.Hour - time.Minute)
	d.removes("ann", 1)
	id := d.removes("ann", 2).Error.Details.ApprovalID
	d.approve(id)
	d.now = d.now.Add(2 * time.Minute)
	d.removes("ann", 1)
	if got := d.removes("ann", 2); got.Error.Code != "RATE_LIMIT_QUOTA_PAUSE" || got.Error.Details.ApprovalID == id {
		t.Errorf("%+v", got)
	}
}

// Where another request has used up the approval, and lifts the pause now or died before it could, nobody is asked
// again.
func TestUsedContinuationsCountForTheirPeriod(t *testing.T) {
	d := pausing(t, false)
	d.removes("ann", 1)
	id := d.removes("ann", 2).Error.Details.ApprovalID
	d.approve(id)
	item, err := d.inbox.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.inbox.Use(t.Context(), item, d.now); err != nil {
		t.Fatal(err)
	}
	if got := d.removes("ann", 2); !got.Success {
		t.Errorf("%+v", got)
	}
}

// twoOfThree is a policy under which two people of a group, but not who asks, approve with a reason.
var twoOfThree = &policy.Policy{Rules: []policy.Rule{{
	Name: "two-of-ops", Effect: policy.Confirm, Operations: []string{"delete_note"}, Reason: "Notes are records",
	Approvers: &policy.Approvers{
		Count: 2, Groups: []string{"ops"}, NotRequester: true, ReasonRequired: true, Within: time.Hour,
	},
}}}

// F61: the policy says who must approve, and then neither tokens nor the user of the client confirm.
func TestThePolicySaysWhoMustApprove(t *testing.T) {
	d := newDesk(t, Options{Policy: twoOfThree})
	id := d.ask("ann", deleteN1)
	for _, vote := range []struct {
		who, reason string
		groups      []string
		want        error
	}{
		{"ann", "mine", []string{"ops"}, approve.ErrRequester},
		{"eve", "", []string{"ops"}, approve.ErrNoReason},
		{"eve", "fine", []string{"sales"}, approve.ErrNotApprover},
		{"eve", "fine", []string{"ops"}, nil},
		{"eve", "twice", []string{"ops"}, approve.ErrVoted},
	} {
		if err := d.vote(vote.who, id, true, vote.reason, vote.groups...); !errors.Is(err, vote.want) {
			t.Errorf("%+v: %v", vote, err)
		}
		if got := d.send("ann", deleteN1); got.Error.Details.ApprovalID != id || len(d.ran) > 0 {
			t.Errorf("after %+v: %+v", vote, got)
		}
	}
	d.now = d.now.Add(59 * time.Minute)
	if err := d.vote("bob", id, true, "seen", "ops"); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(59 * time.Minute)
	if got := d.send("ann", deleteN1); !got.Success {
		t.Errorf("approved by two: %+v", got)
	}
	session := d.adapter.NewSession()
	ctx := d.adapter.WithAsker(WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"}))
	if got := d.parse(session.Call(ctx, "mcp_aql_delete", []byte(deleteN1))); got.Error.Details.ApprovalID == "" {
		t.Errorf("a client that can ask its user: %+v", got)
	}
	if text := d.adapter.Instructions(); !strings.Contains(text, "If an answer has an approval_id") {
		t.Errorf("instructions: %s", text)
	}
	if text := newDesk(t, Options{}).adapter.Instructions(); strings.Contains(text, "approval_id") {
		t.Errorf("instructions where no rule says who must approve: %s", text)
	}
	f := newFixture(t, Options{})
	if err := f.adapter.SetPolicy(twoOfThree); err == nil || !strings.Contains(err.Error(), "nowhere to ask them") {
		t.Errorf("without an inbox: %v", err)
	}
}

// T-62, F61: where who confirms authenticates anew, each of those does who approve in the inbox. The caller is asked
// nothing: what it does is no confirmation.
func TestThePolicyHasApproversAuthenticateAnew(t *testing.T) {
	by := func(rule policy.Rule) Options {
		options := humanOnly()
		rule.Name, rule.Effect, rule.Operations = "anew", policy.Confirm, []string{"delete_note"}
		options.Policy = &policy.Policy{Rules: []policy.Rule{rule}}
		return options
	}
	from := humanOnly()
	from.Confirmation.ReauthenticateFrom = gen.Destructive
	called := by(policy.Rule{Reauthenticate: true})
	called.Confirmation.Reauthenticate = func(context.Context, Caller, string) error {
		t.Error("the caller is asked")
		return errors.New("no")
	}
	for name, tt := range map[string]struct {
		options Options
		people  []string
	}{
		"a rule": {by(policy.Rule{Reauthenticate: true}), []string{"eve"}},
		"a rule with two approvers": {
			by(policy.Rule{Reauthenticate: true, Approvers: &policy.Approvers{Count: 2}}), []string{"eve", "joe"},
		},
		"the danger level":            {from, []string{"eve"}},
		"a callback about the caller": {called, []string{"eve"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, tt.options)
			id := d.ask("ann", deleteN1)
			for _, who := range tt.people {
				if err := d.vote(who, id, true, "fine"); !errors.Is(err, approve.ErrNotAnew) {
					t.Errorf("%s, logged in alone: %v", who, err)
				}
				if got := d.send("ann", deleteN1); got.Error.Details.ApprovalID != id || len(d.ran) > 0 {
					t.Errorf("before %s has approved: %+v", who, got)
				}
				_, err := d.inbox.Vote(t.Context(), id, approve.Vote{
					By: Caller{Subject: who, Issuer: "test"}, Channel: "test", Approve: true, Authenticated: true, At: d.now,
				})
				if err != nil {
					t.Errorf("%s, authenticated anew: %v", who, err)
				}
			}
			if got := d.send("ann", deleteN1); !got.Success || len(d.ran) != 1 {
				t.Errorf("approved: %+v", got)
			}
			if got := d.send("ann", deleteN1); got.Error.Code != "CONFIRMATION_REQUIRED" || len(d.ran) != 1 {
				t.Errorf("once more: %+v", got)
			}
		})
	}
}

// Who denies authenticates as before: a denial does no harm.
func TestDenialsNeedNoFreshAuthentication(t *testing.T) {
	options := humanOnly()
	options.Confirmation.ReauthenticateFrom = gen.Destructive
	d := newDesk(t, options)
	id := d.ask("ann", deleteN1)
	if err := d.vote("eve", id, false, "not now"); err != nil {
		t.Error(err)
	}
	if got := d.send("ann", deleteN1); got.Error.Code != "PERMISSION_DENIED" {
		t.Errorf("denied: %+v", got)
	}
}

// F61: an approval is good for the policy under which it was given, and a denial for every policy.
func TestApprovalsAreForOnePolicy(t *testing.T) {
	rule := func(change func(*policy.Rule)) *policy.Policy {
		r := policy.Rule{
			Name: "removals", Effect: policy.Confirm, Operations: []string{"delete_note"}, Approvers: new(policy.Approvers),
		}
		change(&r)
		return &policy.Policy{Rules: []policy.Rule{r}}
	}
	for name, change := range map[string]func(*policy.Rule){
		"more people":    func(r *policy.Rule) { r.Approvers.Count = 2 },
		"other people":   func(r *policy.Rule) { r.Approvers.Groups = []string{"ops"} },
		"not oneself":    func(r *policy.Rule) { r.Approvers.NotRequester = true },
		"with a reason":  func(r *policy.Rule) { r.Approvers.ReasonRequired = true },
		"shown anew":     func(r *policy.Rule) { r.Reauthenticate = true },
		"sooner":         func(r *policy.Rule) { r.Approvers.Within = time.Minute },
		"with more care": func(r *policy.Rule) { r.Cooldown = time.Minute },
		"another rule":   func(r *policy.Rule) { r.Name = "freeze" },
		"another reason": func(r *policy.Rule) { r.Reason = "Release week: ask the release manager" },
		"as before":      func(r *policy.Rule) { r.Operations = append(r.Operations, "wipe_notes") },
	} {
		t.Run(name, func(t *testing.T) {
			options := humanOnly()
			options.Policy = rule(func(*policy.Rule) {})
			d := newDesk(t, options)
			approved, open, denied := d.ask("ann", deleteN1), d.ask("ann", deleteN2), d.ask("bob", deleteN1)
			d.approve(approved)
			if err := d.vote("eve", denied, false, ""); err != nil {
				t.Fatal(err)
			}
			if err := d.adapter.SetPolicy(rule(change)); err != nil {
				t.Fatal(err)
			}
			same := name == "as before"
			if id := d.send("ann", deleteN2).Error.Details.ApprovalID; (id == open) != same || id == "" {
				t.Errorf("the item %s that waited is %s now", open, id)
			}
			if got := d.send("ann", deleteN1); got.Success != same {
				t.Errorf("what was approved before: %+v", got)
			}
			if got := d.send("bob", deleteN1); got.Error.Code != "PERMISSION_DENIED" {
				t.Errorf("what was denied before: %+v", got)
			}
		})
	}
}

// An approval that no rule has demanded ends when one does, whomever that asks, and the other way round.
func TestApprovalsEndWithTheReasonForThem(t *testing.T) {
	rules := map[string]*policy.Policy{
		"none": {},
		"freeze": {Rules: []policy.Rule{{
			Name: "freeze", Effect: policy.Confirm, Operations: []string{"delete_note"}, Reason: "Ask the release manager",
		}}},
		"one person": {Rules: []policy.Rule{{
			Name: "one", Effect: policy.Confirm, Operations: []string{"delete_note"}, Approvers: new(policy.Approvers),
		}}},
	}
	for before := range rules {
		for after := range rules {
			t.Run(before+", "+after, func(t *testing.T) {
				options := humanOnly()
				options.Policy = rules[before]
				d := newDesk(t, options)
				approved := d.ask("ann", deleteN1)
				d.approve(approved)
				if err := d.adapter.SetPolicy(rules[after]); err != nil {
					t.Fatal(err)
				}
				got := d.send("ann", deleteN1)
				if asked := got.Error.Details.ApprovalID; got.Success != (before == after) || asked == approved {
					t.Fatalf("what was approved before: %+v", got)
				}
				if !got.Success {
					d.approve(got.Error.Details.ApprovalID)
					if got := d.send("ann", deleteN1); !got.Success {
						t.Errorf("what is approved now: %+v", got)
					}
				}
			})
		}
	}
}

// A scope is no part of who a caller is: an approval that was given to the caller with it is none without it.
func TestApprovalsAreForTheRulesOfOneScope(t *testing.T) {
	options := humanOnly()
	options.Policy = &policy.Policy{Rules: []policy.Rule{{
		Name: "two", Effect: policy.Confirm, Operations: []string{"delete_note"},
		Not: policy.Exception{Scopes: []string{"self"}}, Approvers: &policy.Approvers{Count: 2},
	}}}
	d := newDesk(t, options)
	ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test", Scopes: []string{"self"}})
	d.approve(d.parse(d.adapter.NewSession().Call(ctx, "mcp_aql_delete", []byte(deleteN1))).Error.Details.ApprovalID)
	if got := d.send("ann", deleteN1); got.Success || got.Error.Details.ApprovalID == "" {
		t.Errorf("without the scope: %+v", got)
	}
}

// A cooldown holds, however little time another rule gives people.
func TestCooldownsHoldBesideOtherRules(t *testing.T) {
	d := newDesk(t, Options{Policy: &policy.Policy{Rules: []policy.Rule{
		{
			Name: "quick", Effect: policy.Confirm, Operations: []string{"delete_note"},
			Approvers: &policy.Approvers{Within: time.Second},
		},
		{Name: "slow", Effect: policy.Confirm, Operations: []string{"delete_note"}, Cooldown: time.Minute},
	}}})
	id := d.ask("ann", deleteN1)
	d.now = d.now.Add(59 * time.Second)
	if err := d.vote("eve", id, true, ""); !errors.Is(err, approve.ErrTooEarly) {
		t.Errorf("before the cooldown has ended: %v", err)
	}
	d.now = d.now.Add(time.Second)
	d.approve(id)
	if got := d.send("ann", deleteN1); !got.Success {
		t.Errorf("%+v", got)
	}
}

// What waits, was approved or was denied is that after a rotation of the state key, too.
func TestItemsOutliveRotations(t *testing.T) {
	older, newer := []byte(strings.Repeat("o", 32)), []byte(strings.Repeat("n", 32))
	state := new(store.Memory)
	with := func(keys ...[]byte) *desk {
		options := humanOnly()
		options.State, options.StateKey, options.OldStateKeys = state, keys[0], keys[1:]
		d := newDesk(t, options)
		sealed, err := gate.SealedStore(state, keys...)
		if err != nil {
			t.Fatal(err)
		}
		d.inbox = approve.New(sealed)
		return d
	}
	before := with(older)
	before.approve(before.ask("ann", deleteN1))
	open := before.ask("ann", deleteN2)
	if err := before.vote("eve", before.ask("bob", deleteN1), false, ""); err != nil {
		t.Fatal(err)
	}
	after := with(newer, older)
	if got := after.send("ann", deleteN1); !got.Success {
		t.Errorf("what was approved: %+v", got)
	}
	if got := after.send("ann", deleteN1); got.Success || len(after.ran) != 1 {
		t.Errorf("and used: %+v", got)
	}
	if got := after.send("ann", deleteN2); got.Error.Details.ApprovalID != open {
		t.Errorf("what waits: %+v", got)
	}
	if got := after.send("bob", deleteN1); got.Error.Code != "PERMISSION_DENIED" {
		t.Errorf("what was denied: %+v", got)
	}
}

// A token that was issued before the policy said who must approve counts for nothing after that.
func TestTokensFromBeforeThePolicy(t *testing.T) {
	d := newDesk(t, Options{})
	session := d.adapter.NewSession()
	ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
	var first told
	if err := json.Unmarshal(session.Call(ctx, "mcp_aql_delete", []byte(deleteN1)).JSON, &first); err != nil {
		t.Fatal(err)
	}
	if err := d.adapter.SetPolicy(twoOfThree); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+first.Error.Details.Token+`"`, 1)
	if got := d.parse(session.Call(ctx, "mcp_aql_delete", []byte(text))); got.Error.Code != "PERMISSION_DENIED" ||
		len(d.ran) > 0 {
		t.Errorf("%+v", got)
	}
}

// REQ-CT-09: of many identical requests one uses up the approval.
func TestAnApprovalIsUsedOnceByManyRequests(t *testing.T) {
	d := newDesk(t, humanOnly())
	d.approve(d.ask("ann", deleteN1))
	ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
	var mu sync.Mutex
	codes := map[string]int{}
	together := make(chan struct{})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			<-together
			reply := d.adapter.NewSession().Call(ctx, "mcp_aql_delete", []byte(deleteN1))
			var a told
			if err := json.Unmarshal(reply.JSON, &a); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			codes[a.Error.Code]++
		})
	}
	close(together)
	wg.Wait()
	if codes[""] != 1 || codes["CONFIRMATION_REQUIRED"] != 31 || len(d.ran) != 1 {
		t.Errorf("%v, ran %v", codes, d.ran)
	}
	if items, err := d.inbox.List(t.Context()); len(items) != 1 || err != nil {
		t.Errorf("%d items, %v", len(items), err)
	}
}

// GK§5, T-15: what cannot be looked up or used up is not run.
func TestRequestsDoNotRunWithoutTheInbox(t *testing.T) {
	state := new(broken)
	options := humanOnly()
	options.State = state
	d := newDesk(t, options)
	d.approve(d.ask("ann", deleteN1))
	state.fails.Store(true)
	got := d.send("ann", deleteN1)
	if got.Error.Code != "INTERNAL_ERROR" || !strings.Contains(got.Error.Message, stateUnavailable) || len(d.ran) > 0 {
		t.Errorf("the store is down: %+v", got)
	}
	state.fails.Store(false)
	state.busy.Store(true)
	if got := d.send("ann", deleteN1); got.Error.Code != "RATE_LIMIT_EXCEEDED" || len(d.ran) > 0 {
		t.Errorf("the store is busy: %+v", got)
	}
	state.busy.Store(false)
	if got := d.send("ann", deleteN1); !got.Success {
		t.Errorf("the store is back, and the approval is there: %+v", got)
	}
	d.approve(d.ask("ann", deleteN1))
	for lost, want := range map[int32]Code{1: "RATE_LIMIT_EXCEEDED", 2: "INTERNAL_ERROR"} {
		d.ran = nil
		state.lost.Store(lost)
		got := d.send("ann", deleteN1)
		state.lost.Store(0)
		if got.Error.Code != string(want) || !strings.Contains(got.Error.Message, "confirmation may be used up") ||
			len(d.ran) > 0 {
			t.Errorf("the answer of the store is lost: %+v, ran %v", got, d.ran)
		}
		d.approve(d.ask("ann", deleteN1)) // the one before was used up
	}
}

// A caller cannot fill the inbox.
func TestTheInboxIsBounded(t *testing.T) {
	d := newDesk(t, humanOnly())
	request := func(i int) string {
		return strings.Replace(deleteN1, "n1", "n"+strings.Repeat("x", i%20)+string(rune('a'+i/20)), 1)
	}
	for i := range 200 {
		d.ask("ann", request(i))
	}
	if got := d.send("ann", request(200)); got.Error.Code != "RATE_LIMIT_EXCEEDED" ||
		!strings.Contains(got.Error.Message, "an operator makes room") {
		t.Errorf("one more: %+v", got)
	}
	if got := d.send("ann", request(200)); got.Error.Details.After < 300 || got.Error.Details.After > 301 {
		t.Errorf("one more can wait in %d seconds", got.Error.Details.After)
	}
	d.ask("ann", request(7)) // it waits already
	d.ask("bob", request(200))
	d.now = d.now.Add(5 * time.Minute)
	d.ask("ann", request(200)) // the others have expired
	if items, err := d.inbox.List(t.Context()); len(items) != 2 || err != nil {
		t.Errorf("%d items are there, %v", len(items), err)
	}
}

// An anonymous caller on one connection does not shut out those on others.
func TestAnonymousConnectionsAreBoundedOneByOne(t *testing.T) {
	d := newDesk(t, humanOnly())
	flood, other := d.adapter.NewSession(), d.adapter.NewSession()
	for i := range 201 {
		request := strings.Replace(deleteN1, "n1", strings.Repeat("x", i%20)+string(rune('a'+i/20)), 1)
		got := d.parse(flood.Call(t.Context(), "mcp_aql_delete", []byte(request)))
		if full := got.Error.Code == "RATE_LIMIT_EXCEEDED"; full != (i == 200) {
			t.Fatalf("request %d: %+v", i, got)
		}
	}
	if got := d.parse(other.Call(t.Context(), "mcp_aql_delete", []byte(deleteN1))); got.Error.Details.ApprovalID == "" {
		t.Errorf("another connection: %+v", got)
	}
}

// AU-01: who asked, who approved and what ran is on record.
func TestApprovalsAreOnRecord(t *testing.T) {
	sink := new(auditSink)
	options := humanOnly()
	options.Audit = audit.New(audit.Options{Sinks: []audit.Sink{sink}, Wait: true, Refusals: -1})
	d := newDesk(t, options)
	id := d.ask("ann", deleteN1)
	d.approve(id)
	d.send("ann", deleteN1)
	var got []string
	for _, r := range sink.all() {
		if r.Event != audit.OperationFinished && r.ApprovalID != id {
			t.Errorf("%s is about %q", r.Event, r.ApprovalID)
		}
		got = append(got, string(r.Event)+": "+r.Reason)
	}
	want := []string{
		"CONFIRMATION_REQUIRED: ", "APPROVAL_REQUESTED: ", `APPROVAL_USED: approved by "test""eve"`,
		`CONFIRMATION_GRANTED: approved by "test""eve"`, "OPERATION_FINISHED: ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// auditSink keeps records.
type auditSink struct {
	mu      sync.Mutex
	records []audit.Record
}

func (s *auditSink) Write(_ context.Context, records []audit.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, records...)
	return nil
}

func (s *auditSink) Close() error { return nil }

func (s *auditSink) all() []audit.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]audit.Record(nil), s.records...)
}

// An adapter whose calls wait for nobody pays nothing for having an inbox.
func TestAnUnusedInboxCostsNothing(t *testing.T) {
	// The race detector loses what pools hold now and then: the least of many measurements counts.
	measure := func(options Options) float64 {
		f := newFixture(t, options)
		ctx, least := t.Context(), math.Inf(1)
		for range 100 {
			least = min(least, testing.AllocsPerRun(1, func() {
				f.session.Call(ctx, "mcp_aql_read", []byte(`{"operation":"get_note","params":{"note_id":"n1"}}`))
				f.ran = f.ran[:0]
			}))
		}
		return least
	}
	with := Options{Confirmation: Confirmation{Inbox: approve.New}}
	if without, with := measure(Options{}), measure(with); with > without {
		t.Errorf("%v allocations with an inbox, %v without", with, without)
	}
}
