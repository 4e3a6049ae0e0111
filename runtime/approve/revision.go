package approve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Revision identifies what a person decides about: all that the item says, its votes and its state. A vote with it does
// not count for an item that says something else. The challenge of what holds an agent is no part of it, nor is until
// when it can be passed: both are replaced while the person reads.
func (i *Item) Revision() string {
	said := *i
	said.Challenge, said.Expires = "", time.Time{}
	text, err := json.Marshal(said)
	if err != nil { // a time or a text that no store has
		return "none"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
