package gate

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// garbled is a store whose answers a test changes.
type garbled struct {
	store.Memory
	get  func(store.Entry) store.Entry
	take func([]store.Claim, []store.Count) []store.Count
	list func([]store.Entry) []store.Entry
}

func (g *garbled) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := g.Memory.Get(ctx, key)
	if g.get != nil {
		entry = g.get(entry)
	}
	return entry, err
}

func (g *garbled) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	counts, err := g.Memory.Take(ctx, claims)
	if g.take != nil {
		counts = g.take(claims, counts)
	}
	return counts, err
}

func (g *garbled) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := g.Memory.List(ctx, prefix, after, limit)
	if g.list != nil {
		entries = g.list(entries)
	}
	return entries, err
}

// under has the entries whose keys begin with prefix hold a value, whether they exist or not.
func (g *garbled) under(prefix string, value []byte) {
	g.get = func(e store.Entry) store.Entry {
		if strings.HasPrefix(e.Key, prefix) {
			e.Value, e.Version = bytes.Clone(value), max(e.Version, 1)
		}
		return e
	}
}

// withAndWithoutKey runs a test without and with a state key.
func withAndWithoutKey(t *testing.T, test func(t *testing.T, keys [][]byte)) {
	t.Run("without a state key", func(t *testing.T) { test(t, nil) })
	t.Run("with a state key", func(t *testing.T) { test(t, [][]byte{secret("a")}) })
}

// garbage are values that no entry has, given one that some entry has.
func garbage(sound []byte) map[string][]byte {
	values := map[string][]byte{
		"nothing": nil, "a zero byte": {0}, "zeros": make([]byte, len(sound)), "ones": bytes.Repeat([]byte{0xff}, len(sound)),
		"text": []byte("true"), "JSON": []byte(`{"uses":0}`), "the form alone": {recordForm},
		"more at the end": append(bytes.Clone(sound), 0), "twice": slices.Repeat(sound, 2), "a counter": {1, 2, 2, 2},
		"a long length": append([]byte{recordForm}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
	}
	for i := range sound {
		values[fmt.Sprintf("cut off at byte %d", i)] = sound[:i]
	}
	if len(sound) > 0 {
		later := bytes.Clone(sound)
		later[0]++
		values["a later version"] = later
	}
	return values
}

// C12, REQ-CT-06, REQ-CT-10: a token whose record is garbage is refused, with an error for the log.
func TestGarbageInPlaceOfTokens(t *testing.T) {
	withAndWithoutKey(t, func(t *testing.T, keys [][]byte) {
		state := new(garbled)
		s := newScene(t, Options{Store: state, StateKeys: keys})
		session := s.NewSession()
		token := s.ask(t, session)
		sound, err := state.Memory.Get(t.Context(), tokenKey(token))
		if err != nil {
			t.Fatal(err)
		}
		present := func() *Refusal {
			_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Token = token }))
			return refusal
		}
		for name, value := range garbage(sound.Value) {
			state.under(tokenPrefix, value)
			if refusal := present(); refusal == nil || refusal.Reason != Unavailable || refusal.Err == nil {
				t.Errorf("%s: %+v", name, refusal)
			}
		}
		state.get = nil
		if refusal := present(); refusal != nil {
			t.Errorf("its own record: %+v", refusal)
		}
	})
}

// C12, REQ-CT-06: the record of another token is of no use under the key of this one.
func TestSwappedTokens(t *testing.T) {
	withAndWithoutKey(t, func(t *testing.T, keys [][]byte) {
		state := new(garbled)
		s := newScene(t, Options{Store: state, StateKeys: keys})
		session := s.NewSession()
		own := s.request(session, nil)
		ask := func(change func(*Request)) []byte {
			t.Helper()
			_, refusal := s.Admit(t.Context(), s.request(session, change))
			entry, err := state.Memory.Get(t.Context(), tokenKey(refusal.Ticket.Token))
			if err != nil || !entry.Exists() {
				t.Fatalf("%+v, %v", refusal, err)
			}
			return entry.Value
		}
		others := map[string][]byte{
			"for the same request":   ask(nil),
			"for other parameters":   ask(func(r *Request) { r.Params = given(`{"note_id":"n2"}`) }),
			"for another caller":     ask(func(r *Request) { r.Caller = identity.Caller{Subject: "eve"} }),
			"of another adapter":     nil,
			"of another kind, used ": nil,
		}
		elsewhere := &Tokens{Store: s.tokens.Store}
		for name, change := range map[string]func(*Grant){
			"of another adapter":     func(g *Grant) { g.Adapter = "todos" },
			"of another kind, used ": func(g *Grant) { g.Kind = ContinuationToken },
		} {
			g := grant(binding("delete_note", string(own.Params.Canonical())))
			g.Caller = own.Caller.Key()
			change(&g)
			entry, err := state.Memory.Get(t.Context(), tokenKey(issue(t, elsewhere, g).Token))
			if err != nil {
				t.Fatal(err)
			}
			others[name] = entry.Value
		}
		token := s.ask(t, session)
		for name, value := range others {
			state.under(tokenKey(token), value)
			_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Token = token }))
			if refusal == nil || refusal.Reason != TokenRefused && refusal.Reason != Unavailable ||
				keys != nil && refusal.Reason != Unavailable {
				t.Errorf("the record of one %s: %+v", name, refusal)
			}
		}
	})
}

