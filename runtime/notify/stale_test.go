package notify

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
)

// An item that is missing from a list may be one that another process has seen already: people were told of it for some
// time still.
func TestWhatIsMissingIsForgottenLater(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	record := &told{Items: map[string]telling{"ask_A": {Times: 1}}}
	see := func(after time.Duration, waiting ...string) {
		n := news{waiting: make(map[string]bool)}
		for _, id := range waiting {
			n.waiting[id] = true
		}
		record.Items = record.with(&n, at.Add(after))
	}
	for _, step := range []struct {
		after   time.Duration
		waiting []string
		want    map[string]telling
	}{
		{0, nil, map[string]telling{"ask_A": {Times: 1, Left: 1_000_000}}},
		{9 * time.Minute, nil, map[string]telling{"ask_A": {Times: 1, Left: 1_000_000}}},
		{9 * time.Minute, []string{"ask_A"}, map[string]telling{"ask_A": {Times: 1}}},
		{11 * time.Minute, nil, map[string]telling{"ask_A": {Times: 1, Left: 1_000_660}}},
		{20 * time.Minute, nil, map[string]telling{"ask_A": {Times: 1, Left: 1_000_660}}},
		{22 * time.Minute, nil, map[string]telling{}},
	} {
		see(step.after, step.waiting...)
		if diff := cmp.Diff(step.want, record.Items); diff != "" {
			t.Errorf("after %v people were told (-want +got):\n%s", step.after, diff)
		}
	}
}

// stub is an inbox with one item.
type stub struct {
	approve.Inbox
	item approve.Item
}

func (s stub) Get(context.Context, string) (approve.Item, error) { return s.item, nil }

// A block that is missing from a list, and is in force, was not lifted.
func TestBlocksThatAreInForceAreNotLifted(t *testing.T) {
	record := &told{Items: map[string]telling{"ask_A": {Times: 1, Agent: "bot", Caller: identity.Caller{Subject: "ann"}}}}
	for state, want := range map[approve.State]int{approve.Open: 0, approve.Used: 1} {
		got, err := lifted(t.Context(), stub{item: approve.Item{ID: "ask_A", State: state}}, &news{}, record)
		if err != nil || len(got) != want {
			t.Errorf("a block that is %s: %v, %v", state, got, err)
		}
	}
}

// However much waits, people are told of a block that comes last.
func TestBlocksAreNotCrowdedOut(t *testing.T) {
	o := Options{Adapter: "notes"}
	items := make([]approve.Item, mostWaiting+1)
	for i := range items {
		items[i] = approve.Item{Adapter: "notes", Kind: approve.Confirmation, State: approve.Open}
	}
	items[mostWaiting].ID, items[mostWaiting].Kind = "ask_A", approve.Block
	waiting := o.waiting(items, time.Unix(1_000_000, 0))
	if len(waiting) != mostWaiting || waiting[0].ID != "ask_A" {
		t.Errorf("%d items wait, and the first is %q", len(waiting), waiting[0].ID)
	}
}
