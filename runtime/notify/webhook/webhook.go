// Package webhook tells people through a program of theirs: it posts each notice as JSON to an address, signed so that
// the receiver knows where it comes from. The signature is that of the Standard Webhooks specification
// (https://www.standardwebhooks.com), for which there are verifiers in many languages:
//
//	webhook-id         identifies the notice; the same when it is sent again
//	webhook-timestamp  when it was signed, in Unix seconds
//	webhook-signature  v1, and the base64 of HMAC-SHA256 over "id.timestamp.body"; one for each key, with blanks between
//
// A receiver refuses a notice whose timestamp is minutes away from its clock, or none of whose signatures is right.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/internal/post"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Driver opens webhooks for the flag -notify webhook=URL, with the keys of -notify-key webhook=FILE.
func Driver() notify.Driver { return notify.Driver{Name: "webhook", Open: New} }

// leastKey is the least length of a key, in bytes.
const leastKey = 24

// secret begins a key that is written in base64, as the specification does.
const secret = "whsec_"

// hook is a channel.
type hook struct {
	to   *post.Address
	keys [][]byte
	now  func() time.Time
}

// New returns the channel to a URL: https, or http on this machine. Each notice is signed with every key, so that a
// receiver can have either while one replaces the other. A key is whsec_ and base64, or its bytes as they are.
func New(location string, keys [][]byte) (notify.Channel, error) {
	to, err := post.Open(location)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, errors.New("it needs a key to sign with, in a file: -notify-key webhook=FILE")
	}
	h := &hook{to: to, now: time.Now}
	for _, key := range keys {
		if text, ok := strings.CutPrefix(string(key), secret); ok {
			if key, err = base64.StdEncoding.DecodeString(text); err != nil {
				return nil, errors.New("its key begins with whsec_ and is not base64 behind that")
			}
		}
		if len(key) < leastKey {
			return nil, fmt.Errorf("its key has %d bytes: it needs %d random ones, better 32", len(key), leastKey)
		}
		h.keys = append(h.keys, key)
	}
	return h, nil
}

func (h *hook) Name() string { return "webhook " + h.to.Host() }

// Strength is that of another device: what sends notices does not read what has become of them.
func (h *hook) Strength() verify.Strength {
	if h.to.Local() {
		return verify.SameUser
	}
	return verify.OtherDevice
}

func (h *hook) Tell(ctx context.Context, n notify.Notice) error {
	body, err := json.Marshal(newMessage(&n))
	if err != nil {
		return fmt.Errorf("encoding a notice: %w", err)
	}
	timestamp := strconv.FormatInt(h.now().Unix(), 10)
	return h.to.Send(ctx, body, map[string]string{
		"webhook-id": n.ID, "webhook-timestamp": timestamp, "webhook-signature": h.signatures(n.ID, timestamp, body),
	})
}

// signatures returns the header webhook-signature.
func (h *hook) signatures(id, timestamp string, body []byte) string {
	all := make([]string, len(h.keys))
	for i, key := range h.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		all[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(all, " ")
}