// C12: garbage in place of the secret of seals, of the latest time and of a lifted pause allows nothing.
func TestGarbageInPlaceOfState(t *testing.T) {
	withAndWithoutKey(t, func(t *testing.T, keys [][]byte) {
		for _, prefix := range []string{"key/", "clock/", "notes/lift/"} {
			if keys != nil && prefix == "key/" {
				continue // the store has none
			}
			for name, value := range garbage([]byte{recordForm}) {
				if prefix == "notes/lift/" && bytes.Equal(value, []byte{1}) && keys == nil {
					continue // which is a pause that was lifted
				}
				state := new(garbled)
				s := newScene(t, Options{
					Store: state, StateKeys: keys,
					Quota: quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}}},
				})
				session := s.NewCallerSession()
				get := func() *Refusal {
					_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Operation = s.Operation("get_note") }))
					return refusal
				}
				if refusal := get(); refusal != nil {
					t.Fatalf("the first call: %+v", refusal)
				}
				state.under(prefix, value)
				refusal := get()
				if prefix == "key/" {
					_, refusal = s.Admit(t.Context(), s.request(session, func(r *Request) { r.Sealed, r.Approved = "AAAA", true }))
				}
				if refusal == nil || refusal.Reason != Unavailable || refusal.Err == nil {
					t.Errorf("%s %s: %+v", prefix, name, refusal)
				}
			}
		}
	})
}

// C12, REQ-RQ-03: an answer that no counters can give allows no call.
func TestGarbageInPlaceOfCounts(t *testing.T) {
	for name, change := range map[string]func(claims []store.Claim, counts []store.Count) []store.Count{
		"no counts":     func([]store.Claim, []store.Count) []store.Count { return nil },
		"too few":       func(_ []store.Claim, counts []store.Count) []store.Count { return counts[:1] },
		"too many":      func(_ []store.Claim, counts []store.Count) []store.Count { return append(counts, store.Count{}) },
		"below nothing": func(_ []store.Claim, counts []store.Count) []store.Count { counts[1].Used = -1; return counts },
		"the least number": func(_ []store.Claim, counts []store.Count) []store.Count {
			counts[2].Used = math.MinInt64
			return counts
		},
		"not counted": func(_ []store.Claim, counts []store.Count) []store.Count { counts[2].Used = 0; return counts },
		"beyond its limit, and not refused": func(claims []store.Claim, counts []store.Count) []store.Count {
			counts[1].Used = claims[1].Limit + 1
			return counts
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := new(garbled)
			s := newScene(t, Options{Store: state, Quota: quota.Options{
				Limits: []quota.Limit{{Limit: 5, Window: quota.Minute}},
				Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, HardStop: 5}},
			}})
			state.take = change
			_, refusal := s.Admit(t.Context(), s.request(s.NewSession(), func(r *Request) {
				r.Operation = s.Operation("get_note")
			}))
			if refusal == nil || refusal.Reason != Unavailable || refusal.Err == nil {
				t.Errorf("%+v", refusal)
			}
		})
	}
}

// C12: a list that is garbage revokes what it can, and ends.
func TestGarbageInLists(t *testing.T) {
	state := new(garbled)
	s := newScene(t, Options{Store: state})
	s.ask(t, s.NewSession())
	for i, key := range []string{"token/", "token/short", "token/" + strings.Repeat("z", 70), "\xff"} {
		if _, err := state.Memory.Put(t.Context(), key, []byte{byte(i)}, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if revoked, err := s.Revoke(t.Context(), nil); revoked != 1 || err != nil {
		t.Errorf("%d tokens, %v", revoked, err)
	}
	state.list = func(entries []store.Entry) []store.Entry {
		return slices.Repeat([]store.Entry{{Key: "token/again", Version: 1}}, pageSize)
	}
	if _, err := s.Revoke(t.Context(), nil); err == nil {
		t.Error("a list that goes round was accepted")
	}
}

// C12: whatever stands in the state, a call that needs a confirmation runs only by the record of its own token, and
// with a state key only by the record that this gate has written.
func FuzzStoredState(f *testing.F) {
	record := tokenRecord{
		Binding: binding("delete_note", `{"note_id":"n1"}`), level: "destructive", issued: start, mostUses: 1,
		expires: start.Add(time.Minute),
	}
	f.Add([]byte{}, false)
	f.Add(record.encode(), false)
	f.Add(append(record.encode(), make([]byte, 32)...), true)
	f.Add([]byte{1, 2, 2, 2}, true)
	f.Fuzz(func(t *testing.T, value []byte, keyed bool) {
		state := new(garbled)
		options := Options{Store: state}
		if keyed {
			options.StateKeys = [][]byte{secret("a")}
		}
		s := newScene(t, options)
		session := s.NewCallerSession()
		token := s.ask(t, session)
		for _, prefix := range []string{tokenPrefix, "key/", "clock/"} {
			state.under(prefix, value)
			_, refusal := s.Admit(t.Context(), s.request(session, func(r *Request) { r.Presented.Token = token }))
			if prefix == "clock/" && refusal == nil && !keyed {
				return // it was an earlier time
			}
			if prefix == "key/" {
				_, refusal = s.Admit(t.Context(), s.request(session, func(r *Request) {
					r.Sealed, r.Approved = fmt.Sprintf("%x", value), true
				}))
			}
			if refusal == nil {
				t.Fatalf("%q under %s allows", value, prefix)
			}
		}
	})
}
