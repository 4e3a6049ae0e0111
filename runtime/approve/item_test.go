package approve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	ann   = identity.Caller{Subject: "ann", Issuer: "test"}
)

// question is one of ann's.
func question(change func(*approve.Question)) approve.Question {
	q := approve.Question{
		Binding: approve.Binding{1}, Kind: approve.Confirmation, Adapter: "notes", Operation: "delete_note",
		Danger: gen.Destructive, Caller: ann, Message: "Delete it?", Params: `{"id":"n1"}`, At: start,
		Lifetime: 5 * time.Minute,
	}
	if change != nil {
		change(&q)
	}
	return q
}

func open(t *testing.T, inbox approve.Inbox, q approve.Question) approve.Item {
	t.Helper()
	item, opened, err := inbox.Ask(t.Context(), q)
	if err != nil || !opened {
		t.Fatalf("opening an item: opened %v, %v", opened, err)
	}
	return item
}

// cast is a vote after some time.
type cast struct {
	who    string
	groups string
	deny   bool
	reason string
	after  time.Duration
	want   error
}

func (c *cast) vote() approve.Vote {
	return approve.Vote{
		By: identity.Caller{Subject: c.who, Issuer: "test"}, Groups: strings.Fields(c.groups), Channel: "test",
		Approve: !c.deny, Reason: c.reason, At: start.Add(c.after),
	}
}

