// Package identity says who calls. An identity comes from the transport, which has verified it: a bearer token's claims, or
// the owner of the process at the other end of a pipe. Nothing that a request says about itself is ever part of it
// (MCP-AQL core §2.3.5).
package identity

import (
	"os"
	"os/user"
	"strconv"
)

// Caller is who calls. The zero value is an anonymous caller.
type Caller struct {
	// Subject is the caller's name with its issuer. Empty: anonymous.
	Subject string
	// Issuer is who vouches for the subject: that of a token, or "stdio" for the owner of a process.
	Issuer string
	// Scopes is what the issuer lets the caller do, for policies to go by.
	Scopes []string
}

// Anonymous reports whether nothing is known about the caller.
func (c Caller) Anonymous() bool { return c.Subject == "" }

// Key is a text that no other caller has: what a caller's tokens and counters are kept by.
func (c Caller) Key() string {
	if c.Anonymous() {
		return "anonymous"
	}
	return strconv.Quote(c.Issuer) + strconv.Quote(c.Subject)
}

// stdio is the issuer of process owners.
const stdio = "stdio"

// Owner is the owner of this process, who is also the caller on stdio: only they could have started it there.
func Owner() Caller {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return Caller{Subject: u.Username, Issuer: stdio}
	}
	return Caller{Subject: "uid:" + strconv.Itoa(os.Getuid()), Issuer: stdio}
}
