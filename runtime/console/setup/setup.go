// Package setup has the options of a console (package console), apart from what serves it: a program that could have a
// console, and has none, links nothing of it.
package setup

import (
	"context"
	"log/slog"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
)

// Options configures a console. Name and Store are required, and for console.New also Hosts.
type Options struct {
	// Name is the adapter's, for people.
	Name string
	// Store has what waits, the passphrases of people, and the sessions of the console. It is the one of the adapter, and
	// opens what that has sealed.
	Store store.Store
	// Audit has records of votes; nil: there are none.
	Audit *audit.Log
	// Quotas are those of the adapter, which is an *aql.Adapter; nil: the console has no page of them.
	Quotas Quotas
	// Policy is what decides about calls, which is an *aql.Adapter; nil: the console has no page of it. Reloaded returns
	// what became of reading its file again; nil: it has none that is followed.
	Policy   Policy
	Reloaded func() Reload
	// AuditFile is the path of the file that Audit writes, and AuditKey the key of its chain; without a file the console
	// has no page of records.
	AuditFile string
	AuditKey  []byte
	// Executions are those of the adapter, which is an *aql.Adapter; nil: the console has no pages of them.
	Executions Executions
	// Agents says that the adapter has a safety loop, whose agents are among the executions.
	Agents bool
	// Hosts are the names, with ports, by which browsers reach the console: what may stand in Host. Under any other name
	// nothing is shown, so that no page of another site gets it by rebinding its own name (DNS rebinding). Empty, for
	// console.Serve: the address that it listens on, and not localhost, which may lead to another one.
	Hosts []string
	// Secure says that browsers reach it by HTTPS only. Without it, all hosts must be names of this machine.
	Secure bool
	// Certificate and Key are files, in PEM, with which console.Serve speaks HTTPS at an address that other machines may
	// reach, too; empty: it speaks HTTP. Secure is then set, and Hosts are the names that the certificate proves, unless
	// they are given. The files are read again when they change.
	Certificate, Key string
	// AllowRemote lets console.Serve listen, by HTTP, where other machines reach it: for a proxy before it that speaks
	// HTTPS, and nobody else. It takes Secure and Hosts.
	AllowRemote bool
	// Path is where the console is mounted, such as /console; empty: at the root.
	Path string
	// Groups returns the groups of a person, which some items need; nil: nobody is in one.
	Groups func(ctx context.Context, who identity.Caller) ([]string, error)
	// Login is another way to log in, beside passphrases; nil: there is none.
	Login Login
	// Passkeys lets people with a passphrase log in with passkeys, too, and sign with them what takes a passphrase once
	// more. Browsers have them for names, and not for IP addresses; the console offers them for those of Hosts that are
	// localhost or names with a dot, where Secure is set. Nil: there are none.
	Passkeys Passkeys
	// ReauthenticateFrom is the danger level from which on an approval takes the passphrase once more; empty:
	// gen.Dangerous. With gen.Safe all approvals do. To let an agent go on that is held, or to see a code, takes it in any
	// case.
	ReauthenticateFrom gen.Danger
	// Observe is called once, with hooks that record the calls of the adapter in memory for the page of calls: it joins
	// them to those of the adapter (observe.Join). Nil: the console has no such page.
	Observe func(*observe.Hooks)
	// Caller returns who sends the request of a context, for that page: aql.CallerOf. Nil: nobody is named.
	Caller func(context.Context) identity.Caller
	// Health looks at how the adapter is, for the page of health; nil: the console has no such page.
	Health func(context.Context) Health
	// Logger gets failures, and who logs in; nil: slog.Default.
	Logger *slog.Logger
	// Now is the clock, whose location is that of the times on pages; nil: time.Now.
	Now func() time.Time
}
