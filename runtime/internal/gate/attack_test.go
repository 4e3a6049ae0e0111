package gate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// given are parameters as a request gives them.
type given string

func (g given) Value(string) (string, bool) { return "", false }
func (g given) Seen(string) (string, bool)  { return "", false }
func (g given) Plain(string) string         { return "n1" }
func (g given) Canonical() []byte           { return []byte(g) }
func (g given) Redacted() []byte            { return []byte(g) }
func (g given) Asked() (string, []byte)     { return "Delete it?", []byte(g) }

// kept is a sink that holds records for the test.
type kept struct {
	mu      sync.Mutex
	records []audit.Record
}

func (k *kept) Write(_ context.Context, records []audit.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records = append(k.records, records...)
	return nil
}

func (k *kept) Close() error { return nil }

// events are the records so far, in short.
func (k *kept) events() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var events []string
	for _, r := range k.records {
		events = append(events, string(r.Event)+" "+r.Operation+" "+r.Reason)
	}
	return events
}

// scene is a gate with a clock that the test turns.
type scene struct {
	*Gate
	now  time.Time
	sink *kept
}

var notes = gen.Definitions{Name: "notes", Operations: []gen.Operation{
	{Name: "get_note", Category: gen.Read, Danger: gen.Safe},
	{Name: "delete_note", Category: gen.Delete, Danger: gen.Destructive},
}}

func newScene(t *testing.T, options Options) *scene {
	t.Helper()
	s := &scene{now: start, sink: new(kept)}
	options.Now = func() time.Time { return s.now }
	options.Audit = audit.New(audit.Options{Sinks: []audit.Sink{s.sink}, Wait: true, Refusals: -1})
	t.Cleanup(func() { options.Audit.Close(context.Background()) })
	var err error
	if s.Gate, err = New(options, &notes); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) request(session *Session, change func(*Request)) *Request {
	r := &Request{
		Operation: s.Operation("delete_note"), Caller: identity.Caller{Subject: "ann"}, Session: session,
		Params: given(`{"note_id":"n1"}`),
	}
	if change != nil {
		change(r)
	}
	return r
}

func (s *scene) ask(t *testing.T, session *Session) string {
	t.Helper()
	_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.CanAsk = true }))
	if refusal == nil || refusal.Ticket.Token == "" {
		t.Fatalf("no token: %+v", refusal)
	}
	return refusal.Ticket.Token
}

