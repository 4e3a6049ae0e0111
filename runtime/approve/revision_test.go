package approve_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// F61: a vote counts for the item that its person has seen, and for no later form of it.
func TestVotesAreAboutWhatWasSeen(t *testing.T) {
	opened := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	inbox := approve.New(new(store.Memory))
	item, _, err := inbox.Ask(t.Context(), approve.Question{
		Kind: approve.Confirmation, Adapter: "notes", Operation: "delete_note", Danger: gen.Destructive,
		Caller: identity.Caller{Subject: "ann", Issuer: "stdio"}, At: opened, Lifetime: time.Hour,
		Needs: approve.Needs{Factors: []approve.Factor{{Count: 3}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	vote := func(who, revision string, approves bool) error {
		_, err := inbox.Vote(t.Context(), item.ID, approve.Vote{
			By: identity.Caller{Subject: who, Issuer: "stdio"}, Channel: approve.Console, Approve: approves,
			Revision: revision, At: opened.Add(time.Minute),
		})
		return err
	}
	read, err := inbox.Get(t.Context(), item.ID)
	if err != nil {
		t.Fatal(err)
	}
	seen := read.Revision()
	if err := vote("eve", seen, true); err != nil {
		t.Errorf("the vote about what was seen: %v", err)
	}
	for _, approves := range []bool{true, false} {
		if err := vote("bob", seen, approves); !errors.Is(err, approve.ErrChanged) {
			t.Errorf("a vote (approve: %t) about what was before: %v", approves, err)
		}
	}
	if err := vote("bob", "", true); err != nil {
		t.Errorf("a vote about whatever there is: %v", err)
	}
}

// A challenge that is replaced while a person reads does not make the item another one, and anything else does.
func TestRevisions(t *testing.T) {
	base := approve.Item{ID: "ask_x", Kind: approve.Block, Message: "May it go on?", Challenge: "a"}
	for name, tt := range map[string]struct {
		change func(*approve.Item)
		same   bool
	}{
		"another challenge":  {func(i *approve.Item) { i.Challenge = "b" }, true},
		"another end":        {func(i *approve.Item) { i.Expires = time.Unix(1, 0) }, true},
		"another message":    {func(i *approve.Item) { i.Message = "May it stop?" }, false},
		"another parameter":  {func(i *approve.Item) { i.Params = `{"a":1}` }, false},
		"a vote":             {func(i *approve.Item) { i.Votes = []approve.Vote{{Approve: true}} }, false},
		"another state":      {func(i *approve.Item) { i.State = approve.Denied }, false},
		"other needs":        {func(i *approve.Item) { i.Needs.Reason = true }, false},
		"another typed text": {func(i *approve.Item) { i.Typing.Param = "id" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := base
			tt.change(&other)
			if same := other.Revision() == base.Revision(); same != tt.same {
				t.Errorf("the revision is the same: %t", same)
			}
		})
	}
}
