package usage

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostNamed bounds the callers whom a state names.
const mostNamed = 3

// Whose returns whose count it is, for people to read.
func (r *Row) Whose() string {
	if r.Shared {
		return "all callers together"
	}
	return name(r.Caller)
}

// name returns a caller for people to read. Those without a name have one count.
func name(c identity.Caller) string {
	if c.Anonymous() {
		return "all callers without a name"
	}
	return desk.Name(c)
}

// Counts returns what is counted, for people to read.
func (r *Row) Counts() string { return strings.ReplaceAll(words.Printable(string(r.Metric)), "_", " ") }

// State returns how the quota stands, for people to read.
func (r *Row) State() string {
	switch {
	case r.Lifted:
		return "pause lifted"
	case len(r.LiftedFor) > 0:
		return words.Printable(r.Status) + ", lifted for " + names(r.LiftedFor)
	}
	return words.Printable(r.Status)
}

// names returns callers for people to read, the first few of them.
func names(callers []identity.Caller) string {
	var parts []string
	for _, c := range callers[:min(len(callers), mostNamed)] {
		parts = append(parts, name(c))
	}
	if more := len(callers) - mostNamed; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// Amount returns a number of requests, tokens or money of the quota.
func (r *Row) Amount(n float64) string {
	if r.Currency != "" {
		return strconv.FormatFloat(n, 'f', 2, 64) + " " + words.Printable(r.Currency)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// Step returns a step of the quota; empty: it is off.
func (r *Row) Step(n float64) string {
	if n == 0 {
		return ""
	}
	return r.Amount(n)
}