// REQ-CT-13, REQ-CT-15, REQ-AU-03: a token that is revoked leaves a record, whoever revokes it; one that was used up
// has nothing to revoke.
func TestRevocationsAreOnRecord(t *testing.T) {
	s := newScene(t, Options{})
	session := s.NewSession()
	used, left := s.ask(t, session), s.ask(t, session)
	if _, refusal := s.Admit(
		t.Context(), s.request(session, func(r *Request) { r.Presented.Token = used }),
	); refusal != nil {
		t.Fatal(refusal)
	}
	declined, err := session.Seal(t.Context(), s.ask(t, session), identity.Caller{Subject: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	s.Admit(t.Context(), s.request(session, func(r *Request) { r.Sealed = declined }))
	byHand := s.ask(t, session)
	for i, want := range []bool{true, false} {
		if was, err := s.RevokeToken(t.Context(), byHand, "a security event"); was != want || err != nil {
			t.Errorf("time %d: %v, %v", i, was, err)
		}
	}
	session.Close()
	var revoked []string
	for _, event := range s.sink.events() {
		if strings.HasPrefix(event, "TOKEN_REVOKED") {
			revoked = append(revoked, event)
		}
	}
	want := []string{
		"TOKEN_REVOKED delete_note declined by a human", "TOKEN_REVOKED delete_note a security event",
		"TOKEN_REVOKED delete_note the session has ended",
	}
	if diff := cmp.Diff(want, revoked); diff != "" {
		t.Error(diff)
	}
	last := s.sink.records[len(s.sink.records)-1]
	if last.TokenID != TokenID(left) || last.SessionID != session.ID || last.DangerLevel != 2 {
		t.Errorf("%+v", last)
	}
}

// Who takes a request back does not take back what is on record of it.
func TestCancelledRefusalsAreOnRecord(t *testing.T) {
	s := newScene(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 { // the record would be lost to the end of the context now and then
		if _, refusal := s.Admit(ctx, s.request(s.NewSession(), nil)); refusal == nil || refusal.Reason != Unavailable {
			t.Fatalf("%+v", refusal)
		}
	}
	if got := len(s.sink.events()); got != 200 {
		t.Errorf("%d of 200 are on record when the answers are there", got)
	}
}

// An approval by a human is good for one call, however many a token that agents present would be good for.
func TestApprovalsAreGoodOnce(t *testing.T) {
	s := newScene(t, Options{Confirmation: Confirmation{MaxUses: 3}})
	session := s.NewSession()
	sealed, err := session.Seal(t.Context(), s.ask(t, session), identity.Caller{Subject: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	approve := func() *Refusal {
		_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Sealed, r.Approved = sealed, true }))
		return refusal
	}
	if refusal := approve(); refusal != nil {
		t.Fatalf("%+v", refusal)
	}
	if refusal := approve(); refusal == nil || refusal.Redeemed.Verdict != AlreadyUsed {
		t.Errorf("the same approval once more: %+v", refusal)
	}
}

// T-62: authenticating once more may take longer than the store may, and the token has to be good when it is done.
func TestReauthenticationTakesItsTime(t *testing.T) { synctest.Test(t, reauthenticationTakesItsTime) }

func reauthenticationTakesItsTime(t *testing.T) {
	takes := time.Minute
	var s *scene
	s = newScene(t, Options{Store: new(store.Memory), StoreTimeout: time.Second, Confirmation: Confirmation{
		ReauthenticateFrom: gen.Destructive,
		Reauthenticate: func(ctx context.Context, _ identity.Caller, _ string) error {
			s.now = s.now.Add(takes)
			if _, bounded := ctx.Deadline(); bounded {
				t.Error("the store's deadline bounds it")
			}
			time.Sleep(5 * time.Second)
			return ctx.Err()
		},
	}})
	session := s.NewSession()
	confirm := func() *Refusal {
		token := s.ask(t, session)
		_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Token = token }))
		return refusal
	}
	if refusal := confirm(); refusal != nil {
		t.Errorf("%+v", refusal)
	}
	takes = 6 * time.Minute
	if refusal := confirm(); refusal == nil || refusal.Redeemed.Verdict != Expired {
		t.Errorf("the token expired meanwhile: %+v", refusal)
	}
}

// liar is a store in which every change takes time, and then conflicts with a change that does not exist.
type liar struct{ store.Memory }

func (l *liar) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	time.Sleep(time.Millisecond)
	if old != 0 {
		return 0, store.ErrConflict
	}
	return l.Memory.Put(ctx, key, value, old, ttl)
}

func (l *liar) Get(_ context.Context, key string) (store.Entry, error) {
	return l.Memory.Get(context.Background(), key)
}

func (l *liar) Delete(context.Context, string, store.Version) error {
	time.Sleep(time.Millisecond)
	return store.ErrConflict
}

// hanging is a store in which nothing is ever deleted: it waits for the end of the context.
type hanging struct{ store.Memory }

func (h *hanging) Delete(ctx context.Context, _ string, _ store.Version) error {
	<-ctx.Done()
	return ctx.Err()
}

// A store that conflicts for ever, or hangs, holds a request no longer than it may.
func TestStoresThatHoldRequests(t *testing.T) { synctest.Test(t, storesThatHoldRequests) }

func storesThatHoldRequests(t *testing.T) {
	for name, state := range map[string]store.Store{"conflicts": new(liar), "hangs": new(hanging)} {
		s := newScene(
			t, Options{Store: state, StoreTimeout: 20 * time.Millisecond, Confirmation: Confirmation{Scope: SessionScope}},
		)
		session := s.NewSession()
		token := s.ask(t, session)
		sealed, err := session.Seal(t.Context(), s.ask(t, session), identity.Caller{Subject: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Token = token }))
		if name == "conflicts" && (refusal == nil || refusal.Reason != Busy) {
			t.Errorf("%s: a token: %+v", name, refusal)
		}
		_, refusal = s.Admit(t.Context(), s.request(session, func(r *Request) { r.Sealed = sealed }))
		if refusal == nil || refusal.Reason != Declined {
			t.Errorf("%s: declined: %+v", name, refusal)
		}
		session.Close()
	}
}

