package gate

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func binding(operation, params string) Binding {
	return Binding{
		Kind: ConfirmationToken, Adapter: "notes", Caller: "ann", Operation: operation, Params: Hash([]byte(params)),
	}
}

func grant(b Binding) Grant {
	return Grant{Binding: b, Level: gen.Destructive, Lifetime: 5 * time.Minute}
}

func newTokens() *Tokens { return &Tokens{Store: new(store.Memory)} }

func issue(t *testing.T, tokens *Tokens, g Grant) Ticket {
	t.Helper()
	ticket, err := tokens.Issue(t.Context(), g, start)
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

// present checks a token and consumes it where it is accepted.
func present(t *testing.T, tokens *Tokens, token string, b Binding, at time.Time) Redemption {
	t.Helper()
	r, err := tokens.Check(t.Context(), token, b, at)
	if err == nil {
		r, err = tokens.Consume(t.Context(), r, at)
	}
	if err != nil {
		t.Error(err)
	}
	return r
}

// REQ-CT-01, REQ-CT-02, T-56, T-59: prefix, alphabet, length and 256 random bits; the store holds none of them.
func TestTokenGrammar(t *testing.T) {
	for kind, grammar := range map[Kind]string{
		ConfirmationToken: `^conf_[A-Za-z0-9_-]{43}$`, ContinuationToken: `^quota_continue_[A-Za-z0-9_-]{43}$`,
	} {
		tokens := newTokens()
		matches := regexp.MustCompile(grammar)
		seen := map[string]bool{}
		for range 1000 {
			g := grant(binding("delete_note", "{}"))
			g.Kind = kind
			token := issue(t, tokens, g).Token
			if !matches.MatchString(token) || len(token) > 80 || seen[token] {
				t.Fatalf("token %q is malformed or repeated", token)
			}
			seen[token] = true
		}
		entries, err := tokens.Store.List(t.Context(), "", "", 2000)
		if err != nil || len(entries) != 1000 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		for _, e := range entries {
			for token := range seen {
				if bytes.Contains(e.Value, []byte(token)) || e.Key == token {
					t.Fatal("the store holds a token")
				}
			}
		}
	}
}

// REQ-CT-06, REQ-CT-07, REQ-CT-10, REQ-CT-12, T-57: exists, expired, consumed, scope, in this order.
func TestRedeem(t *testing.T) {
	own := binding("delete_note", `{"note_id":"n1"}`)
	other := func(change func(*Binding)) Binding {
		b := own
		change(&b)
		return b
	}
	for _, tt := range []struct {
		name   string
		before []Binding // redeemed first
		b      Binding
		after  time.Duration
		want   Verdict
	}{
		{"the same operation and parameters are accepted", nil, own, time.Minute, Accepted},
		{"after its five minutes", nil, own, 5 * time.Minute, Expired},
		{"a second time", []Binding{own}, own, 0, AlreadyUsed},
		{"with other parameters", nil, binding("delete_note", `{"note_id":"n2"}`), 0, ScopeMismatch},
		{"for another operation", nil, binding("purge_notes", `{"note_id":"n1"}`), 0, ScopeMismatch},
		{"for another adapter", nil, other(func(b *Binding) { b.Adapter = "todos" }), 0, ScopeMismatch},
		{"as another kind of token", nil, other(func(b *Binding) { b.Kind = ContinuationToken }), 0, Unknown},
		{"by another caller", nil, other(func(b *Binding) { b.Caller = "eve" }), 0, Unknown},
		{"by another caller, when it has expired", nil, other(func(b *Binding) { b.Caller = "eve" }), time.Hour / 4, Unknown},
		{"expired wins over used", []Binding{own}, own, 6 * time.Minute, Expired},
		{"expired wins over a wrong scope", nil, binding("purge_notes", ""), time.Hour / 4, Expired},
		{"used wins over a wrong scope", []Binding{own}, binding("purge_notes", ""), 0, AlreadyUsed},
		{"a wrong scope burns nothing", []Binding{binding("delete_note", "2")}, own, 0, Accepted},
		{"a wrong caller burns nothing", []Binding{other(func(b *Binding) { b.Caller = "eve" })}, own, 0, Accepted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tokens := newTokens()
			ticket := issue(t, tokens, grant(own))
			for _, b := range tt.before {
				present(t, tokens, ticket.Token, b, start)
			}
			if got := present(t, tokens, ticket.Token, tt.b, start.Add(tt.after)); got.Verdict != tt.want {
				t.Errorf("verdict %d, want %d", got.Verdict, tt.want)
			} else if (got.Operation == "") != (tt.want == Unknown) {
				t.Errorf("verdict %d discloses operation %q", got.Verdict, got.Operation)
			}
		})
	}
	for _, token := range []string{
		"", "conf_", "conf_x", "conf_" + string(make([]byte, 43)), "CONF_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"conf_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	} {
		if got := present(t, newTokens(), token, own, start); got.Verdict != Unknown {
			t.Errorf("%q: verdict %d", token, got.Verdict)
		}
	}
}

