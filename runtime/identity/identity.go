// Package identity identifies callers. An identity comes from the transport, which has verified it: from the claims of
// a bearer token, or from the owner of the process at the other end of a pipe. It never comes from a request (MCP-AQL
// core §2.3.5).
package identity

import (
	"os"
	"strconv"

	"github.com/aqltag/aqltag/runtime/internal/account"
)

// Caller identifies the caller of an operation. The zero value is an anonymous caller.
type Caller struct {
	// Subject is the caller's name, unique with its issuer; empty: the caller is anonymous.
	Subject string `json:"subject,omitempty"`
	// Issuer is the issuer of the token that names the subject; "stdio" for the owner of a process.
	Issuer string `json:"issuer,omitempty"`
	// Scopes are the scopes that the issuer has granted. Policies may require them.
	Scopes []string `json:"scopes,omitempty"`
}

// Anonymous reports whether the caller is unknown.
func (c Caller) Anonymous() bool { return c.Subject == "" }

// Key returns a text that identifies the caller, such as in the keys of its tokens and counters in a store.
func (c Caller) Key() string {
	if c.Anonymous() {
		return "anonymous"
	}
	return strconv.Quote(c.Issuer) + strconv.Quote(c.Subject)
}

// stdio is the issuer of process owners.
const stdio = "stdio"

// Owner returns the owner of this process, who is the caller on stdio: a client starts the process as its own user. The
// operating system names the owner, and never the environment. Whom it has no name for is uid: and the number.
func Owner() Caller {
	if u, err := account.Current(); err == nil && u.Username != "" {
		return Caller{Subject: u.Username, Issuer: stdio}
	}
	return Caller{Subject: "uid:" + strconv.Itoa(os.Getuid()), Issuer: stdio}
}

// User returns the user of the operating system who has a name, such as Owner returns for a process of that user.
func User(name string) Caller { return Caller{Subject: name, Issuer: stdio} }
