package verify_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// REQ-OV-11: a box is not made where agents could read what people are shown, unless that is accepted in writing. The
// error says what to do.
func TestChannelsAreStrongEnough(t *testing.T) {
	webhook := verify.Channel{Name: "webhook", Strength: verify.OtherDevice}
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
		"a console of another user": {
			minimum: verify.OtherUser, channels: []verify.Channel{same, verify.Console(verify.OtherUser)},
		},
		"it is accepted": {minimum: verify.SameUser, channels: []verify.Channel{same}},
		"a channel that shows none": {
			minimum: verify.SameUser, channels: []verify.Channel{webhook}, want: "let people decide",
		},
		"one that shows none and one that does": {minimum: verify.OtherUser, channels: []verify.Channel{webhook, other}},
		"a strength that there is not":          {minimum: 7, want: "Strength(7)"},
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
