package approve_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
)

// Whoever decides can read all parameters, also of an item that shows parts of them, until it has expired.
func TestWhole(t *testing.T) {
	object := func(size int) string { return `{"id":"n1","text":"` + strings.Repeat("x", size-21) + `"}` }
	short := `{"a":"` + strings.Repeat("x", 300) + `","b":"` + strings.Repeat("y", 300) + `", "\u0063":1}`
	for name, tt := range map[string]struct {
		params string
		whole  int // that the item says
		later  time.Duration
		err    error
	}{
		"nothing is left out":             {`{"id":"n1"}`, 0, 0, nil},
		"many short ones are all shown":   {short, 0, 0, nil},
		"a value is left out":             {object(70_000), 70_000, 0, nil},
		"a parameter is left out":         {`{"a":1` + strings.Repeat(`,"b":2`, 200) + `}`, 1207, 0, nil},
		"what cannot be read is left out": {`{"a":"` + strings.Repeat("x", 600), 606, 0, nil},
		"the most that is kept":           {object(128 << 10), 128 << 10, 0, nil},
		"more than is kept":               {object(128<<10 + 1), 128<<10 + 1, 0, approve.ErrNotKept},
		"it is approved":                  {object(70_000), 70_000, 9 * time.Minute, nil},
		"it has expired":                  {object(70_000), 70_000, 10 * time.Minute, approve.ErrNotKept},
	} {
		t.Run(name, func(t *testing.T) {
			now := start
			inbox := approve.New(&store.Memory{Now: func() time.Time { return now }})
			open(t, inbox, question(func(q *approve.Question) { q.Params = tt.params }))
			now = start.Add(tt.later)
			items, err := inbox.List(t.Context())
			if err != nil || len(items) != 1 || items[0].Whole != tt.whole {
				t.Fatalf("%+v, %v", items, err)
			}
			want := tt.params
			if tt.whole == 0 {
				want = items[0].Params
			}
			got, err := inbox.Whole(t.Context(), items[0])
			if !errors.Is(err, tt.err) || err == nil && got != want {
				t.Errorf("got %d bytes, %v; want %d bytes, %v", len(got), err, len(want), tt.err)
			}
		})
	}
}

// What an execution has asked leaves nothing behind when it has ended, nor does what is removed.
func TestWholeIsForgotten(t *testing.T) {
	long := `{"text":"` + strings.Repeat("x", 1000) + `"}`
	enquiry := question(func(q *approve.Question) {
		q.Kind, q.Execution, q.Params = approve.Enquiry, "exec_1", long
	})
	for name, forget := range map[string]func(approve.Inbox, approve.Item) error{
		"withdrawn": func(inbox approve.Inbox, _ approve.Item) error { return inbox.Withdraw(t.Context(), enquiry) },
		"removed":   func(inbox approve.Inbox, item approve.Item) error { return inbox.Remove(t.Context(), item) },
	} {
		state := &store.Memory{Now: func() time.Time { return start }}
		inbox := approve.New(state)
		item := open(t, inbox, enquiry)
		if before, err := state.List(t.Context(), "approve-whole/", "", 2); err != nil || len(before) != 1 {
			t.Fatalf("%d entries, %v", len(before), err)
		}
		if err := forget(inbox, item); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if left, err := state.List(t.Context(), "", "", 2); err != nil || len(left) > 0 {
			t.Errorf("%s: %d entries are left, %v", name, len(left), err)
		}
	}
}