// F61, REQ-NT-07: whose vote counts, and what becomes of an item.
func TestVotes(t *testing.T) {
	ops := approve.Needs{Factors: []approve.Factor{{Count: 2, Groups: []string{"ops"}}}, NotRequester: true}
	both := approve.Needs{
		Factors: []approve.Factor{{Count: 1, Groups: []string{"ops"}}, {Count: 1, Groups: []string{"legal"}}},
	}
	for name, tt := range map[string]struct {
		needs    approve.Needs
		cooldown time.Duration
		votes    []cast
		state    approve.State
		missing  int
	}{
		"nobody votes":      {state: approve.Open, missing: 1},
		"one approves":      {votes: []cast{{who: "eve"}}, state: approve.Approved},
		"who asks approves": {votes: []cast{{who: "ann"}}, state: approve.Approved},
		"one denies":        {votes: []cast{{who: "eve", deny: true}}, state: approve.Denied, missing: 1},
		"it is decided": {
			votes: []cast{{who: "eve"}, {who: "bob", want: approve.ErrDecided}}, state: approve.Approved,
		},
		"an approval is taken back": {
			votes: []cast{{who: "eve"}, {who: "bob", deny: true}}, state: approve.Denied,
		},
		"one's own approval is taken back": {
			needs: ops, votes: []cast{
				{who: "eve", groups: "ops"}, {who: "bob", groups: "ops"}, {who: "eve", groups: "ops", deny: true},
			},
			state: approve.Denied,
		},
		"somebody else takes it back": {
			needs: ops, votes: []cast{
				{who: "eve", groups: "ops"}, {who: "bob", groups: "ops"},
				{who: "joe", groups: "sales", deny: true, want: approve.ErrNotApprover},
			},
			state: approve.Approved,
		},
		"it was denied": {
			votes: []cast{{who: "eve", deny: true}, {who: "bob", want: approve.ErrDecided}},
			state: approve.Denied, missing: 1,
		},
		"too late": {
			votes: []cast{{who: "eve", after: 5 * time.Minute, want: approve.ErrExpired}},
			state: approve.Open, missing: 1,
		},
		"in the last moment": {votes: []cast{{who: "eve", after: 5*time.Minute - 1}}, state: approve.Approved},
		"too early": {
			cooldown: time.Minute, votes: []cast{{who: "eve", after: time.Minute - 1, want: approve.ErrTooEarly}},
			state: approve.Open, missing: 1,
		},
		"denied early": {
			cooldown: time.Minute, votes: []cast{{who: "eve", deny: true}}, state: approve.Denied, missing: 1,
		},
		"after the cooldown": {
			cooldown: time.Minute, votes: []cast{{who: "eve", after: time.Minute}}, state: approve.Approved,
		},
		"no reason": {
			needs: approve.Needs{Reason: true}, votes: []cast{{who: "eve", reason: " ", want: approve.ErrNoReason}},
			state: approve.Open, missing: 1,
		},
		"a reason": {
			needs: approve.Needs{Reason: true}, votes: []cast{{who: "eve", reason: "ok"}}, state: approve.Approved,
		},
		"a book": {
			votes: []cast{{who: "eve", reason: strings.Repeat("x", 501), want: approve.ErrLongReason}},
			state: approve.Open, missing: 1,
		},
		"not by oneself": {
			needs: ops, votes: []cast{{who: "ann", groups: "ops", want: approve.ErrRequester}},
			state: approve.Open, missing: 2,
		},
		"who asks withdraws": {
			needs: ops, votes: []cast{{who: "ann", deny: true}}, state: approve.Denied, missing: 2,
		},
		"one of two": {
			needs: ops, votes: []cast{{who: "eve", groups: "ops"}}, state: approve.Open, missing: 1,
		},
		"one of two, twice": {
			needs: ops, votes: []cast{{who: "eve", groups: "ops"}, {who: "eve", groups: "ops", want: approve.ErrVoted}},
			state: approve.Open, missing: 1,
		},
		"two of three": {
			needs: ops, votes: []cast{
				{who: "eve", groups: "ops"}, {who: "bob", groups: "a ops"},
				{who: "joe", groups: "ops", want: approve.ErrDecided},
			},
			state: approve.Approved,
		},
		"another group": {
			needs: ops, votes: []cast{{who: "eve", groups: "sales op", want: approve.ErrNotApprover}},
			state: approve.Open, missing: 2,
		},
		"another group denies": {
			needs: ops, votes: []cast{{who: "eve", groups: "sales", deny: true, want: approve.ErrNotApprover}},
			state: approve.Open, missing: 2,
		},
		"approved and denied": {
			needs: ops, votes: []cast{{who: "eve", groups: "ops"}, {who: "bob", groups: "ops", deny: true}},
			state: approve.Denied, missing: 1,
		},
		"one of each group": {
			needs: both, votes: []cast{{who: "eve", groups: "ops"}, {who: "bob", groups: "legal"}},
			state: approve.Approved,
		},
		"two of the same group": {
			needs: both, votes: []cast{{who: "eve", groups: "ops"}, {who: "bob", groups: "ops"}},
			state: approve.Open, missing: 1,
		},
		"one who is in both": {
			needs: both, votes: []cast{{who: "eve", groups: "ops legal"}}, state: approve.Approved,
		},
		"the same name elsewhere": {
			needs: ops, votes: []cast{{who: "ann2", groups: "ops"}}, state: approve.Open, missing: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inbox := approve.New(new(store.Memory))
			item := open(t, inbox, question(func(q *approve.Question) { q.Needs, q.Cooldown = tt.needs, tt.cooldown }))
			for _, c := range tt.votes {
				if _, err := inbox.Vote(t.Context(), item.ID, c.vote()); !errors.Is(err, c.want) {
					t.Errorf("%+v: %v", c, err)
				}
			}
			got, err := inbox.Get(t.Context(), item.ID)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Missing()) != min(tt.missing, 1) || tt.missing > 0 && got.Missing()[0].Count != tt.missing ||
				got.State != tt.state {
				t.Errorf("it is %s and lacks %+v; want %s and %d", got.State, got.Missing(), tt.state, tt.missing)
			}
			err = inbox.Use(t.Context(), got, start.Add(time.Minute))
			if (err == nil) != (tt.state == approve.Approved) {
				t.Errorf("using it: %v", err)
			}
		})
	}
}

