package gate

import (
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/model"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func binding(operation, params string) Binding {
	return Binding{Operation: operation, Params: Hash([]byte(params))}
}

// REQ-CT-01, REQ-CT-02: prefix, alphabet, length and 256 random bits.
func TestTokenGrammar(t *testing.T) {
	var tokens Tokens
	seen := map[string]bool{}
	grammar := regexp.MustCompile(`^conf_[A-Za-z0-9_-]{43}$`)
	for range 1000 {
		ticket := tokens.Issue(binding("delete_note", "{}"), model.Destructive, start)
		if !grammar.MatchString(ticket.Token) || seen[ticket.Token] {
			t.Fatalf("token %q is malformed or repeated", ticket.Token)
		}
		seen[ticket.Token] = true
	}
}

// REQ-CT-06, T-57: exists, expired, consumed, scope, in this order.
func TestRedeem(t *testing.T) {
	own := binding("delete_note", `{"note_id":"n1"}`)
	tests := []struct {
		name    string
		present func(*Tokens, string) Redemption
		want    Verdict
	}{
		{"the same operation and parameters are accepted", func(s *Tokens, token string) Redemption {
			return s.Redeem(token, own, start.Add(time.Minute))
		}, Accepted},
		{"an unknown token", func(s *Tokens, _ string) Redemption {
			return s.Redeem("conf_x", own, start)
		}, Unknown},
		{"after its five minutes", func(s *Tokens, token string) Redemption {
			return s.Redeem(token, own, start.Add(5*time.Minute))
		}, Expired},
		{"a second time", func(s *Tokens, token string) Redemption {
			s.Redeem(token, own, start)
			return s.Redeem(token, own, start)
		}, AlreadyUsed},
		{"with other parameters", func(s *Tokens, token string) Redemption {
			return s.Redeem(token, binding("delete_note", `{"note_id":"n2"}`), start)
		}, ScopeMismatch},
		{"for another operation", func(s *Tokens, token string) Redemption {
			return s.Redeem(token, binding("purge_notes", `{"note_id":"n1"}`), start)
		}, ScopeMismatch},
		{"expired wins over a wrong scope", func(s *Tokens, token string) Redemption {
			return s.Redeem(token, binding("purge_notes", ""), start.Add(time.Hour/4))
		}, Expired},
		{"used wins over a wrong scope", func(s *Tokens, token string) Redemption {
			s.Redeem(token, own, start)
			return s.Redeem(token, binding("purge_notes", ""), start)
		}, AlreadyUsed},
		{"after the session has ended", func(s *Tokens, token string) Redemption {
			s.Close()
			return s.Redeem(token, own, start)
		}, Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tokens Tokens
			ticket := tokens.Issue(own, model.Destructive, start)
			if got := tt.present(&tokens, ticket.Token).Verdict; got != tt.want {
				t.Errorf("verdict %d, want %d", got, tt.want)
			}
		})
	}
}

// A token presented for something else is not burnt: its owner can still use it.
func TestScopeMismatchDoesNotConsume(t *testing.T) {
	var tokens Tokens
	own := binding("delete_note", "1")
	ticket := tokens.Issue(own, model.Destructive, start)
	tokens.Redeem(ticket.Token, binding("delete_note", "2"), start)
	if got := tokens.Redeem(ticket.Token, own, start).Verdict; got != Accepted {
		t.Errorf("verdict %d, want accepted", got)
	}
}

// REQ-CT-07: two minutes for level forbidden.
func TestForbiddenExpiresSooner(t *testing.T) {
	var tokens Tokens
	ticket := tokens.Issue(binding("drop_all", ""), model.Forbidden, start)
	if got := ticket.Expires.Sub(start); got != 2*time.Minute {
		t.Errorf("expires after %v, want 2m", got)
	}
}

// REQ-CT-09: of concurrent redemptions exactly one wins.
func TestConcurrentRedemption(t *testing.T) {
	var tokens Tokens
	for range 200 {
		own := binding("delete_note", "1")
		ticket := tokens.Issue(own, model.Destructive, start)
		var accepted atomic.Int32
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				if tokens.Redeem(ticket.Token, own, start).Verdict == Accepted {
					accepted.Add(1)
				}
			})
		}
		wg.Wait()
		if accepted.Load() != 1 {
			t.Fatalf("%d redemptions accepted, want 1", accepted.Load())
		}
	}
}

// REQ-CT-18: a flood of requests cannot grow the store without bound.
func TestStoreIsBounded(t *testing.T) {
	var tokens Tokens
	for range maxTokens * 2 {
		tokens.Issue(binding("delete_note", "1"), model.Destructive, start)
	}
	if len(tokens.entries) > maxTokens || len(tokens.order) > maxTokens {
		t.Errorf("%d entries, want no more than %d", len(tokens.entries), maxTokens)
	}
	tokens.Issue(binding("delete_note", "1"), model.Destructive, start.Add(2*time.Hour))
	if len(tokens.entries) != 1 {
		t.Errorf("%d entries after two hours, want 1", len(tokens.entries))
	}
}

func TestInterpolate(t *testing.T) {
	values := map[string]string{"todo_id": "t1", "brace": "{todo_id}"}
	value := func(name string) (string, bool) { v, ok := values[name]; return v, ok }
	tests := []struct{ name, template, want string }{
		{"a parameter", "Delete todo '{todo_id}'?", "Delete todo 't1'?"},
		{"an unknown name stays", "Delete {other}?", "Delete {other}?"},
		{"a value is not a template", "{brace}", "{todo_id}"},
		{"an open brace stays", "Delete {todo_id", "Delete {todo_id"},
		{"no parameter", "Sure?", "Sure?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Interpolate(tt.template, value); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
