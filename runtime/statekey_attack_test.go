package aql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// burglar is a state as somebody sees it who knows all that is in it, and can write it, but does not have its key.
type burglar struct {
	store.Store // as an adapter with the key reads it
	state       *store.Memory
	// forge makes what is written in place of a sealed entry whose value is known.
	forge func(value, known, sealed []byte) []byte
}

func (b burglar) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	known, err := b.Get(ctx, key)
	if err != nil {
		return 0, err
	}
	sealed, err := b.state.Get(ctx, key)
	if err != nil {
		return 0, err
	}
	return b.state.Put(ctx, key, b.forge(value, known.Value, sealed.Value), old, ttl)
}

// flip changes what is known of a sealed entry, bit by bit, and leaves the rest as it is.
func flip(value, known, sealed []byte) []byte {
	const nonce = 12
	flipped := bytes.Clone(sealed)
	for i := range min(len(value), len(known), len(flipped)-nonce) {
		flipped[nonce+i] ^= known[i] ^ value[i]
	}
	return flipped
}

// locksmith seals what is written with another key.
type locksmith struct {
	store.Store
	other store.Store
}

func (l locksmith) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	return l.other.Put(ctx, key, value, old, ttl)
}

// withoutReading are those who know nothing of what is in the state.
const withoutReading = "who writes as if there was no key"

// intruders are those who write a state that has a key, with the one among them who has it.
func intruders(t *testing.T, state *store.Memory, key []byte) map[string]store.Store {
	t.Helper()
	sealed := func(key []byte) store.Store {
		s, err := gate.SealedStore(state, key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	known := sealed(key)
	return map[string]store.Store{
		"who has the key":              known,
		"who seals with another key":   locksmith{known, sealed([]byte(strings.Repeat("b", 32)))},
		"who seals nothing":            burglar{known, state, func(value, _, _ []byte) []byte { return value }},
		"who knows all and flips bits": burglar{known, state, flip},
		"who makes up a seal": burglar{known, state, func(value, _, _ []byte) []byte {
			return append(append(make([]byte, 12), value...), make([]byte, 16)...)
		}},
		withoutReading: state,
	}
}

// breakIn does what the program of people does: it has the code of a challenge shown, or approves of all that waits.
func breakIn(t *testing.T, who string, s store.Store, now time.Time, challenge string) (code string) {
	t.Helper()
	box, err := verify.New(verify.Options{Store: s, Adapter: "shop", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	thief := identity.Caller{Subject: "olga", Issuer: "ops"}
	approved := 0
	if challenge != "" {
		if shown, err := box.Show(t.Context(), thief, challenge); err == nil {
			code, approved = shown.Code.Text(), 1
		}
	} else {
		inbox := box.Inbox(approve.New(s))
		items, _ := inbox.List(t.Context()) // of which some may not be readable
		for _, item := range items {
			_, err := inbox.Vote(t.Context(), item.ID, approve.Vote{
				By: thief, Channel: "test", Approve: true, Reason: "mine", At: now,
			})
			if err == nil {
				approved++
			}
		}
	}
	if approved == 0 && who != withoutReading {
		t.Errorf("%s has found nothing to approve of", who)
	}
	return code
}

// C9, F61, REQ-OV-07: with a state key, who can read and write all of the state but not the key lets nothing pass that
// waits for a person: no operation, no agent, no action, no block.
func TestWritersOfTheStateLetNothingPass(t *testing.T) {
	key := []byte(strings.Repeat("k", 32))
	type challenge = string
	for name, tt := range map[string]struct {
		waits func(a *agents) challenge
		tries func(a *agents, id challenge, code string) agentAnswer
	}{
		"an operation": {
			func(a *agents) challenge { a.call("ann", "forget", `{"id":"x"}`); return "" },
			func(a *agents, _ challenge, _ string) agentAnswer { return a.call("ann", "forget", `{"id":"x"}`) },
		},
		"an agent": {
			func(a *agents) challenge { a.call("ann", gen.ExecuteAgent, `{"element_name":"bot"}`); return "" },
			func(a *agents, _ challenge, _ string) agentAnswer {
				return a.call("ann", gen.ExecuteAgent, `{"element_name":"bot"}`)
			},
		},
		"an action": {
			func(a *agents) challenge { a.start("ann", "bot"); a.report("ann", "bot", "deploy it"); return "" },
			func(a *agents, _ challenge, _ string) agentAnswer { return a.report("ann", "bot", "deploy it") },
		},
		"a block that people lift": {
			func(a *agents) challenge { a.start("ann", "bot"); a.report("ann", "bot", "rm -rf /"); return "" },
			func(a *agents, _ challenge, _ string) agentAnswer { return a.report("ann", "bot", "read_file x") },
		},
		"a block with a code": {
			func(a *agents) challenge {
				a.start("ann", "bot")
				return a.report("ann", "bot", "rm -rf /").Data.Notifications[0].Metadata["verificationId"]
			},
			func(a *agents, id challenge, code string) agentAnswer {
				a.call("ann", gen.VerifyChallenge, fmt.Sprintf(`{"challenge_id":%q,"code":%q}`, id, code))
				return a.report("ann", "bot", "read_file x")
			},
		},
	} {
		for who := range intruders(t, new(store.Memory), key) {
			t.Run(name+", "+who, func(t *testing.T) {
				a := newAgents(t, strict(), func(o *aql.Options) {
					o.StateKey, o.Confirmation.HumanOnly = key, true
				})
				sealed, err := gate.SealedStore(a.state, key)
				if err != nil {
					t.Fatal(err)
				}
				a.inbox = approve.New(sealed)
				id := tt.waits(a)
				code := breakIn(t, who, intruders(t, a.state, key)[who], a.now, id)
				got := tt.tries(a, id, code)
				passes := got.Success && (got.Data.Continue == nil || *got.Data.Continue)
				if passes != (who == "who has the key") {
					t.Errorf("%t: %+v %+v", passes, got.Error, got.Data)
				}
			})
		}
	}
}

// C9, T-105: with a state key, who can write the state but not read the key does not answer what an execution asks a
// person, neither as the inbox nor as the caller nor as the execution itself.
func TestWritersOfTheStateAnswerNoQuestions(t *testing.T) {
	key := []byte(strings.Repeat("k", 32))
	for who := range intruders(t, new(store.Memory), key) {
		t.Run(who, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state, approved := new(store.Memory), false
				release := func(approved *bool) gen.Handler {
					return longOperation("build", gen.Lifecycle{Durable: true, Asks: true},
						func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
							d, err := run.Ask(ctx, aql.Approval{Name: "q", Message: "May I?"})
							if err != nil {
								return nil, err
							}
							if *approved = d.Approved; !d.Approved {
								return nil, errors.New("no")
							}
							return &built{}, nil
						})
				}
				options := aql.Options{
					Name: "shop", State: state, StateKey: key, Confirmation: aql.Confirmation{Inbox: approve.New},
				}
				s := newShop(t, options, release(&approved))
				defer s.stop()
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				breakIn(t, who, intruders(t, state, key)[who], time.Now(), "")
				if who != "who has the key" {
					pretend(t, state, id)
				}
				s.call("ann", "answer_execution", `{"execution_id":"`+id+`","name":"q","value":{"approved":true,"Approved":true}}`)
				time.Sleep(time.Hour)
				synctest.Wait()
				if approved != (who == "who has the key") {
					t.Errorf("it is told that a person has approved: %t", approved)
				}
			})
		})
	}
}

