// Package ntfy tells people on their phones and desktops, through a server of ntfy (https://ntfy.sh), the public one or
// one of your own: it publishes each notice to a topic, as JSON (https://docs.ntfy.sh/publish/#publish-as-json). Who
// knows a topic of the public server can read it, and write to it, so let the topic be hard to guess, or protect it and
// give the token of who may publish.
package ntfy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/internal/post"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Driver opens topics for the flag -notify ntfy=URL, with the token of -notify-key ntfy=FILE.
func Driver() notify.Driver { return notify.Driver{Name: "ntfy", Open: New} }

// The priorities of messages, of which 3 is the usual one and 5 the highest.
const (
	usual   = 3
	raised  = 4
	highest = 5
)

// longest bounds the text of a message, in bytes: the server makes a file of a longer one than 4,096.
const longest = 3500

// topic is a channel.
type topic struct {
	to          *post.Address
	name, token string
}

// message is what the server publishes.
type message struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Tags     []string `json:"tags"`
	Click    string   `json:"click,omitempty"`
}

// New returns the channel to a topic, such as https://ntfy.sh/mytopic. The first key is the token of who may publish
// there; none: everybody may.
func New(location string, keys [][]byte) (notify.Channel, error) {
	to, err := post.Open(location)
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(to.Path(), "/")
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || path[slash+1:] == "" {
		return nil, errors.New("its address has no topic, as https://ntfy.sh/mytopic has")
	}
	if to.HasQuery() {
		return nil, errors.New("its address has a query, which would not be sent: give a token in a file " +
			"(-notify-key ntfy=FILE)")
	}
	t := &topic{to: to.At(path[:slash+1]), name: path[slash+1:]}
	if len(keys) > 1 {
		return nil, errors.New("it has more than one token")
	}
	for _, key := range keys {
		t.token = string(key)
	}
	for _, r := range t.token {
		if r <= ' ' || r > '~' {
			return nil, errors.New("its token has characters that no token has")
		}
	}
	return t, nil
}

// Name does not have the topic, which may be as good as a password.
func (t *topic) Name() string { return "ntfy " + t.to.Host() }

// Strength is that of another device: who publishes with a token need not be able to read.
func (t *topic) Strength() verify.Strength {
	if t.to.Local() {
		return verify.SameUser
	}
	return verify.OtherDevice
}

func (t *topic) Tell(ctx context.Context, n notify.Notice) error {
	m := message{
		Topic: t.name, Title: n.Title(), Message: clip(n.Text()), Priority: usual, Tags: []string{"raised_hand"},
		Click: n.Link,
	}
	for i := range n.Items {
		if n.Items[i].Soon {
			m.Priority = raised
		}
	}
	if n.Urgent() {
		m.Priority, m.Tags = highest, []string{"no_entry"}
	}
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a notice: %w", err)
	}
	header := make(map[string]string)
	if t.token != "" {
		header["Authorization"] = "Bearer " + t.token
	}
	return t.to.Send(ctx, body, header)
}

// clip returns a text, and of a longer one the beginning.
func clip(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
