package approve_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
)

// An item is got by its own ID, also where others say that ID, and whatever its entry looks like.
func TestItemsAreGotByTheirOwnID(t *testing.T) {
	state := new(store.Memory)
	inbox := approve.New(state)
	first := open(t, inbox, question(nil))
	for i := range 20 { // of which some are listed before it
		open(t, inbox, question(func(q *approve.Question) {
			q.Binding, q.Params = approve.Binding{2, byte(i)}, `{"id":"`+first.ID+`"}`
		}))
	}
	check := func() {
		t.Helper()
		if got, err := inbox.Get(t.Context(), first.ID); err != nil || got.ID != first.ID || got.Params != first.Params {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	check()
	entries, err := state.List(t.Context(), "approve/", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries { // another program writes JSON in another way
		escaped := []byte{'1'}
		var fields map[string]any
		if err := json.Unmarshal(entry.Value[1:], &fields); err != nil {
			t.Fatal(err)
		}
		if fields["id"] != first.ID {
			continue
		}
		delete(fields, "id")
		rest, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		escaped = append(escaped, `{"id":"\u0061`+first.ID[1:]+`",`...)
		escaped = append(escaped, rest[1:]...)
		if _, err := state.Put(t.Context(), entry.Key, escaped, entry.Version, 0); err != nil {
			t.Fatal(err)
		}
	}
	check()
}

// Scan visits what List lists, and entries that cannot be read, until it is told to stop.
func TestScan(t *testing.T) {
	state := new(store.Memory)
	inbox := approve.New(state)
	for i := range 1200 { // on several pages of the store
		open(t, inbox, question(func(q *approve.Question) {
			q.Binding, q.Caller.Subject = approve.Binding{byte(i), byte(i >> 8)}, string(rune('a'+i/100))
		}))
	}
	if _, err := state.Put(t.Context(), "approve/x", []byte("?"), 0, 0); err != nil {
		t.Fatal(err)
	}
	want, err := inbox.List(t.Context())
	if len(want) != 1200 || err == nil {
		t.Fatal(len(want), err)
	}
	var got []approve.Item
	unread := 0
	err = inbox.Scan(t.Context(), func(entry store.Entry, item func() (approve.Item, error)) bool {
		one, err := item()
		if err != nil {
			unread++
			return true
		}
		got = append(got, one)
		return true
	})
	byID := cmpopts.SortSlices(func(x, y approve.Item) bool { return x.ID < y.ID })
	diff := cmp.Diff(want, got, byID, cmpopts.IgnoreUnexported(approve.Item{}))
	if diff != "" || unread != 1 || err != nil {
		t.Errorf("%d cannot be read, %v: %s", unread, err, diff)
	}
	visited := 0
	err = inbox.Scan(t.Context(), func(store.Entry, func() (approve.Item, error)) bool {
		visited++
		return visited < 600
	})
	if visited != 600 || err != nil {
		t.Errorf("%d entries are visited, %v", visited, err)
	}
}
