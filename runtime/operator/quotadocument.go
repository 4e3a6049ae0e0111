package operator

import (
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/usage"
	"github.com/aqltag/aqltag/runtime/quota"
)

// countsDocument is what operator quotas prints with -json. Names that the protocol has for it are those of the
// protocol (MCP-AQL rate limiting §6).
type countsDocument struct {
	At     time.Time       `json:"at"`
	Quotas []quotaDocument `json:"quotas"`
	Limits []limitDocument `json:"api_limits"`
	Asks   []asksDocument  `json:"asks,omitempty"`   // items that ask to lift a pause
	Unused int             `json:"unused,omitempty"` // callers who have used nothing, and are left out
	Known  []string        `json:"known_from"`       // what has named the callers
	More   bool            `json:"more"`             // there may be callers, known from there, who were not looked at
}

// quotaDocument is a quota, as -json prints it.
type quotaDocument struct {
	Caller    *identity.Caller  `json:"caller,omitempty"` // without a name: of all who have none; absent: it is shared
	Shared    bool              `json:"shared"`           // all callers have this count together
	Metric    quota.Metric      `json:"metric"`
	Current   float64           `json:"current"`
	Warn      float64           `json:"warn,omitempty"`
	Pause     float64           `json:"pause,omitempty"`
	HardStop  float64           `json:"hard_stop,omitempty"`
	Currency  string            `json:"currency,omitempty"`
	Status    string            `json:"status"`               // ok, warn, paused or exhausted
	Lifted    bool              `json:"lifted,omitempty"`     // the pause does not hold up the caller
	LiftedFor []identity.Caller `json:"lifted_for,omitempty"` // of a shared one: whom its pause does not hold up
	ResetsAt  time.Time         `json:"resets_at"`
}

// limitDocument is a limit, as -json prints it.
type limitDocument struct {
	Scope     string       `json:"scope"`
	Limit     int64        `json:"limit"`
	Remaining int64        `json:"remaining"`
	Window    quota.Window `json:"window"`
	ResetsAt  time.Time    `json:"resets_at"`
}

// asksDocument is an item that asks to lift a pause, as -json prints it.
type asksDocument struct {
	Approval string          `json:"approval_id"`
	Caller   identity.Caller `json:"caller"`
}

// document returns what -json prints.
func (c *counts) document(now time.Time) countsDocument {
	document := countsDocument{
		At: now.UTC(), Quotas: []quotaDocument{}, Limits: []limitDocument{}, Unused: c.unused, Known: c.known.sources,
		More: c.More || c.known.cut,
	}
	for i := range c.Rows {
		document.Quotas = append(document.Quotas, quotaDocumentOf(&c.Rows[i]))
	}
	for _, l := range c.Limits {
		document.Limits = append(document.Limits, limitDocument{l.Scope, l.Limit, l.Remaining, l.Window, l.Resets})
	}
	for _, a := range c.asks {
		who := identity.Caller{Subject: a.caller.Subject, Issuer: a.caller.Issuer}
		document.Asks = append(document.Asks, asksDocument{a.item, who})
	}
	return document
}

// quotaDocumentOf returns what -json prints of a quota.
func quotaDocumentOf(r *usage.Row) quotaDocument {
	document := quotaDocument{
		Shared: r.Shared, Metric: r.Metric, Current: r.Used.Used, Warn: r.Warn, Pause: r.Pause, HardStop: r.HardStop,
		Currency: r.Currency, Status: r.Status, Lifted: r.Lifted, LiftedFor: r.LiftedFor, ResetsAt: r.Resets,
	}
	if !r.Shared {
		document.Caller = &r.Caller
	}
	return document
}