// REQ-NT-07: who asks over HTTP does not approve the own request at a terminal, whoever issued the token. Elsewhere the
// same subject of another issuer is somebody else.
func TestRequestersAtTerminals(t *testing.T) {
	login := func(name string) identity.Caller { return identity.Caller{Subject: name, Issuer: "stdio"} }
	for name, tt := range map[string]struct {
		by      identity.Caller
		channel string
		deny    bool
		want    error
	}{
		"with the same name":          {login("ann"), approve.Terminal, false, approve.ErrRequester},
		"with the name in capitals":   {login("ANN"), approve.Terminal, false, approve.ErrRequester},
		"with the name in a browser":  {login("Ann"), approve.Console, false, approve.ErrRequester},
		"with another name":           {login("eve"), approve.Terminal, false, nil},
		"with the same name, denying": {login("ann"), approve.Terminal, true, nil},
		"elsewhere, as the same":      {ann, "page", false, approve.ErrRequester},
		"elsewhere, as another":       {identity.Caller{Subject: "ann", Issuer: "other"}, "page", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inbox := approve.New(new(store.Memory))
			item := open(t, inbox, question(func(q *approve.Question) { q.Needs.NotRequester = true }))
			_, err := inbox.Vote(t.Context(), item.ID, approve.Vote{
				By: tt.by, Channel: tt.channel, Approve: !tt.deny, At: start.Add(time.Minute),
			})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// Somebody who has approved at a terminal does not count once more elsewhere, nor the other way round.
func TestOnePersonIsOneVoteOnEveryChannel(t *testing.T) {
	at := func(channel, subject, issuer string) approve.Vote {
		return approve.Vote{
			By: identity.Caller{Subject: subject, Issuer: issuer}, Channel: channel, Approve: true, At: start.Add(time.Minute),
		}
	}
	terminal, page := at(approve.Terminal, "eve", "stdio"), at("page", "eve", "https://login.example")
	for name, tt := range map[string]struct {
		first, second approve.Vote
		want          error
	}{
		"a page after a terminal":   {terminal, page, approve.ErrVoted},
		"a terminal after a page":   {page, terminal, approve.ErrVoted},
		"two pages":                 {page, at("console", "eve", "https://login.example"), approve.ErrVoted},
		"pages of two issuers":      {page, at("page", "eve", "https://other.example"), nil},
		"a terminal, and bob there": {terminal, at(approve.Terminal, "bob", "stdio"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			inbox := approve.New(new(store.Memory))
			item := open(t, inbox, question(func(q *approve.Question) {
				q.Needs = approve.Needs{Factors: []approve.Factor{{Count: 2}}}
			}))
			if _, err := inbox.Vote(t.Context(), item.ID, tt.first); err != nil {
				t.Fatal(err)
			}
			if _, err := inbox.Vote(t.Context(), item.ID, tt.second); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// An item is one for each binding while it waits or its decision counts, and comes back from the store as it was.
func TestItems(t *testing.T) {
	state := &store.Memory{Now: func() time.Time { return start }}
	inbox := approve.New(state)
	q := question(func(q *approve.Question) {
		q.Needs = approve.Needs{Factors: []approve.Factor{{Count: 1, Groups: []string{"ops"}}}, Reason: true}
		q.Reasons, q.Rule, q.Cooldown = []string{"for good"}, "r", time.Second
	})
	item := open(t, inbox, q)
	again, opened, err := inbox.Ask(t.Context(), q)
	if opened || err != nil {
		t.Errorf("asking again: opened %v, %v", opened, err)
	}
	listed, err := inbox.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range append(listed, again) {
		if diff := cmp.Diff(item, other, cmpopts.IgnoreUnexported(approve.Item{})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	c := cast{who: "eve", groups: "ops", reason: "fine", after: 4 * time.Minute}
	if item, err = inbox.Vote(t.Context(), item.ID, c.vote()); err != nil {
		t.Fatal(err)
	}
	if want := start.Add(9 * time.Minute); !item.Expires.Equal(want) {
		t.Errorf("the approval is good until %v, want %v", item.Expires, want)
	}
	if item, err = inbox.Find(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if err := inbox.Use(t.Context(), item, start.Add(9*time.Minute)); !errors.Is(err, approve.ErrNotApproved) {
		t.Errorf("using it too late: %v", err)
	}
	if err := inbox.Use(t.Context(), item, start.Add(8*time.Minute)); err != nil {
		t.Error(err)
	}
	if err := inbox.Use(t.Context(), item, start.Add(8*time.Minute)); !errors.Is(err, approve.ErrNotApproved) {
		t.Errorf("using it twice: %v", err)
	}
	next := open(t, inbox, q)
	if next.ID == item.ID {
		t.Error("the next item has the same ID")
	}
	if _, err := inbox.Get(t.Context(), item.ID); !errors.Is(err, approve.ErrUnknown) {
		t.Errorf("the item before: %v", err)
	}
	q.Caller = identity.Caller{Subject: "bob"}
	if other, err := inbox.Find(t.Context(), q); err != nil || other.ID != "" {
		t.Errorf("of another caller: %+v, %v", other, err)
	}
}

// An approval that was used up can no longer be taken back, and one that was taken back cannot be used.
func TestTakingBackAndUsingExcludeEachOther(t *testing.T) {
	inbox := approve.New(new(store.Memory))
	denial := cast{who: "eve", deny: true}
	for _, usedFirst := range []bool{true, false} {
		item := open(t, inbox, question(func(q *approve.Question) {
			if usedFirst {
				q.Binding[1] = 1
			}
		}))
		approval := cast{who: "eve"}
		item, err := inbox.Vote(t.Context(), item.ID, approval.vote())
		if err != nil {
			t.Fatal(err)
		}
		if usedFirst {
			if err := inbox.Use(t.Context(), item, start); err != nil {
				t.Error(err)
			}
			if _, err := inbox.Vote(t.Context(), item.ID, denial.vote()); !errors.Is(err, approve.ErrDecided) {
				t.Errorf("taking back what was used: %v", err)
			}
			continue
		}
		if _, err := inbox.Vote(t.Context(), item.ID, denial.vote()); err != nil {
			t.Error(err)
		}
		if err := inbox.Use(t.Context(), item, start); !errors.Is(err, approve.ErrNotApproved) {
			t.Errorf("using what was taken back: %v", err)
		}
	}
}

// The clock of who votes may be behind the one of who asked: an approval is good for its whole lifetime.
func TestVotesAreNotEarlierThanTheirItems(t *testing.T) {
	inbox := approve.New(&store.Memory{Now: func() time.Time { return start }})
	item := open(t, inbox, question(nil))
	early := cast{who: "eve", after: -time.Hour}
	item, err := inbox.Vote(t.Context(), item.ID, early.vote())
	if err != nil || !item.Expires.Equal(start.Add(5*time.Minute)) || !item.Votes[0].At.Equal(start) {
		t.Errorf("%+v, %v", item, err)
	}
}

// What is no item, or was written by a later version, is neither decided nor used, hides no others, and is counted.
func TestDamagedItems(t *testing.T) {
	state := new(store.Memory)
	inbox := approve.New(state)
	item := open(t, inbox, question(nil))
	entries, err := state.List(t.Context(), "approve/", "", 10)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	folder := entries[0].Key[:len("approve/")+16+1]
	values := []string{"", "2{}", "1", "1{}", `1{"id":3}`, `{"id":"ask_a"}`}
	whole := string(entries[0].Value)
	for was, is := range map[string]string{
		item.ID:           `ask_ABCDEFGHIJKLMNOPQRSTUVWXY\u001b[2J`,
		"ask_":            "",
		item.ID[4:]:       "ABC",
		item.ID[:5]:       "ask_" + strings.Repeat("A", 60),
		`"open"`:          `"open\u001b[2J"`,
		`"state":"open"`:  `"state":"expired"`,
		`"confirmation"`:  `"\n"`,
		`"opened":"2026-`: `"opened":"26-`,
		`"opened"`:        `"began"`,
		`"expires"`:       `"ends"`,
		`"lifetime":3`:    `"lifetime":-3`,
		`"kind":"confirm`: `"kind":"Confirm`,
		// decided, and nobody has
		`state":"open"`: `state":"approved"`,
		`tate":"open"`:  `tate":"used"`,
		`ate":"open"`:   `ate":"denied"`,
		`te":"open"`:    `te":"approved","votes":[{"approve":true},{"approve":false}]`,
		`e":"open"`:     `e":"denied","votes":[{"approve":true}]`,
		`":"open"`:      `":"approved","needs":{"factors":[{"count":2}]},"votes":[{"approve":true}]`,
	} {
		if !strings.Contains(whole, was) {
			t.Errorf("%s lacks %s", whole, was)
		}
		values = append(values, strings.Replace(whole, was, is, 1))
	}
	for i, value := range values {
		if _, err := state.Put(t.Context(), fmt.Sprint(folder, i), []byte(value), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	items, err := inbox.List(t.Context())
	unreadable, ok := errors.AsType[*approve.UnreadableError](err)
	if !ok || unreadable.Entries != len(values) || len(items) != 1 || items[0].ID != item.ID {
		t.Errorf("%+v, %v", items, err)
	}
	if got, err := inbox.Get(t.Context(), item.ID); err != nil || got.ID != item.ID {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := inbox.Get(t.Context(), "ask_A"); !errors.Is(err, approve.ErrUnknown) || !errors.As(err, &unreadable) {
		t.Errorf("another item: %v", err)
	}
	if _, err := state.Put(t.Context(), entries[0].Key, []byte("1{"), entries[0].Version, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := inbox.Find(t.Context(), question(nil)); err == nil {
		t.Error("a damaged item is found")
	}
	if _, _, err := inbox.Ask(t.Context(), question(nil)); err == nil {
		t.Error("a damaged item is replaced")
	}
}

// Who listens is told of each change.
func TestChanges(t *testing.T) {
	inbox := approve.New(new(store.Memory))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes := inbox.Changes(ctx)
	item := open(t, inbox, question(nil))
	<-changes
	c := cast{who: "eve"}
	if _, err := inbox.Vote(t.Context(), item.ID, c.vote()); err != nil {
		t.Fatal(err)
	}
	<-changes
	if len(changes) > 0 {
		t.Error("it is told twice")
	}
}

// What was decided about the question of an execution stays until that has taken it. Neither the time to decide nor
// another question of the caller ends it.
func TestDecisionsAboutEnquiriesStay(t *testing.T) {
	now := start
	inbox := approve.New(&store.Memory{Now: func() time.Time { return now }})
	enquiry := question(func(q *approve.Question) { q.Kind, q.Execution = approve.Enquiry, "exec_1" })
	item := open(t, inbox, enquiry)
	if _, err := inbox.Vote(t.Context(), item.ID, (&cast{who: "eve", after: time.Minute}).vote()); err != nil {
		t.Fatal(err)
	}
	now = start.Add(200 * time.Hour)
	later := question(func(q *approve.Question) { q.Binding, q.At = approve.Binding{2}, now })
	open(t, inbox, later)
	got, err := inbox.Find(t.Context(), enquiry)
	if err != nil || got.ID != item.ID || got.StateAt(now) != approve.Approved {
		t.Errorf("%+v, %v", got, err)
	}
	denial := cast{who: "bob", deny: true, after: 200 * time.Hour}
	if denied, err := inbox.Vote(t.Context(), item.ID, denial.vote()); err != nil || denied.State != approve.Denied {
		t.Errorf("it was not taken, and can be denied: %+v, %v", denied, err)
	}
}