// REQ-CT-16, REQ-CT-17, REQ-SE-02: a session's token is unknown in another one.
func TestSessionBinding(t *testing.T) {
	tokens := newTokens()
	own := binding("delete_note", "")
	own.Session = "sess_1"
	ticket := issue(t, tokens, grant(own))
	elsewhere := own
	elsewhere.Session = "sess_2"
	if got := present(t, tokens, ticket.Token, elsewhere, start).Verdict; got != Unknown {
		t.Errorf("in another session: verdict %d", got)
	}
	if got := present(t, tokens, ticket.Token, own, start).Verdict; got != Accepted {
		t.Errorf("in its own: verdict %d", got)
	}
}

// REQ-CT-17: as many uses as it was issued for.
func TestSeveralUses(t *testing.T) {
	tokens := newTokens()
	g := grant(binding("delete_note", ""))
	g.MaxUses = 3
	ticket := issue(t, tokens, g)
	var got []Verdict
	for i := range 4 {
		got = append(got, present(t, tokens, ticket.Token, g.Binding, start.Add(time.Duration(i)*time.Second)).Verdict)
	}
	if diff := cmp.Diff([]Verdict{Accepted, Accepted, Accepted, AlreadyUsed}, got); diff != "" {
		t.Error(diff)
	}
}

// REQ-CT-19: too early is neither executed nor consumed.
func TestCooldown(t *testing.T) {
	tokens := newTokens()
	g := grant(binding("delete_note", ""))
	g.Cooldown = 10 * time.Second
	ticket := issue(t, tokens, g)
	if got := present(t, tokens, ticket.Token, g.Binding, start.Add(9*time.Second)); got.Verdict != TooEarly ||
		!got.Ready.Equal(start.Add(10*time.Second)) {
		t.Errorf("too early: %+v", got)
	}
	if got := present(t, tokens, ticket.Token, g.Binding, start.Add(10*time.Second)).Verdict; got != Accepted {
		t.Errorf("in time: verdict %d", got)
	}
}

// REQ-CT-08, T-58: the tolerance is honoured literally.
func TestClockSkew(t *testing.T) {
	for skew, want := range map[time.Duration]Verdict{0: Expired, 30 * time.Second: Accepted, 29 * time.Second: Expired} {
		tokens := &Tokens{Store: new(store.Memory), Skew: skew}
		own := binding("delete_note", "")
		ticket := issue(t, tokens, grant(own))
		at := ticket.Expires.Add(30*time.Second - time.Millisecond)
		if got := present(t, tokens, ticket.Token, own, at).Verdict; got != want {
			t.Errorf("skew %v: verdict %d, want %d", skew, got, want)
		}
	}
}

// REQ-CT-09: of 64 concurrent calls that redeem one token, as many succeed as it has uses.
func TestConcurrentRedemption(t *testing.T) {
	tokens := newTokens()
	for round := range 200 {
		g := grant(binding("delete_note", fmt.Sprint(round)))
		g.MaxUses = 1 + round%3
		ticket := issue(t, tokens, g)
		var accepted atomic.Int32
		together := make(chan struct{})
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				<-together
				if present(t, tokens, ticket.Token, g.Binding, start).Verdict == Accepted {
					accepted.Add(1)
				}
			})
		}
		close(together)
		wg.Wait()
		if int(accepted.Load()) != g.MaxUses {
			t.Fatalf("round %d: %d redemptions accepted, want %d", round, accepted.Load(), g.MaxUses)
		}
	}
}

// REQ-CT-11, REQ-CT-20: what the store holds is all there is to a token. What is damaged is an error, and never a token
// that is good.
func FuzzParseToken(f *testing.F) {
	record := tokenRecord{
		Binding: binding("delete_note", "{}"), level: gen.Destructive, issued: start, expires: start.Add(time.Minute),
		mostUses: 1,
	}
	f.Add(record.encode())
	f.Add([]byte{recordForm})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseToken(data)
		if err != nil {
			return
		}
		if r.expires.IsZero() {
			t.Error("REQ-CT-07: a token without expiry")
		}
		back, err := parseToken(r.encode())
		if err != nil {
			t.Fatalf("%x: its own form is refused: %v", data, err)
		}
		if diff := cmp.Diff(r, back, cmp.AllowUnexported(tokenRecord{})); diff != "" {
			t.Errorf("%x: %s", data, diff)
		}
	})
}

// Who holds the store cannot try out which parameters a token is for.
func TestStoredParametersAreMixedWithTheToken(t *testing.T) {
	tokens := newTokens()
	own := binding("delete_note", `{"pin":"1234"}`)
	issue(t, tokens, grant(own))
	entries, err := tokens.Store.List(t.Context(), "", "", 10)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if bytes.Contains(entries[0].Value, own.Params[:]) {
		t.Error("the store holds a digest of the parameters alone")
	}
}
