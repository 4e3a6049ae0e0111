package gate

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

func callerNamed(name string) identity.Caller { return identity.Caller{Subject: name, Issuer: "test"} }

// secret is a state key for tests.
func secret(letter string) []byte { return []byte(strings.Repeat(letter, ShortestKey)) }

func newGate(t *testing.T, options Options) *Gate {
	t.Helper()
	g, err := New(options, &notes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A sealed token opens for its caller only, in every gate with the same store and keys.
func TestSeals(t *testing.T) {
	state := new(store.Memory)
	options := func(keys ...string) Options {
		o := Options{Store: state}
		for _, key := range keys {
			o.StateKeys = append(o.StateKeys, secret(key))
		}
		return o
	}
	for _, tt := range []struct {
		name             string
		seals            Options
		opens, opensNone []Options
	}{
		{
			"without a state key", options(), []Options{options()},
			[]Options{{Store: new(store.Memory)}, options("a")},
		},
		{
			"with a state key, which may be old", options("a"), []Options{options("a"), options("b", "a")},
			[]Options{options(), options("b")},
		},
		{"the first key seals", options("b", "a"), []Options{options("b")}, []Options{options("a")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGate(t, tt.seals)
			const token = "conf_x"
			sealed, err := g.NewCallerSession().Seal(t.Context(), token, callerNamed("ann"))
			if err != nil {
				t.Fatal(err)
			}
			again, err := g.NewCallerSession().Seal(t.Context(), token, callerNamed("ann"))
			if again == sealed || err != nil {
				t.Errorf("two seals are the same: %v", err)
			}
			if strings.Contains(sealed, token) {
				t.Error("the seal shows the token")
			}
			open := func(g *Gate, sealed, caller string) string {
				t.Helper()
				got, err := g.unseal(t.Context(), sealed, callerNamed(caller))
				if err != nil {
					t.Error(err)
				}
				return got
			}
			for i, o := range append(tt.opens, tt.seals) {
				if open(newGate(t, o), sealed, "ann") != token {
					t.Errorf("gate %d does not open it", i)
				}
			}
			for i, o := range tt.opensNone {
				if open(newGate(t, o), sealed, "ann") != "" {
					t.Errorf("gate %d opens it", i)
				}
			}
			if open(g, sealed, "bob") != "" {
				t.Error("it opens for others")
			}
			for i := range sealed {
				for _, change := range []byte{'A', 'B'} {
					forged := sealed[:i] + string(change) + sealed[i+1:]
					// The last character has bits that count for nothing.
					if forged != sealed && i < len(sealed)-1 && open(g, forged, "ann") != "" {
						t.Errorf("it opens with another character at %d", i)
					}
				}
			}
			for _, forged := range []string{"", "x", "===", token, sealed[:10]} {
				if open(g, forged, "ann") != "" {
					t.Errorf("%q opens", forged)
				}
			}
		})
	}
}

// C9: with a state key nothing in the store opens a seal.
func TestStateKeysAreNotInTheStore(t *testing.T) {
	state := new(store.Memory)
	g := newGate(t, Options{Store: state, StateKeys: [][]byte{secret("a")}})
	if _, err := g.NewCallerSession().Seal(t.Context(), "conf_x", callerNamed("ann")); err != nil {
		t.Fatal(err)
	}
	entries, err := state.List(t.Context(), "", "", 10)
	if err != nil || len(entries) > 0 {
		t.Errorf("the store holds %v, %v", entries, err)
	}
	_, err = New(Options{Store: state, StateKeys: [][]byte{[]byte("short")}}, &notes)
	if want := "a state key of 5 bytes: it has 32 or more"; err == nil || err.Error() != want {
		t.Errorf("a short key: %v", err)
	}
}

// C9, REQ-NT-07: a human's answer counts where the human was asked: on the connection of the question, for its caller,
// once, also for who can read and write everything in the store.
func TestAnswersCountWhereTheyWereAsked(t *testing.T) {
	s := newScene(t, Options{Store: new(store.Memory), Confirmation: Confirmation{HumanOnly: true}})
	asking := s.NewSession()
	state, err := asking.Seal(t.Context(), s.ask(t, asking), identity.Caller{Subject: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(session *Session, caller string) *Refusal {
		_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) {
			r.Caller.Subject, r.Sealed, r.Approved = caller, state, true
		}))
		return refusal
	}
	for name, refusal := range map[string]*Refusal{
		"another connection of the caller": answer(s.NewSession(), "ann"),
		"a session without a connection":   answer(s.NewCallerSession(), "ann"),
		"another caller":                   answer(asking, "bob"),
	} {
		if refusal == nil || !refusal.Forged {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
	held, err := s.options.Store.List(t.Context(), tokenPrefix, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if refusal := answer(asking, "ann"); refusal != nil {
		t.Fatalf("the honest answer: %+v", refusal)
	}
	used, err := s.options.Store.Get(t.Context(), held[0].Key)
	if err == nil {
		_, err = s.options.Store.Put(t.Context(), held[0].Key, held[0].Value, used.Version, time.Hour)
	}
	if err != nil {
		t.Fatal(err)
	}
	refusal := answer(asking, "ann")
	if refusal == nil || refusal.Redeemed.Verdict != AlreadyUsed || !refusal.Redeemed.ConsumedAt.Equal(s.now) {
		t.Errorf("when the store was put back: %+v", refusal)
	}
}

// A question that was declined stays declined, also if its token could not be revoked.
func TestDeclinedQuestions(t *testing.T) {
	s := newScene(t, Options{Store: new(keeps)})
	session := s.NewSession()
	state, err := session.Seal(t.Context(), s.ask(t, session), identity.Caller{Subject: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Reason{Declined, TokenRefused} {
		_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Sealed, r.Approved = state, i > 0 }))
		if refusal == nil || refusal.Reason != want {
			t.Errorf("answer %d: %+v", i, refusal)
		}
	}
}

// keeps is a store that deletes nothing.
type keeps struct{ store.Memory }

func (*keeps) Delete(context.Context, string, store.Version) error { return errors.New("no") }

// Of many questions in a session the newest can be answered; one that is asked again has the same state.
func TestQuestionsAreBounded(t *testing.T) {
	var q questions
	ann := callerNamed("ann")
	first := q.ask("conf_first", ann)
	if q.ask("conf_first", ann) != first {
		t.Error("one question has two states")
	}
	states := []string{first}
	for i := range 3 * mostAsked {
		states = append(states, q.ask("conf_"+strings.Repeat("x", i), ann))
	}
	for i, state := range states {
		if _, ok := q.of(state, ann); ok != (i >= len(states)-mostAsked) {
			t.Fatalf("question %d of %d: %v", i, len(states), ok)
		}
	}
	if len(q.asked) != mostAsked || len(q.order) != mostAsked {
		t.Errorf("%d questions, %d in order", len(q.asked), len(q.order))
	}
}

// C9, T-55: under HumanOnly a token counts only as the answer of a human, however an agent has come by it.
func TestHumanOnlyRefusesTokens(t *testing.T) {
	s := newScene(t, Options{Store: new(store.Memory), Confirmation: Confirmation{HumanOnly: true}})
	session := s.NewSession()
	token := s.ask(t, session)
	for name, presented := range map[string]Presented{
		"its token": {Token: token}, "two tokens": {Conflict: true}, "another text": {Token: "conf_x"},
	} {
		_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented = presented }))
		unexported := cmp.AllowUnexported(Redemption{}, tokenRecord{})
		if diff := cmp.Diff(&Refusal{Reason: NotByHuman, At: start}, refusal, unexported); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for range burst {
		s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Token = token }))
	}
	_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Token = token }))
	if refusal.Reason != TooManyTokens {
		t.Errorf("after many: %+v", refusal)
	}
}

