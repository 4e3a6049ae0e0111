package verify

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
)

// ID identifies a challenge: a UUID of version 4 (RFC 9562 §5.4). The zero value identifies none. Whatever takes an id
// from a text calls ParseID, which reads all that String writes.
type ID [16]byte

var errNoID = errors.New("not the id of a challenge")

// NewID returns a new id, of 122 random bits.
func NewID() ID {
	var id ID
	rand.Read(id[:]) // never fails (crypto/rand)
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ParseID reads an id of 36 characters, in small or capital letters, with space around it or not.
func ParseID(text string) (ID, error) {
	text = strings.TrimSpace(text)
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return ID{}, errNoID
	}
	var id ID
	digits := text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	if n, err := hex.Decode(id[:], []byte(digits)); err != nil || n != len(id) || id[6]>>4 != 4 || id[8]>>6 != 2 {
		return ID{}, errNoID
	}
	return id, nil
}

// String returns the id in its usual form, such as 0b8f3a52-6d0e-4c1e-9a57-3f6f1c1f5d11; empty: it identifies none.
func (id ID) String() string {
	if id.IsZero() {
		return ""
	}
	text := hex.EncodeToString(id[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// IsZero reports whether the id identifies no challenge.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText writes what String returns.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (id *ID) UnmarshalText(text []byte) (err error) {
	if *id = (ID{}); len(text) > 0 {
		*id, err = ParseID(string(text))
	}
	return err
}