// T-63: a continuation lifts the pause that it was given for, and no other.
func TestContinuationsOfAnotherQuota(t *testing.T) {
	s := newScene(
		t,
		Options{
			Quota: quota.Options{
				Quotas: []quota.Quota{{Metric: quota.RequestsPerMinute, Pause: 1}, {Metric: quota.RequestsPerDay, Pause: 2}},
			},
		},
	)
	session := s.NewSession()
	call := func(continuation string) *Refusal {
		_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) {
			r.Operation, r.Presented.Continuation = s.Operation("get_note"), continuation
		}))
		return refusal
	}
	call("")
	ofMinute := call("")
	if ofMinute == nil || ofMinute.Reason != QuotaPaused {
		t.Fatalf("%+v", ofMinute)
	}
	s.now = s.now.Add(time.Minute)
	call("")
	s.now = s.now.Add(time.Minute)
	if refusal := call(ofMinute.Ticket.Token); refusal == nil || refusal.Redeemed.Verdict != ScopeMismatch {
		t.Errorf("the day's pause with the minute's continuation: %+v", refusal)
	}
	ofDay := call("")
	if refusal := call(ofDay.Ticket.Token); refusal != nil {
		t.Errorf("with its own: %+v", refusal)
	}
}

// Forged approvals are slowed down like forged tokens, and records do not hold a request's whole name.
func TestForgedApprovalsAreLimited(t *testing.T) {
	s := newScene(t, Options{})
	session := s.NewSession()
	var refusal *Refusal
	for range burst + 1 {
		_, refusal = s.Admit(t.Context(), s.request(session, func(r *Request) {
			r.Sealed, r.Approved, r.RequestID = "forged", true, strings.Repeat("r", 1<<16)
		}))
	}
	if refusal.Reason != TooManyTokens {
		t.Errorf("%+v", refusal)
	}
	for _, r := range s.sink.records {
		if len(r.RequestID) > 128 {
			t.Fatalf("a record holds %d bytes of a request's name", len(r.RequestID))
		}
	}
}

// REQ-CT-14: a caller that opens many sessions gets a bounded number of tokens, and takes none from others.
func TestAskingInManySessions(t *testing.T) {
	g, err := New(Options{Now: func() time.Time { return start }}, &notes)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{Gate: g, now: start}
	var refused int
	for range 12 * burst / 100 {
		session := s.NewSession()
		for range 100 {
			if _, refusal := s.Admit(t.Context(), s.request(session, nil)); refusal.Reason == TooManyTokens {
				refused++
			}
		}
		session.Close()
	}
	if refused != 2*burst {
		t.Errorf("%d of %d are refused", refused, 12*burst)
	}
	if _, refusal := s.Admit(
		t.Context(), s.request(s.NewSession(), func(r *Request) { r.Caller.Subject = "bob" }),
	); refusal.Reason != ConfirmationNeeded {
		t.Errorf("bob: %+v", refusal)
	}
}

// Callers are forgotten once they have their whole allowance again, or when there are too many.
func TestAllowancesAreBounded(t *testing.T) {
	a := &allowances{limit: 1}
	for i := range 3 * mostAllowances {
		if !a.mayIssue(fmt.Sprint(i), start) || len(a.callers) > mostAllowances {
			t.Fatalf("caller %d, of %d", i, len(a.callers))
		}
	}
	a.mayIssue("late", start.Add(time.Hour))
	if len(a.callers) != 1 {
		t.Errorf("%d callers are remembered", len(a.callers))
	}
}

// REQ-CT-13: of two tokens that one request uses up, both are on record.
func TestBothTokensAreOnRecord(t *testing.T) {
	s := newScene(t, Options{Quota: quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}}}})
	session := s.NewSession()
	confirmation := s.ask(t, session)
	if _, refusal := s.Admit(
		t.Context(), s.request(session, func(r *Request) { r.Operation = s.Operation("get_note") }),
	); refusal != nil {
		t.Fatalf("%+v", refusal)
	}
	continuation := s.ask(t, session)
	_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) {
		r.Presented = Presented{Token: confirmation, Continuation: continuation}
	}))
	if refusal != nil {
		t.Fatalf("%+v", refusal)
	}
	var validated []string
	for _, r := range s.sink.records {
		if r.Event == audit.TokenValidated {
			validated = append(validated, r.TokenID)
		}
	}
	if diff := cmp.Diff([]string{TokenID(continuation), TokenID(confirmation)}, validated); diff != "" {
		t.Error(diff)
	}
}