// C9: with a state key who has the store reads no entry, and adds, changes and moves none.
func TestEntriesAreSealed(t *testing.T) {
	inner := new(store.Memory)
	ring, err := newKeyring(secret("a"), secret("b"))
	if err != nil {
		t.Fatal(err)
	}
	old, err := newKeyring(secret("b"))
	if err != nil {
		t.Fatal(err)
	}
	sealed := sealedStore{inner, ring}
	ctx := t.Context()
	put := func(s store.Store, key, value string) {
		t.Helper()
		if _, err := s.Put(ctx, key, []byte(value), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	put(sealed, "t/own", "mine")
	put(sealedStore{inner, old}, "t/old", "before")
	put(inner, "t/plain", "forged")
	own, err := inner.Get(ctx, "t/own")
	if err != nil || bytes.Contains(own.Value, []byte("mine")) {
		t.Fatalf("it can be read: %q, %v", own.Value, err)
	}
	put(inner, "t/moved", string(own.Value))
	put(inner, "t/cut", string(own.Value[:len(own.Value)-1]))
	put(inner, "t/longer", "x"+string(own.Value))
	put(inner, "t/empty", "")
	got := map[string]string{}
	for _, key := range []string{"own", "old", "plain", "moved", "cut", "longer", "empty", "none"} {
		entry, err := sealed.Get(ctx, "t/"+key)
		switch {
		case errors.Is(err, errUnsealed):
			got[key] = "not sealed"
		case err != nil:
			t.Error(err)
		default:
			got[key] = string(entry.Value)
		}
	}
	want := map[string]string{
		"own": "mine", "old": "before", "plain": "not sealed", "moved": "not sealed", "cut": "not sealed",
		"longer": "not sealed", "empty": "not sealed", "none": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	entries, err := sealed.List(ctx, "t/", "", 10)
	if err != nil || len(entries) != 7 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, e := range entries {
		if value := want[strings.TrimPrefix(e.Key, "t/")]; value != "not sealed" && value != string(e.Value) ||
			value == "not sealed" && e.Value != nil {
			t.Errorf("%s is listed as %q", e.Key, e.Value)
		}
	}
}

// What does not expire is sealed with the first key as soon as it is read, and what does expires when it would have.
func TestLastingEntriesAreSealedAnew(t *testing.T) {
	now := start
	inner := &store.Memory{Now: func() time.Time { return now }}
	open := func(keys ...string) store.Store {
		t.Helper()
		var secrets [][]byte
		for _, key := range keys {
			secrets = append(secrets, secret(key))
		}
		s, err := SealedStore(inner, secrets...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ctx := t.Context()
	for key, ttl := range map[string]time.Duration{"t/got": 0, "t/listed": 0, "t/passing": time.Hour, "u/unread": 0} {
		if _, err := open("a").Put(ctx, key, []byte("x"), 0, ttl); err != nil {
			t.Fatal(err)
		}
	}
	both := open("b", "a")
	read, err := both.Get(ctx, "t/got")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := both.Put(ctx, "t/got", []byte("y"), read.Version, 0); err != nil {
		t.Errorf("what was read cannot be changed: %v", err)
	}
	if _, err := both.List(ctx, "t/", "", 10); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"t/got": "y", "t/listed": "x", "t/passing": "not sealed", "u/unread": "not sealed",
	} {
		entry, err := open("b").Get(ctx, key)
		if got := string(entry.Value); got != want && (want != "not sealed" || !errors.Is(err, errUnsealed)) {
			t.Errorf("%s: %q, %v, want %q", key, got, err, want)
		}
	}
	now = now.Add(time.Hour)
	if entry, err := inner.Get(ctx, "t/passing"); err != nil || entry.Exists() {
		t.Errorf("it outlives its time: %+v, %v", entry, err)
	}
}

// C9: with a state key nobody who reads the store can try which question an execution has asked.
func TestQuestionsCannotBeTried(t *testing.T) {
	bindings := make(map[approve.Binding]string)
	for name, keys := range map[string][][]byte{"no key": nil, "a key": {secret("a")}, "another": {secret("b")}} {
		options := Options{Store: new(store.Memory), StateKeys: keys}
		options.Confirmation.Inbox = approve.New
		g := newGate(t, options)
		found, err := g.find(t.Context(), &Enquiry{Execution: "exec_1", Name: "May I?"})
		if err != nil || found.item.ID != "" {
			t.Fatalf("%+v, %v", found, err)
		}
		if other := bindings[found.binding]; other != "" {
			t.Errorf("%s and %s have one digest of a question", name, other)
		}
		bindings[found.binding] = name
	}
}