// pretend rewrites the record of a paused execution as if it waited for its caller.
func pretend(t *testing.T, state *store.Memory, id string) {
	t.Helper()
	entries, err := state.List(t.Context(), "exec/", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, found := strings.CutSuffix(string(entry.Value), "}")
		if !strings.HasSuffix(entry.Key, "/r/"+id) || !found || !strings.Contains(text, `"paused"`) {
			continue
		}
		told := text + `,"told":null,"waiting":{"from":"wait","name":"q","until":"2100-01-01T00:00:00Z"}}`
		if _, err := state.Put(t.Context(), entry.Key, []byte(told), entry.Version, 0); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(entries) == 0 {
		t.Fatal("there is no execution")
	}
}

// C9: with a state key, who can write the state but not read the key starts nothing: an execution that was not started
// with the key does not run.
func TestWritersOfTheStateStartNothing(t *testing.T) {
	own := []byte(strings.Repeat("k", 32))
	for who, keys := range map[string][][]byte{
		"who has the key": {own}, "who has another key": {[]byte(strings.Repeat("b", 32))}, "who has none": nil,
	} {
		for what, params := range map[string][]byte{"no parameters": nil, "an empty text": {}, "an object": []byte("{}")} {
			t.Run(who+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ran := 0
					wipe := longOperation("wipe", gen.Lifecycle{Durable: true},
						func(context.Context, []any, any, *aql.Run) (any, error) {
							ran++
							return &built{}, nil
						})
					wipe.Params = nil
					state := new(store.Memory)
					s := newShop(t, aql.Options{Name: "shop", State: state, StateKey: own}, wipe)
					defer s.stop()
					theirs, err := execution.New(execution.Options{
						Store: state, Name: "shop", Logger: slog.New(slog.DiscardHandler), Keys: keys,
						Operations: map[string]*execution.Operation{"wipe": {Durable: true}},
					})
					if err != nil {
						t.Fatal(err)
					}
					caller := aql.Caller{Subject: "ann", Issuer: "test"}
					encoded, err := json.Marshal(caller)
					if err != nil {
						t.Fatal(err)
					}
					r, err := theirs.Start(t.Context(), execution.Start{
						Operation: "wipe", CallerKey: caller.Key(), Caller: encoded, Params: params,
					})
					if err != nil {
						t.Fatal(err)
					}
					end := s.end("ann", r.ID)
					synctest.Wait()
					if runs := who == "who has the key" && what == "an object"; (ran == 1) != runs || ran > 1 {
						t.Errorf("it runs %d times, and is %s", ran, end.Data.Status)
					}
				})
			})
		}
	}
}
