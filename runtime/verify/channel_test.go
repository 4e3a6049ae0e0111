package verify_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// REQ-OV-11: a box is not made where agents could read what people are shown, unless that is accepted in writing. The
// error says what to do.
func TestChannelsAreStrongEnough(t *testing.T) {
	tell := func(context.Context, approve.Item) error { return nil }
	webhook := verify.Channel{Name: "webhook", Strength: verify.OtherDevice, Tell: tell}
	same, other := verify.Terminal(verify.SameUser), verify.Terminal(verify.OtherUser)
	for name, tt := range map[string]struct {
		minimum  verify.Strength
		channels []verify.Channel
		want     string // in the error; empty: there is none
	}{
		"a program for people": {},
		"no channel":           {minimum: verify.SameUser, want: "let people decide at a terminal"},
		"a terminal of the same user": {
			minimum: verify.OtherUser, channels: []verify.Channel{same}, want: "only at same_user",
		},
		"what to accept is said": {
			minimum: verify.OtherDevice, channels: []verify.Channel{other}, want: "(challenge.channel: other_user)",
		},
		"a terminal of another user": {minimum: verify.OtherUser, channels: []verify.Channel{other}},
		"it is accepted":             {minimum: verify.SameUser, channels: []verify.Channel{same}},
		"a channel that only tells": {
			minimum: verify.SameUser, channels: []verify.Channel{webhook}, want: "let people decide",
		},
		"one that tells and one that shows": {minimum: verify.OtherUser, channels: []verify.Channel{webhook, other}},
		"a strength that there is not":      {minimum: 7, want: "Strength(7)"},
	} {
		_, err := verify.New(verify.Options{Store: new(store.Memory), Channels: tt.channels, Minimum: tt.minimum})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestStrengths(t *testing.T) {
	for s := verify.SameUser; s <= verify.OtherDevice; s++ {
		if got, err := verify.ParseStrength(s.String()); got != s || err != nil {
			t.Errorf("%v is read as %v, %v", s, got, err)
		}
	}
	for _, text := range []string{"", "none", "Same_User", "other"} {
		if got, err := verify.ParseStrength(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// People are told that an agent is held, and that it was let go by people, on every channel, and an agent does not wait
// for that.
func TestPeopleAreTold(t *testing.T) {
	var mu sync.Mutex
	var told []string
	slow := func(ctx context.Context, item approve.Item) error {
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		told = append(told, string(item.Kind)+" "+string(item.State))
		return errors.New("nobody is there")
	}
	isolated(t, func(o *verify.Options) {
		o.Channels = []verify.Channel{{Name: "bell", Tell: slow}, verify.Terminal(verify.SameUser)}
	}, func(f fixture) {
		before := time.Now()
		id := f.open(block)
		f.open(block)
		if waited := time.Since(before); waited != 0 {
			t.Errorf("the agent waits for %v", waited)
		}
		time.Sleep(2 * time.Second)
		if _, err := f.Inbox(approve.New(f.state)).Vote(f.Context(), f.show(id.String()).Item.ID, approve.Vote{
			By: eve, Approve: true, Reason: "fine", At: time.Now(),
		}); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(told, ", "); got != "block open, block used" {
			t.Errorf("people are told: %s", got)
		}
	})
}
