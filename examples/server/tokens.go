package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/mcpserver"
)

// issuer is who has given the tokens to their owners, as records and policies name it.
const issuer = "todo"

// tokens are the callers who have a bearer token, by its SHA-256. The tokens themselves are nowhere.
type tokens map[[sha256.Size]byte]aql.Caller

// readTokens reads a file with a line for each token: the SHA-256 in hexadecimal, whose it is, and the scopes that it
// has. Blank lines, and those that begin with #, say nothing.
func readTokens(path string) (tokens, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	known, err := parseTokens(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return known, nil
}

func parseTokens(r io.Reader) (tokens, error) {
	known := make(tokens)
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		sum, err := hex.DecodeString(words[0])
		if err != nil || len(sum) != sha256.Size { // the error would quote what may be a token
			return nil, fmt.Errorf("line %d: it does not begin with a SHA-256 of 64 hexadecimal digits", number)
		}
		if len(words) == 1 {
			return nil, fmt.Errorf("line %d: it does not say whose token this is", number)
		}
		if _, twice := known[[sha256.Size]byte(sum)]; twice {
			return nil, fmt.Errorf("line %d: the token is in the file twice", number)
		}
		known[[sha256.Size]byte(sum)] = aql.Caller{Subject: words[1], Issuer: issuer, Scopes: words[2:]}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, errors.New("it has no token, so nobody could sign in")
	}
	return known, nil
}

// verify returns the owner of a token. A token is good until the program starts with a file that lacks it.
func (t tokens) verify(_ context.Context, token string) (aql.Caller, time.Time, error) {
	caller, ok := t[sha256.Sum256([]byte(token))]
	if !ok {
		return aql.Caller{}, time.Time{}, mcpserver.ErrInvalidToken
	}
	return caller, time.Now().Add(time.Hour), nil
}
