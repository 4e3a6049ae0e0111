package verify

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"unicode"
)

const (
	// alphabet has the digits of Crockford's base32, without I, L, O and U.
	alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// symbols is the length of a code: 130 bits (MCP-AQL core §8.8.2 demands 128).
	symbols = 26
	// group is how many symbols a person sees together.
	group = 5
	// longestTyped bounds what is read as a code, in bytes.
	longestTyped = 256
)

// Code is what a person passes on to an agent to prove that somebody has looked. Package fmt and loggers print it as
// ***: only Text returns it.
type Code struct{ symbols [symbols]byte }

// newCode draws a code.
func newCode() Code {
	var c Code
	rand.Read(c.symbols[:]) // never fails (crypto/rand)
	for i := range c.symbols {
		c.symbols[i] = alphabet[c.symbols[i]%32]
	}
	return c
}

// Text returns the code for a person, such as 7K2PQ-M9XAT-4WRNE-HB6CD-V8FYG-3.
func (c Code) Text() string {
	var text strings.Builder
	for i, symbol := range c.symbols {
		if i > 0 && i%group == 0 {
			text.WriteByte('-')
		}
		text.WriteByte(symbol)
	}
	return text.String()
}

// Format implements fmt.Formatter: a code that is printed by accident is not seen.
func (Code) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "***") }

// readCode reads what somebody has typed. Case, spaces and dashes do not matter, and I and L are read as 1, O as 0.
func readCode(typed string) (c Code, ok bool) {
	if len(typed) > longestTyped {
		return Code{}, false
	}
	n := 0
	for _, r := range typed {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Pd, r):
			continue
		case r == 'I' || r == 'i' || r == 'L' || r == 'l':
			r = '1'
		case r == 'O' || r == 'o':
			r = '0'
		case 'a' <= r && r <= 'z':
			r += 'A' - 'a'
		}
		if n == symbols || !strings.ContainsRune(alphabet, r) {
			return Code{}, false
		}
		c.symbols[n] = byte(r)
		n++
	}
	return c, n == symbols
}

// digest is what the store has of a code.
func digest(id ID, c Code) [sha256.Size]byte { return sha256.Sum256(append(id[:], c.symbols[:]...)) }
